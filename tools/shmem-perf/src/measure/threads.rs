//! Puts of several threads, with a context for each thread, and with a shared context.

use std::sync::Barrier;

use shmem::Context;
use shmem_core::exclusion::Mutex;

use super::put::Row;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "threads",
    run: Some(|runner| {
        let of = |runner: &mut Runner, sizes| {
            runner.repeat(
                &runner.job("threads", 2, PeArguments { sizes, ..PeArguments::default() }).heap(4 << 20),
            )
        };
        of(runner, vec![0])?;
        if runner.is("sizes") { of(runner, runner.numbers("bytes")) } else { Ok(()) }
    }),
    tasks: &[("threads", Task::Own(by_threads))],
    ..Measure::PLAIN
};

/// Numbers of threads that are measured. If they exceed the cores, threads take turns.
const NUMBERS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Returns how often a thread writes its row, or puts `bytes` bytes, in a sample: for some hundred microseconds with one thread.
fn passes(bytes: usize) -> u64 {
    let (most, less) = if cfg!(debug_assertions) { (20, 400) } else { (8_000, 1) };
    if bytes == 0 { most } else { ((8 << 20) / bytes as u64).clamp(64, 20_000).div_ceil(less) }
}

/// (name, divisor of the passes): a context for each thread; a shared context; a shared context with a lock for each put.
const SHARINGS: [(&str, u64); 3] = [("private", 1), ("multiple", 1), ("locked", 8)];

/// Runs a PE of the job. Each thread of PE 0 puts words to its own row on the other PE, or bytes to its own place there.
fn by_threads(given: &PeArguments) -> Done {
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
                // Binds each thread to a core of its own, if there are enough cores.
                take_core(number, threads).unwrap_or_else(|error| panic!("a thread has no core: {error}"));
                let row = rows.on(other).index(number);
                let place = places.on(other).index(number * bytes..(number + 1) * bytes);
                let (words, start): (*mut u64, *mut u8) =
                    (near(row.ptr(world)).cast(), near(place.ptr(world)).cast());
                let source = &vec![1_u8; bytes][..];
                let limit = |pass| match bytes {
                    // SAFETY: `words` is the row of this thread, which alone uses it. A row has `LINES * WORDS_OF_LINE` words.
                    0 => unsafe { baseline::stores(words, pass) },
                    // SAFETY: `start` points to the thread's `bytes` bytes on the other PE. Nobody else uses them while the thread
                    // runs, and the source is private memory.
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
    /// For each round, the spans (start, end) of all threads: those of the operations, then those of the baseline.
    times: Mutex<Vec<[Vec<Span>; 2]>>,
}

type Span = (Instant, Instant);

/// Measures `threads` threads, each with `passes` passes of `operations` operations, in turn with their baseline. Returns
/// nanoseconds for each operation of a thread: the time of the slowest thread or, if threads share cores, the time from the first
/// thread's start to the last one's end. `thread` is the body of a thread. It gets the thread's number, and calls [`Rounds::run`].
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
        // With shared cores, a thread may run while the others wait for a core. Its own span would be too short.
        let all = ends.max().zip(starts.min()).map(|(end, start)| end - start);
        let duration = if have_cores { slowest } else { all };
        duration.unwrap_or_default().as_nanos() as f64 / (passes * operations as u64) as f64
    };
    // The first round is left out, because it touches pages for the first time.
    rounds.times.into_inner()[1..].iter().map(|[cost, limit]| (each(cost), each(limit))).collect()
}

impl Rounds {
    /// Measures passes of the operations and of the baseline, in turn. Both functions get the number of the pass.
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
