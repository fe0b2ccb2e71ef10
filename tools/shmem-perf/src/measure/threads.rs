//! Puts of several threads, with a context each and with a shared one.

use std::sync::Barrier;

use shmem::Context;
use shmem_core::exclusion::Mutex;

use super::put::Row;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "threads",
    run: Some(|runner| {
        let of = |runner: &mut Runner, sizes| {
            runner.repeat(&runner.job("threads", 2, Given { sizes, ..Given::default() }).heap(4 << 20))
        };
        of(runner, vec![0])?;
        if runner.is("sizes") { of(runner, runner.numbers("bytes")) } else { Ok(()) }
    }),
    tasks: &[("threads", Task::Own(by_threads))],
    ..Measure::PLAIN
};

/// The measured numbers of threads. More threads than cores take turns.
const NUMBERS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Returns how often a thread writes its row, or puts `bytes` bytes, in one sample: some hundred microseconds for one thread.
fn passes(bytes: usize) -> u64 {
    let (most, less) = if cfg!(debug_assertions) { (20, 400) } else { (8_000, 1) };
    if bytes == 0 { most } else { ((8 << 20) / bytes as u64).clamp(64, 20_000).div_ceil(less) }
}

/// Contexts of threads: one each, a shared one, or a shared one with a lock for each put; and how many times fewer passes are measured.
const SHARINGS: [(&str, u64); 3] = [("private", 1), ("multiple", 1), ("locked", 8)];

/// A PE of the job. PE 0 has the threads, which write words to rows of the other PE, or bytes to their places there.
fn by_threads(given: &Given) -> Done {
    let world = &shmem::init::<Multiple>()?;
    let bench = Bench::new(world, given, cpus::allowed()?.len());
    let (most, other) = (NUMBERS[5], other(world));
    let rows = world.alloc(zeroed::<Row>(most))?;
    let places = world.alloc(zeroed::<u8>((most * given.sizes.iter().max().copied().unwrap_or(0)).max(1)))?;
    world.barrier_all();
    for threads in NUMBERS.into_iter().filter(|_| world.my_pe() == 0) {
        let shared: Context<Multiple> = world.create_ctx()?;
        let lock: Mutex<Context<Serialized>> = Mutex::new(world.create_ctx()?);
        let cases = SHARINGS.map(|sharing| given.sizes.iter().map(move |bytes| (sharing, *bytes)));
        for ((sharing, less), bytes) in cases.into_iter().flatten() {
            let (name, puts) = match bytes {
                0 => (format!("threads {threads}/{sharing}"), LINES),
                _ => (format!("threads-by-size {threads}/{sharing}/{bytes}"), 1),
            };
            let thread = |number: usize, rounds: &Rounds| {
                // A core for each, if there are enough.
                take_core(number, threads).unwrap_or_else(|error| panic!("a thread has no core: {error}"));
                let row = rows.on(other).index(number);
                let place = places.on(other).index(number * bytes..(number + 1) * bytes);
                let (words, start): (*mut u64, *mut u8) =
                    (near(row.ptr(world)).cast(), near(place.ptr(world)).cast());
                let source = &vec![1_u8; bytes][..];
                let limit = |pass| match bytes {
                    // SAFETY: a row has `LINES * WORDS_OF_LINE` words, which nobody else uses while the thread runs.
                    0 => unsafe { baseline::stores(words, pass) },
                    // SAFETY: the thread's place has as many bytes, which nobody else uses while it runs, and the source is
                    // private memory.
                    _ => unsafe { baseline::memcpy(start, black_box(source).as_ptr(), bytes) },
                };
                match sharing {
                    "private" => {
                        let own: Context<Private> =
                            world.create_ctx().unwrap_or_else(|error| panic!("{error}"));
                        let own = own.bind(world);
                        rounds.run(|pass| put(&own, row, (place, source), pass), limit);
                    }
                    "multiple" => {
                        let shared = shared.bind(world);
                        rounds.run(|pass| put(&shared, row, (place, source), pass), limit);
                    }
                    _ if bytes > 0 => rounds.run(|_| lock.lock().bind(world).put(place, source), limit),
                    _ => {
                        let words = || (0..LINES).map(|line| row.index(line * WORDS_OF_LINE));
                        rounds.run(
                            |pass| words().for_each(|word| lock.lock().bind(world).p(word, pass)),
                            limit,
                        );
                    }
                }
            };
            let pass = (passes(bytes).div_ceil(less), puts);
            bench.of_threads(threads, name, || in_turn(threads, pass, given.repetitions, thread));
        }
    }
    bench.print(world)?;
    world.free(rows)?;
    Ok(world.free(places)?)
}

/// Puts `source` to `place`. If `source` is empty, puts `value` to the first word of each cache line of `row`.
#[inline(never)]
fn put<I: Stores>(token: &I, row: On<'_, Row>, (place, source): (On<'_, [u8]>, &[u8]), value: u64) {
    if !source.is_empty() {
        return token.put(place, black_box(source));
    }
    for line in 0..LINES {
        token.p(row.index(line * WORDS_OF_LINE), value);
    }
}

pub(super) struct Rounds {
    barrier: Barrier,
    repetitions: usize,
    passes: u64,
    /// The spans of each thread's work, and of the limit, for each round.
    times: Mutex<Vec<[Vec<Span>; 2]>>,
}

type Span = (Instant, Instant);

/// `passes` passes of `operations` operations by each of `threads` threads, against their limit: nanoseconds for each operation of a
/// thread. The time is that of the slowest thread, or, if threads share cores, from the first start to the last end. `thread` is the body
/// of a thread, by its number, which calls [`Rounds::run`].
pub(super) fn in_turn(
    threads: usize,
    (passes, operations): (u64, usize),
    repetitions: usize,
    thread: impl Fn(usize, &Rounds) + Sync,
) -> Samples {
    let times = Mutex::new(vec![[Vec::new(), Vec::new()]; repetitions + 1]);
    let rounds = Rounds { barrier: Barrier::new(threads), repetitions, passes, times };
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (thread, rounds) = (&thread, &rounds);
            scope.spawn(move || thread(number, rounds));
        }
    });
    let have_cores = std::thread::available_parallelism().is_ok_and(|cores| threads <= cores.get());
    let each = |times: &[Span]| {
        let slowest = times.iter().map(|(start, end)| *end - *start).max();
        let (starts, ends) = (times.iter().map(|time| time.0), times.iter().map(|time| time.1));
        // A thread that runs while the others wait for a core seems to be fast.
        let all = ends.max().zip(starts.min()).map(|(end, start)| end - start);
        let duration = if have_cores { slowest } else { all };
        duration.unwrap_or_default().as_nanos() as f64 / (passes * operations as u64) as f64
    };
    // The first round is for first touches.
    rounds.times.into_inner()[1..].iter().map(|[cost, limit]| (each(cost), each(limit))).collect()
}

impl Rounds {
    /// Runs passes of the work and of the limit, which get the number of the pass.
    pub(super) fn run(&self, mut cost: impl FnMut(u64), mut limit: impl FnMut(u64)) {
        for round in 0..=self.repetitions {
            self.time(round, 0, &mut cost);
            self.time(round, 1, &mut limit);
        }
    }

    fn time(&self, round: usize, kind: usize, pass: &mut impl FnMut(u64)) {
        self.barrier.wait();
        let start = Instant::now();
        (0..self.passes).for_each(pass);
        let end = Instant::now();
        self.times.lock()[round][kind].push((start, end));
    }
}
