//! What puts of several threads cost, with contexts of their own and with one for all.

use std::hint::black_box;
use std::sync::Mutex;

use clap::{Args, FromArgMatches};
use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Serialized};
use shmem::{Context, On, Stores, zeroed};

use crate::baseline::{self, LINES, WORDS_OF_LINE};
use crate::case::{Record, Site};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::jobs::Asked;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::put::Row;
use crate::name::{names, words};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Task};
use crate::{affinity, rounds};

/// What puts of several threads cost.
pub const MEASURE: Measure = Measure {
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
    cases: &[
        cases(
            &["threads"],
            "threads/contexts",
            "8-byte puts of 1 to 36 threads, each with a context, all with one, all with one behind a lock for each put; those \
             beyond the cores share cores",
            "volatile stores of as many threads to the same words",
        ),
        cases(
            &["threads-by-size"],
            "threads/contexts/bytes",
            "puts of 64 bytes to 64 KiB of as many threads, each to a place of its own",
            "`memcpy` by as many threads into the same places",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Words(2, Sharing::Private) if !case.shared_cores => Some(Goal::Ratio(1.05)),
            _ => None,
        })
    },
    again: again::<Name>,
    guards: &[Guard {
        jobs: 1,
        cases: || vec![Guarded::side_by_side(Name::Words(2, Sharing::Private), Bound::Eased(4.0))],
        ..Guard::of("threads", |runner| runner.repeat(&of_words(runner)))
    }],
    ..Measure::PLAIN
};

const WORDS: Task = Task { name: "threads", pe: |_, repetitions| words_by_threads(repetitions) };
const BY_SIZE: Task =
    Task { name: "threads-by-size", pe: |given, repetitions| by_size(&given.sizes, repetitions) };

names! {
    Words(threads: usize, sharing: Sharing) = "threads": [threads / sharing];
    BySize(threads: usize, sharing: Sharing, bytes: usize) = "threads-by-size": [threads / sharing / bytes];
}

words! {
    /// What threads put through.
    Sharing {
        /// A context each.
        Private = "private",
        /// One for all.
        Multiple = "multiple",
        /// One for all, behind a lock.
        Locked = "locked",
    }
}

/// Which puts.
#[derive(Args, Clone, Debug, Default)]
struct Options {
    /// Puts of 64 bytes to 64 KiB as well, against memcpy.
    #[arg(long)]
    sizes: bool,
}

/// A job with puts of words.
pub(crate) fn of_words(runner: &Runner) -> Asked {
    runner.job(&WORDS, 2, &variables())
}

/// A job with puts of these sizes, in bytes, of at most those of [`SIZES`].
pub(crate) fn of_sizes(runner: &Runner, sizes: &[usize]) -> Asked {
    runner.job(&BY_SIZE, 2, &variables()).sizes(sizes)
}

/// What one thread runs: its number, and the rounds that are timed.
type Body<'a> = dyn Fn(usize, &Rounds<'_>) + Sync + 'a;

/// One 8-byte put to each line of a thread's row.
#[inline(never)]
fn put_row<I: Stores>(token: &I, row: On<'_, Row>, value: u64) {
    for line in 0..LINES {
        token.p(row.index(line * WORDS_OF_LINE), value);
    }
}

/// One PE of the job: PE 0 has the threads, and writes to the other.
fn words_by_threads(repetitions: usize) -> Done {
    let world = &shmem::init::<Multiple>()?;
    let cores = std::thread::available_parallelism()?.get();
    let (_, other) = world.ring_neighbours();
    let object = world.alloc(zeroed::<Row>(MOST_THREADS))?;
    let rows = object.on(other);
    world.barrier_all();
    if world.my_pe() == 0 {
        let site = |threads| Site { shared_cores: threads > cores, ..Site::of(world, cores) };
        let measure = |threads: (usize, u64), body: &Body<'_>| {
            let rows = rows.ptr(world).ok_or("the PEs are not on one node")?.cast();
            // SAFETY: the object has as many rows on the other PE, and is freed below; that PE sleeps.
            Ok::<_, Box<dyn std::error::Error>>(unsafe { against_stores(threads, repetitions, rows, body) })
        };
        for threads in THREADS {
            let shared: Context<Multiple> = world.create_ctx()?;
            let locked: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
            let cases: [(Sharing, u64, &str, &Body<'_>); 3] = [
                (Sharing::Private, PASSES, "puts of threads with a context each", &|number, rounds| {
                    let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
                    let ctx = context.bind(world);
                    rounds.run(number, |pass| put_row(&ctx, rows.index(number), pass));
                }),
                (Sharing::Multiple, PASSES, "puts of threads through one context", &|number, rounds| {
                    let ctx = shared.bind(world);
                    rounds.run(number, |pass| put_row(&ctx, rows.index(number), pass));
                }),
                (
                    Sharing::Locked,
                    LOCKED_PASSES,
                    "puts of threads through one context, each behind a lock",
                    &|number, rounds| {
                        let row = rows.index(number);
                        rounds.run(number, |pass| {
                            for line in 0..LINES {
                                let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                                context.bind(world).p(row.index(line * WORDS_OF_LINE), pass);
                            }
                        });
                    },
                ),
            ];
            for (sharing, passes, what, body) in cases {
                let samples = measure((threads, passes), body)?;
                let compared = format!("{what}, against stores of as many threads to the same words");
                let name = Name::Words(threads, sharing);
                let record = Record::new(&site(threads), &name, "ns", compared, samples);
                println!("{}", serde_json::to_string(&record)?);
            }
        }
    }
    world.free(object)?;
    Ok(())
}

