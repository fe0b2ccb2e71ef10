//! What puts of several threads cost, with contexts of their own and with one for all.

use std::hint::black_box;

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
