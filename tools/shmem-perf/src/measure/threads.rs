//! What puts of several threads cost, with contexts of their own and with one for all.

use std::sync::{Mutex, PoisonError};

use shmem::Context;

use super::put::Row;
use super::*;
use crate::rounds::{self, Rounds};

pub(crate) const MEASURE: Measure = Measure {
    name: "threads",
    about: "Puts of 1 to 36 threads, with a context each, with one for all, and with one behind a lock, against as many threads \
            that store",
    options: &[
        "sizes | Larger puts as well, against memcpy",
        "bytes 1..65536 64,512,4096,65536 | Their bytes",
    ],
    run: Some(|runner| {
        let of = |runner: &mut Runner, sizes| {
            runner.repeat(&runner.job("threads", 2, Given { sizes, ..Given::default() }).heap(4 << 20))
        };
        of(runner, vec![0])?;
        if runner.is("sizes") { of(runner, runner.numbers("bytes")) } else { Ok(()) }
    }),
    tasks: &[("threads", Task::Own(by_threads))],
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

/// Numbers of threads that are measured. Those beyond the cores take turns on them.
const NUMBERS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Passes over a row in one sample: some hundred microseconds for one thread.
const PASSES: u64 = if cfg!(debug_assertions) { 20 } else { 8_000 };

/// Puts of a thread in one sample: some hundred microseconds of one thread.
fn puts(bytes: usize) -> u64 {
    let less = if cfg!(debug_assertions) { 400 } else { 1 };
    ((8 << 20) / bytes as u64).clamp(64, 20_000).div_ceil(less)
}

/// One PE of the job: PE 0 has the threads, and writes to the other: words to a row of each thread, or so many bytes to its place.
fn by_threads(given: &Given) -> Done {
    let world = &shmem::init::<Multiple>()?;
    let bench = Bench::new(world, given, std::thread::available_parallelism()?.get());
    let (most, other) = (NUMBERS[NUMBERS.len() - 1], bench.other());
    let rows = world.alloc(zeroed::<Row>(most))?;
    let places = world.alloc(zeroed::<u8>((most * given.sizes.iter().max().copied().unwrap_or(0)).max(1)))?;
    world.barrier_all();
    for threads in NUMBERS.into_iter().filter(|_| world.my_pe() == 0) {
        let site = Site { shared_cores: threads > bench.cores, ..bench.site.clone() };
        let book = Book::new(site, given);
        let shared: Context<Multiple> = world.create_ctx()?;
        let lock: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
        let locked = || lock.lock().unwrap_or_else(PoisonError::into_inner);
        // What a thread puts through: a context of its own, one of all, or one of all behind a lock for each put.
        let cases = [("private", 1), ("multiple", 1), ("locked", 8)].into_iter();
        for ((sharing, less), &bytes) in
            cases.flat_map(|case| given.sizes.iter().map(move |bytes| (case, bytes)))
        {
            let (name, pass) = match bytes {
                0 => (format!("threads {threads}/{sharing}"), (PASSES / less, LINES)),
                _ => {
                    (format!("threads-by-size {threads}/{sharing}/{bytes}"), (puts(bytes).div_ceil(less), 1))
                }
            };
            let measure = || {
                rounds::in_turn(threads, pass, given.repetitions, |number, rounds| {
                    // A core for each, if there are enough.
                    take_core(number, threads)
                        .unwrap_or_else(|error| panic!("a thread has no core: {error}"));
                    let place = Place {
                        row: rows.on(other).index(number),
                        bytes: places.on(other).index(number * bytes..(number + 1) * bytes),
                    };
                    match sharing {
                        "private" => {
                            let own: Context<Private> =
                                world.create_ctx().unwrap_or_else(|error| panic!("{error}"));
                            place.through(rounds, world, &own.bind(world));
                        }
                        "multiple" => place.through(rounds, world, &shared.bind(world)),
                        _ => {
                            let row = |pass| {
                                for line in 0..LINES {
                                    locked().bind(world).p(place.row.index(line * WORDS_OF_LINE), pass);
                                }
                            };
                            place.put(rounds, world, row, |source| {
                                locked().bind(world).put(place.bytes, source)
                            });
                        }
                    }
                })
            };
            book.samples(name, measure);
        }
        book.print(0)?;
    }
    world.free(rows)?;
    world.free(places)?;
    Ok(())
}

/// Where a thread puts, on the other PE, which sleeps: words, or bytes if there are any.
#[derive(Clone, Copy)]
struct Place<'w> {
    row: On<'w, Row>,
    bytes: On<'w, [u8]>,
}

impl Place<'_> {
    fn through<I: Stores>(self, rounds: &Rounds, world: &World<Multiple>, token: &I) {
        self.put(
            rounds,
            world,
            |pass| put_row(token, self.row, pass),
            |source| token.put(self.bytes, source),
        );
    }

    /// Against as many stores, or as many copies.
    fn put(
        self,
        rounds: &Rounds,
        world: &World<Multiple>,
        put_row: impl FnMut(u64),
        mut put: impl FnMut(&[u8]),
    ) {
        if self.bytes.len() == 0 {
            let words: *mut u64 = near(self.row.ptr(world)).cast();
            // SAFETY: a row has `LINES * WORDS_OF_LINE` words, which nobody else uses while the thread runs.
            return rounds.run(put_row, |pass| unsafe { baseline::stores(words, pass) });
        }
        let source = vec![1_u8; self.bytes.len()];
        let start: *mut u8 = near(self.bytes.ptr(world)).cast();
        let copy = |_| {
            let source = black_box(source.as_slice());
            // SAFETY: the thread's place has as many bytes, which nobody else uses while it runs, and the source is private memory.
            unsafe { baseline::memcpy(start, source.as_ptr(), source.len()) };
        };
        rounds.run(|_| put(black_box(&source)), copy);
    }
}

/// One 8-byte put to each line of a thread's row.
#[inline(never)]
fn put_row<I: Stores>(token: &I, row: On<'_, Row>, value: u64) {
    for line in 0..LINES {
        token.p(row.index(line * WORDS_OF_LINE), value);
    }
}