/// What one thread runs that puts whole places.
type CopyBody<'a> = dyn Fn(usize, &Copies<'_>) + Sync + 'a;

/// One PE of the job with larger puts.
fn by_size(sizes: &[usize], repetitions: usize) -> Done {
    let world = &shmem::init::<Multiple>()?;
    let cores = std::thread::available_parallelism()?.get();
    let (_, other) = world.ring_neighbours();
    let object = world.alloc(zeroed::<u8>(MOST_THREADS * sizes.iter().max().copied().unwrap_or(0)))?;
    let places = object.on(other);
    world.barrier_all();
    let all = THREADS.into_iter().flat_map(|threads| sizes.iter().map(move |&bytes| (threads, bytes)));
    for (threads, bytes) in all.filter(|_| world.my_pe() == 0) {
        let shared: Context<Multiple> = world.create_ctx()?;
        let locked: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
        let place = |number: usize| places.index(number * bytes..(number + 1) * bytes);
        let cases: [(Sharing, u64, &str, &CopyBody<'_>); 3] = [
            (Sharing::Private, 1, "puts of threads with a context each", &|number, copies| {
                let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
                let (ctx, to) = (context.bind(world), place(number));
                copies.run(number, |source| ctx.put(to, source));
            }),
            (Sharing::Multiple, 1, "puts of threads through one context", &|number, copies| {
                let (ctx, to) = (shared.bind(world), place(number));
                copies.run(number, |source| ctx.put(to, source));
            }),
            (
                Sharing::Locked,
                8,
                "puts of threads through one context, each behind a lock",
                &|number, copies| {
                    let to = place(number);
                    copies.run(number, |source| {
                        let context = locked.lock().unwrap_or_else(|error| panic!("{error}"));
                        context.bind(world).put(to, source);
                    });
                },
            ),
        ];
        for (sharing, fewer, what, body) in cases {
            let start = places.ptr(world).ok_or("the PEs are not on one node")?.cast();
            let puts = puts(bytes).div_ceil(fewer);
            // SAFETY: the object has a place for each thread on the other PE, and is freed below; that PE sleeps.
            let samples = unsafe { against_copies((threads, bytes), puts, repetitions, start, body) };
            let compared = format!("{what}, against memcpy by as many threads into the same bytes");
            let site = Site { shared_cores: threads > cores, ..Site::of(world, cores) };
            let name = Name::BySize(threads, sharing, bytes);
            let record = Record::new(&site, &name, "ns", compared, samples);
            println!("{}", serde_json::to_string(&record)?);
        }
    }
    world.free(object)?;
    Ok(())
}

/// Numbers of threads that are measured. Those beyond the cores take turns on them.
pub const THREADS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Passes over a row in one sample: some hundred microseconds for one thread.
pub const PASSES: u64 = if cfg!(debug_assertions) { 20 } else { 8_000 };

/// Passes where each put takes a lock.
pub const LOCKED_PASSES: u64 = PASSES / 8;

/// The most of them: rows that are needed.
pub const MOST_THREADS: usize = THREADS[THREADS.len() - 1];

/// Sizes of puts beyond those of words, in bytes.
pub const SIZES: [usize; 4] = [64, 512, 4 << 10, 64 << 10];

/// The variables of a job with room for the rows, and for as many places of the largest size.
pub fn variables() -> Vec<(String, String)> {
    vec![("SHMEM_SYMMETRIC_SIZE".to_owned(), "4M".to_owned())]
}

/// Puts of a thread in one sample: some hundred microseconds of one thread.
pub fn puts(bytes: usize) -> u64 {
    let less = if cfg!(debug_assertions) { 400 } else { 1 };
    ((8 << 20) / bytes as u64).clamp(64, 20_000).div_ceil(less)
}

/// What the threads of a sample do together.
pub struct Rounds<'a> {
    rounds: &'a rounds::Rounds,
    threads: usize,
    /// The first word of each thread's row, as an address.
    rows: &'a [usize],
}

