//! What puts of several threads cost, with contexts of their own and with one for all.

use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Instant;

use super::affinity;
use super::baseline::{self, LINES};
use super::put::Row;
use super::samples::Samples;

/// Numbers of threads that are measured. Those beyond the cores take turns on them.
pub const THREADS: [usize; 6] = [1, 2, 4, 8, 16, 36];

/// Passes over a row in one sample: some hundred microseconds for one thread.
pub const PASSES: u64 = if cfg!(debug_assertions) { 20 } else { 8_000 };

/// Passes where each put takes a lock.
pub const LOCKED_PASSES: u64 = PASSES / 8;

/// The most of them: rows that are needed.
pub const MOST_THREADS: usize = THREADS[THREADS.len() - 1];

/// The variables of a job with room for the rows.
pub fn variables() -> Vec<(String, String)> {
    vec![("SHMEM_SYMMETRIC_SIZE".to_owned(), "1M".to_owned())]
}

/// What the threads of a sample do together.
pub struct Rounds {
    barrier: Barrier,
    repetitions: usize,
    threads: usize,
    passes: u64,
    /// The first word of each thread's row, as an address.
    rows: Vec<usize>,
    /// Those of puts, and of stores, for each round.
    times: Mutex<Vec<[Vec<Span>; 2]>>,
}

/// When a thread has begun and ended.
type Span = (Instant, Instant);

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
    thread: impl Fn(usize, &Rounds) + Sync,
) -> Samples {
    let row = |number| rows.wrapping_add(number) as usize;
    let rounds = Rounds {
        barrier: Barrier::new(threads),
        repetitions,
        threads,
        passes,
        rows: (0..threads).map(row).collect(),
        times: Mutex::new(vec![[Vec::new(), Vec::new()]; repetitions + 1]),
    };
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (thread, rounds) = (&thread, &rounds);
            scope.spawn(move || thread(number, rounds));
        }
    });
    let have_cores = std::thread::available_parallelism().is_ok_and(|cores| threads <= cores.get());
    let each = |times: &[Span]| duration(times, have_cores) / (passes * LINES as u64) as f64;
    let mut samples = Samples::new();
    let times = rounds.times.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The first round is for first touches.
    for [puts, stores] in &times[1..] {
        samples.push(each(puts), each(stores));
    }
    samples
}

/// Nanoseconds of what threads have done at the same time.
fn duration(times: &[Span], have_cores: bool) -> f64 {
    let slowest = times.iter().map(|(start, end)| *end - *start).max();
    let (starts, ends) = (times.iter().map(|time| time.0), times.iter().map(|time| time.1));
    // They take turns: one that has its turn alone seems to be fast.
    let all = ends.max().zip(starts.min()).map(|(end, start)| end - start);
    let duration = if have_cores { slowest } else { all };
    duration.unwrap_or_default().as_nanos() as f64
}

impl Rounds {
    /// Takes part as thread `number`, with `put_row` as its pass of puts over its row.
    ///
    /// # Panics
    ///
    /// If there are cores enough, and the thread cannot be kept on one.
    pub fn run(&self, number: usize, mut put_row: impl FnMut(u64)) {
        affinity::take(number, self.threads).unwrap_or_else(|error| panic!("a thread has no core: {error}"));
        let words = self.rows[number] as *mut u64;
        for round in 0..=self.repetitions {
            self.time(round, 0, &mut put_row);
            // SAFETY: a row has `LINES * WORDS_OF_LINE` words, which are writable (`against_stores`).
            self.time(round, 1, &mut |pass| unsafe { baseline::stores(words, pass) });
        }
    }

    fn time(&self, round: usize, kind: usize, pass: &mut impl FnMut(u64)) {
        self.barrier.wait();
        let start = Instant::now();
        (0..self.passes).for_each(pass);
        let end = Instant::now();
        self.times.lock().unwrap_or_else(PoisonError::into_inner)[round][kind].push((start, end));
    }
}
