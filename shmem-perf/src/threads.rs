//! What puts of several threads cost, with contexts of their own and with one for all.

use super::affinity;
use super::baseline::{self, LINES};
use super::put::Row;
use super::rounds;
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
        affinity::take(number, self.threads).unwrap_or_else(|error| panic!("a thread has no core: {error}"));
        let words = self.rows[number] as *mut u64;
        // SAFETY: a row has `LINES * WORDS_OF_LINE` words, which are writable (`against_stores`).
        self.rounds.run(put_row, |pass| unsafe { baseline::stores(words, pass) });
    }
}