/// Puts of `threads` threads, each `passes` times over a row of its own, against stores of as many threads to
/// the same rows: nanoseconds for each. Where every thread has a core that of the slowest thread, and otherwise
/// from the start of the first one to the end of the last.
///
/// `thread` is what each thread does, by its number: it makes what it puts through, and calls
/// [`Rounds::run`].
///
/// # Safety
///
/// `rows` must be writable, a row for each thread, for as long as the call lasts.
///
/// # Panics
///
/// If a thread cannot be kept on a core of its own where there are enough, or does not come to `run`.
pub unsafe fn against_stores(
    (threads, passes): (usize, u64),
    repetitions: usize,
    rows: *mut Row,
    thread: impl Fn(usize, &Rounds<'_>) + Sync,
) -> Samples {
    let rows: Vec<_> = (0..threads).map(|number| rows.wrapping_add(number) as usize).collect();
    rounds::in_turn(threads, (passes, LINES), repetitions, |number, rounds| {
        thread(number, &Rounds { rounds, threads, rows: &rows });
    })
}

impl Rounds<'_> {
    /// Takes part as thread `number`, with `put_row` as its pass of puts over its row.
    ///
    /// # Panics
    ///
    /// If there are cores enough, and the thread cannot be kept on one.
    pub fn run(&self, number: usize, put_row: impl FnMut(u64)) {
        keep(number, self.threads);
        let words = self.rows[number] as *mut u64;
        // SAFETY: a row has `LINES * WORDS_OF_LINE` words, which are writable (`against_stores`).
        self.rounds.run(put_row, |pass| unsafe { baseline::stores(words, pass) });
    }
}

/// What the threads of a sample of [`against_copies`] do together.
pub struct Copies<'a> {
    rounds: &'a rounds::Rounds,
    threads: usize,
    /// The first thread's place, as an address; the others' follow.
    places: usize,
    bytes: usize,
}

/// Puts of `bytes` bytes of `threads` threads, so many of each, to a place of its own, against `memcpy` by as many
/// threads into the same places: nanoseconds for each, as in [`against_stores`].
///
/// `thread` is what each thread does, by its number: it makes what it puts through, and calls [`Copies::run`].
///
/// # Safety
///
/// `places` must be writable for `bytes` bytes of each thread, one behind the other, for as long as the call lasts.
///
/// # Panics
///
/// As [`against_stores`].
pub unsafe fn against_copies(
    (threads, bytes): (usize, usize),
    puts: u64,
    repetitions: usize,
    places: *mut u8,
    thread: impl Fn(usize, &Copies<'_>) + Sync,
) -> Samples {
    let places = places as usize;
    rounds::in_turn(threads, (puts, 1), repetitions, |number, rounds| {
        thread(number, &Copies { rounds, threads, places, bytes });
    })
}

impl Copies<'_> {
    /// Takes part as thread `number`, with `put` as its put of the whole source to its place.
    ///
    /// # Panics
    ///
    /// If there are cores enough, and the thread cannot be kept on one.
    pub fn run(&self, number: usize, mut put: impl FnMut(&[u8])) {
        keep(number, self.threads);
        let source = vec![1_u8; self.bytes];
        let to = (self.places + number * self.bytes) as *mut u8;
        let copy = |_| {
            let source = black_box(source.as_slice());
            // SAFETY: the thread's place has as many bytes (`against_copies`), and the source is private memory.
            unsafe { baseline::memcpy(to, source.as_ptr(), source.len()) };
        };
        self.rounds.run(|_| put(black_box(&source)), copy);
    }
}

/// Keeps the calling thread on a core, if there are enough for all.
fn keep(number: usize, threads: usize) {
    affinity::take(number, threads).unwrap_or_else(|error| panic!("a thread has no core: {error}"));
}
