//! What puts of several threads cost, with contexts of their own and with one for all.

use std::hint::black_box;
use std::sync::Mutex;

use shmem::Context;
use shmem::prelude::*;

use super::put::Row;
use super::*;
use crate::baseline::{LINES, WORDS_OF_LINE};
use crate::rounds::{self, Rounds};

pub(crate) const MEASURE: Measure = Measure {
    name: "threads",
    about: "Puts of 1 to 36 threads, with a context each, with one for all, and with one behind a lock, against as many threads \
            that store",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { sizes, bytes } = Options::from_arg_matches(options)?;
        let of = |runner: &mut Runner, sizes| {
            runner.repeat(&runner.job(&THREADS, 2, Given { sizes, ..Given::default() }).heap(4 << 20))
        };
        of(runner, Vec::new())?;
        if sizes { of(runner, bytes.into_iter().map(|bytes| bytes as usize).collect()) } else { Ok(()) }
    },
    tasks: &[THREADS],
    rows: &[
        "threads ** | threads/contexts | 8-byte puts of 1 to 36 threads, each with a context, all with one, all with one behind \
         a lock for each put; those beyond the cores share cores | volatile stores of as many threads to the same words | \
         2/private apart 1.05",
        "threads-by-size ** | threads/contexts/bytes | puts of 64 bytes to 64 KiB of as many threads, each to a place of its \
         own | `memcpy` by as many threads into the same places",
    ],
    guards: &[("threads --jobs 1", &["threads 2/private | 2 | goal x4"])],
    ..Measure::PLAIN
};

const THREADS: Task = Task::own("threads", by_threads);

/// Which puts.
#[derive(Args, Clone, Debug)]
struct Options {
    /// Larger puts as well, against memcpy.
    #[arg(long)]
    sizes: bool,
    /// Their bytes.
    #[arg(long, requires = "sizes", value_delimiter = ',', default_value = "64,512,4096,65536", value_parser = clap::value_parser!(u32).range(1..=64 << 10))]
    bytes: Vec<u32>,
}

/// Numbers of threads that are measured. Those beyond the cores take turns on them.
const NUMBERS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Passes over a row in one sample: some hundred microseconds for one thread.
const PASSES: u64 = if cfg!(debug_assertions) { 20 } else { 8_000 };

/// Puts of a thread in one sample: some hundred microseconds of one thread.
fn puts(bytes: usize) -> u64 {
    let less = if cfg!(debug_assertions) { 400 } else { 1 };
    ((8 << 20) / bytes as u64).clamp(64, 20_000).div_ceil(less)
}

/// One 8-byte put to each line of a thread's row.
#[inline(never)]
fn put_row<I: Stores>(token: &I, row: On<'_, Row>, value: u64) {
    for line in 0..LINES {
        token.p(row.index(line * WORDS_OF_LINE), value);
    }
}

/// One PE of the job: PE 0 has the threads, and writes to the other. Of no sizes they put words.
fn by_threads(given: &Given) -> Done {
    let world = &shmem::init::<Multiple>()?;
    let bench = Bench::new(world, given, std::thread::available_parallelism()?.get());
    let (most, sizes, other) = (NUMBERS[NUMBERS.len() - 1], &given.sizes, bench.other());
    let rows = world.alloc(zeroed::<Row>(most))?;
    let places = world.alloc(zeroed::<u8>((most * sizes.iter().max().copied().unwrap_or(0)).max(1)))?;
    world.barrier_all();
    for threads in NUMBERS.into_iter().filter(|_| world.my_pe() == 0) {
        let site = Site { shared_cores: threads > bench.cores, ..bench.site.clone() };
        let book = Book::new(site, given);
        let shared: Context<Multiple> = world.create_ctx()?;
        let locked: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
        // What a thread puts through: a context of its own, one of all, or one of all behind a lock for each put.
        for (sharing, less) in [("private", 1), ("multiple", 1), ("locked", 8)] {
            // The objects have a row and a place for each thread on the other PE, which sleeps.
            let name = format!("threads {threads}/{sharing}");
            if sizes.is_empty() && given.wants(&name) {
                let words = |number: usize, rounds: &Rounds| {
                    keep(number, threads);
                    let row = rows.on(other).index(number);
                    match sharing {
                        "private" => {
                            let context = own(world);
                            let token = context.bind(world);
                            against_stores(rounds, world, row, |pass| put_row(&token, row, pass));
                        }
                        "multiple" => {
                            let token = shared.bind(world);
                            against_stores(rounds, world, row, |pass| put_row(&token, row, pass));
                        }
                        _ => against_stores(rounds, world, row, |pass| {
                            for line in 0..LINES {
                                let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                                context.bind(world).p(row.index(line * WORDS_OF_LINE), pass);
                            }
                        }),
                    }
                };
                let samples = rounds::in_turn(threads, (PASSES / less, LINES), given.repetitions, words);
                book.add(name, samples);
            }
            for &bytes in sizes {
                let name = format!("threads-by-size {threads}/{sharing}/{bytes}");
                if !given.wants(&name) {
                    continue;
                }
                let transfers = |number: usize, rounds: &Rounds| {
                    keep(number, threads);
                    let to = places.on(other).index(number * bytes..(number + 1) * bytes);
                    match sharing {
                        "private" => {
                            let context = own(world);
                            let token = context.bind(world);
                            against_copies(rounds, world, to, |source| token.put(to, source));
                        }
                        "multiple" => {
                            let token = shared.bind(world);
                            against_copies(rounds, world, to, |source| token.put(to, source));
                        }
                        _ => against_copies(rounds, world, to, |source| {
                            let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                            context.bind(world).put(to, source);
                        }),
                    }
                };
                let passes = (puts(bytes).div_ceil(less), 1);
                let samples = rounds::in_turn(threads, passes, given.repetitions, transfers);
                book.add(name, samples);
            }
        }
        book.print(0)?;
    }
    world.free(rows)?;
    world.free(places)?;
    Ok(())
}

/// Keeps the calling thread on a core, if there are enough for all.
fn keep(number: usize, threads: usize) {
    take_core(number, threads).unwrap_or_else(|error| panic!("a thread has no core: {error}"));
}

fn own(world: &World<Multiple>) -> Context<Private> {
    world.create_ctx().unwrap_or_else(|error| panic!("{error}"))
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
