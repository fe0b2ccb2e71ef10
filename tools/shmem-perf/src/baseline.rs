//! Baselines (in results: *limits*) that several benchmarks are compared with.
//!
//! Each is short enough to be checked by eye, and measures something outside of this project: a store of the processor, `memcpy` of
//! the C library, the transfer of a cache line between two cores, a futex of the kernel.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::thread::futex;
use shmem::thread::ThreadLevel;
use shmem::{Contents, On, World};

use crate::samples::nanoseconds_each;

/// Number of cache lines that [`stores`] writes.
pub(crate) const LINES: usize = 64;

/// Number of 8-byte words in a cache line.
pub(crate) const WORDS_OF_LINE: usize = 8;

/// Stores `value` to the first word of each of [`LINES`] cache lines. The compiler neither merges nor drops a store.
///
/// # Safety
///
/// `words` must be aligned and writable for `LINES * WORDS_OF_LINE` words.
#[inline(never)]
pub(crate) unsafe fn stores(words: *mut u64, value: u64) {
    for line in 0..LINES {
        // SAFETY: the word is one of the `LINES * WORDS_OF_LINE` words that are writable (caller).
        unsafe { words.wrapping_add(line * WORDS_OF_LINE).write_volatile(value) };
    }
}

/// Copies bytes by the C library's `memcpy`.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes. The two ranges must not overlap.
#[inline(always)]
pub(crate) unsafe fn memcpy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: `from` is readable, `to` is writable, and the ranges do not overlap (caller).
    unsafe { libc::memcpy(to.cast(), from.cast(), bytes) };
}

/// Returns the mean nanoseconds of `times` round trips of a cache line between two PEs. If `first`, this PE sends first. The line
/// holds a counter, which is even between calls.
pub(crate) fn round_trip(line: &AtomicU64, first: bool, times: usize) -> f64 {
    let before = line.load(Ordering::Acquire) & !1;
    nanoseconds_each(times, || {
        for there in (0..times as u64).map(|trip| before + 2 * trip + 1) {
            if first {
                line.store(there, Ordering::Release);
            }
            wait_for(line, if first { there + 1 } else { there });
            if !first {
                line.store(there + 1, Ordering::Release);
            }
        }
    })
}

#[inline(always)]
pub(crate) fn wait_for(counter: &AtomicU64, count: u64) {
    let mut looks = 0_u32;
    while counter.load(Ordering::Acquire) < count {
        std::hint::spin_loop();
        looks += 1;
        // Yields, because a wait gets this long only if both PEs share a core.
        if looks.is_multiple_of(1 << 14) {
            std::thread::yield_now();
        }
    }
}

/// A barrier of processes that sleep in the kernel: a counter of arrivals, and a generation number as futex. Both are 0 at first.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct FutexBarrier {
    arrived: AtomicU32,
    generation: AtomicU32,
}

impl FutexBarrier {
    /// Returns the barrier in the first [`LIMIT_WORDS`] words of `words`, which belong to a PE of this node, and are 0 at first.
    pub(crate) fn on<'w>(world: &'w World, words: On<'w, [u64]>) -> &'w Self {
        const { assert!(size_of::<Self>() <= LIMIT_WORDS * 8) };
        let words: *mut Self = near(words.index(..LIMIT_WORDS).ptr(world)).cast();
        assert!(words.is_aligned(), "the words of the limit start in the middle of a cache line");
        // SAFETY: `words` is aligned, has [`LIMIT_WORDS`] words, and lives as long as `world`. A barrier consists of atomics, so
        // concurrent accesses are no data races.
        unsafe { &*words }
    }

    pub(crate) fn wait(&self, pes: u32) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == pes {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.fetch_add(1, Ordering::Release);
            // Wakes sleeping processes. A process that does not sleep yet sees the new generation.
            let _ = futex::wake(&self.generation, futex::Flags::empty(), i32::MAX as u32);
            return;
        }
        while self.generation.load(Ordering::Acquire) == generation {
            // The loop checks the generation again, because `wait` also returns after a signal.
            let _ = futex::wait(&self.generation, futex::Flags::empty(), generation, None);
        }
    }
}

/// Number of words that a baseline uses: two cache lines of its own. The words must be 0 at first.
pub(crate) const LIMIT_WORDS: usize = 16;

/// Returns a word of a PE of this node as an atomic.
pub(crate) fn word_at<'w, L: ThreadLevel, T: Contents>(
    world: &'w World<L>,
    word: On<'w, T>,
) -> &'w AtomicU64 {
    const { assert!(size_of::<T>() == size_of::<u64>() && align_of::<T>() == align_of::<u64>()) };
    let word = near(word.ptr(world)).cast();
    // SAFETY: `word` is aligned and lives as long as `world`. Other accesses to an atomic are no data races.
    unsafe { AtomicU64::from_ptr(word) }
}

/// Returns the pointer. Panics if there is none, which means that the PE is on another node. These baselines need shared memory.
pub(crate) fn near<T: ?Sized>(pointer: Option<*mut T>) -> *mut T {
    pointer
        .unwrap_or_else(|| panic!("the PE is not on this node: there is no limit to measure a transfer with"))
}
