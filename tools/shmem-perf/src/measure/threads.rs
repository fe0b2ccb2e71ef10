//! What puts of several threads cost, with contexts of their own and with one for all.

use std::hint::black_box;
use std::sync::Mutex;

use clap::{Args, FromArgMatches};
use shmem::Context;
use shmem::prelude::*;

use super::put::Row;
use super::{At, Cases, Measure, row};
use crate::baseline::{self, LINES, WORDS_OF_LINE, near};
use crate::bench::print;
use crate::case::{Record, Site};
use crate::check::{Bound, Guard, held_by_two};
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::rounds::Rounds;
use crate::runner::Runner;
use crate::task::{Done, Task};
use crate::{affinity, rounds};

pub(crate) const MEASURE: Measure = Measure {
    name: "threads",
    about: "Puts of 1 to 36 threads, with a context each, with one for all, and with one behind a lock, against as many threads \
            that store",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { sizes } = Options::from_arg_matches(options)?;
        runner.repeat(&of_words(runner))?;
        if sizes { runner.repeat(&of_sizes(runner, &SIZES)) } else { Ok(()) }
    },
    tasks: &[WORDS, BY_SIZE],
    rows: ROWS,
    guards: &[Guard {
        jobs: 1,
        ..Guard::of(
            "threads",
            |runner| runner.repeat(&of_words(runner)),
            || vec![held_by_two("threads 2/private", Bound::Eased(4.0))],
        )
    }],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("threads | threads/contexts | 8-byte puts of 1 to 36 threads, each with a context, all with one, all with one behind \
         a lock for each put; those beyond the cores share cores | volatile stores of as many threads to the same words",
        &[("threads 2/private", At::Apart, Goal::Ratio(1.05))]),
    row("threads-by-size | threads/contexts/bytes | puts of 64 bytes to 64 KiB of as many threads, each to a place of its own \
         | `memcpy` by as many threads into the same places", &[]),
];

const WORDS: Task = Task::own("threads", |_, repetitions| by_threads(&[], repetitions));
const BY_SIZE: Task =
    Task::own("threads-by-size", |given, repetitions| by_threads(&given.sizes, repetitions));

/// Which puts.
#[derive(Args, Clone, Debug, Default)]
struct Options {
    /// Puts of 64 bytes to 64 KiB as well, against memcpy.
    #[arg(long)]
    sizes: bool,
}

/// A job with puts of words.
pub(crate) fn of_words(runner: &Runner) -> Asked {
    runner.job_with_heap(&WORDS, 4 << 20)
}

/// A job with puts of these sizes, in bytes, of at most those of [`SIZES`].
pub(crate) fn of_sizes(runner: &Runner, sizes: &[usize]) -> Asked {
    runner.job_with_heap(&BY_SIZE, 4 << 20).told_all("--sizes", sizes)
}

/// Numbers of threads that are measured. Those beyond the cores take turns on them.
const THREADS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Sizes of puts beyond those of words, in bytes.
pub(crate) const SIZES: [usize; 4] = [64, 512, 4 << 10, 64 << 10];

/// Passes over a row in one sample: some hundred microseconds for one thread.
const PASSES: u64 = if cfg!(debug_assertions) { 20 } else { 8_000 };

/// Puts of a thread in one sample: some hundred microseconds of one thread.
fn puts(bytes: usize) -> u64 {
    let less = if cfg!(debug_assertions) { 400 } else { 1 };
    ((8 << 20) / bytes as u64).clamp(64, 20_000).div_ceil(less)
}

/// What a thread puts through: a context of its own, one of all, or one of all behind a lock for each put.
const SHARINGS: [(&str, &str); 3] = [
    ("private", "puts of threads with a context each"),
    ("multiple", "puts of threads through one context"),
    ("locked", "puts of threads through one context, each behind a lock"),
];

/// One 8-byte put to each line of a thread's row.
#[inline(never)]
fn put_row<I: Stores>(token: &I, row: On<'_, Row>, value: u64) {
    for line in 0..LINES {
        token.p(row.index(line * WORDS_OF_LINE), value);
    }
}

/// One PE of the job: PE 0 has the threads, and writes to the other. Of no sizes they put words.
fn by_threads(sizes: &[usize], repetitions: usize) -> Done {
    let world = &shmem::init::<Multiple>()?;
    let cores = std::thread::available_parallelism()?.get();
    let most = THREADS[THREADS.len() - 1];
    let (_, other) = world.ring_neighbours();
    let rows = world.alloc(zeroed::<Row>(most))?;
    let places = world.alloc(zeroed::<u8>((most * sizes.iter().max().copied().unwrap_or(0)).max(1)))?;
    world.barrier_all();
    let all = THREADS.into_iter().flat_map(|threads| {
        let sizes: Vec<Option<usize>> = sizes.iter().copied().map(Some).collect();
        (if sizes.is_empty() { vec![None] } else { sizes }).into_iter().map(move |bytes| (threads, bytes))
    });
    for (threads, bytes) in all.filter(|_| world.my_pe() == 0) {
        let shared: Context<Multiple> = world.create_ctx()?;
        let locked: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
        for (sharing, what) in SHARINGS {
            let less = if sharing == "locked" { 8 } else { 1 };
            // The objects have a row and a place for each thread on the other PE, which sleeps.
            let samples = match bytes {
                None => rounds::in_turn(threads, (PASSES / less, LINES), repetitions, |number, rounds| {
                    keep(number, threads);
                    let row = rows.on(other).index(number);
                    match sharing {
                        "private" => words(rounds, world, &own(world).bind(world), row),
                        "multiple" => words(rounds, world, &shared.bind(world), row),
                        _ => against_stores(rounds, world, row, |pass| {
                            for line in 0..LINES {
                                let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                                context.bind(world).p(row.index(line * WORDS_OF_LINE), pass);
                            }
                        }),
                    }
                }),
                Some(bytes) => {
                    let puts = (puts(bytes).div_ceil(less), 1);
                    rounds::in_turn(threads, puts, repetitions, |number, rounds| {
                        keep(number, threads);
                        let to = places.on(other).index(number * bytes..(number + 1) * bytes);
                        match sharing {
                            "private" => {
                                let context = own(world);
                                let ctx = context.bind(world);
                                against_copies(rounds, world, to, |source| ctx.put(to, source));
                            }
                            "multiple" => {
                                let ctx = shared.bind(world);
                                against_copies(rounds, world, to, |source| ctx.put(to, source));
                            }
                            _ => against_copies(rounds, world, to, |source| {
                                let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                                context.bind(world).put(to, source);
                            }),
                        }
                    })
                }
            };
            let (name, limit) = match bytes {
                None => {
                    (format!("threads {threads}/{sharing}"), "stores of as many threads to the same words")
                }
                Some(bytes) => (
                    format!("threads-by-size {threads}/{sharing}/{bytes}"),
                    "memcpy by as many threads into the same bytes",
                ),
            };
            let site = Site { shared_cores: threads > cores, ..Site::of(world, cores) };
            print(world, &[Record::new(&site, &name, "ns", &format!("{what}, against {limit}"), samples)])?;
        }
    }
    world.free(rows)?;
    world.free(places)?;
    Ok(())
}

/// Keeps the calling thread on a core, if there are enough for all.
fn keep(number: usize, threads: usize) {
    affinity::take(number, threads).unwrap_or_else(|error| panic!("a thread has no core: {error}"));
}

fn own(world: &World<Multiple>) -> Context<Private> {
    world.create_ctx().unwrap_or_else(|error| panic!("{error}"))
}

fn words<I: Stores>(rounds: &Rounds, world: &World<Multiple>, token: &I, row: On<'_, Row>) {
    against_stores(rounds, world, row, |pass| put_row(token, row, pass));
}

fn against_stores(rounds: &Rounds, world: &World<Multiple>, row: On<'_, Row>, put_row: impl FnMut(u64)) {
    let words: *mut u64 = near(row.ptr(world)).cast();
    // SAFETY: a row has `LINES * WORDS_OF_LINE` words, which nobody else uses while the thread runs.
    rounds.run(put_row, |pass| unsafe { baseline::stores(words, pass) });
}

fn against_copies(rounds: &Rounds, world: &World<Multiple>, to: On<'_, [u8]>, mut put: impl FnMut(&[u8])) {
    let source = vec![1_u8; to.len()];
    let start: *mut u8 = near(to.ptr(world)).cast();
    let copy = |_| {
        let source = black_box(source.as_slice());
        // SAFETY: the thread's place has as many bytes, which nobody else uses while it runs, and the source is private memory.
        unsafe { baseline::memcpy(start, source.as_ptr(), source.len()) };
    };
    rounds.run(|_| put(black_box(&source)), copy);
}
