//! What a barrier costs.

use std::sync::atomic::AtomicU64;

use shmem_core::object::On;

use super::baseline::{self, FutexBarrier};
use super::put::near;
use super::samples::{Samples, nanoseconds_each};
use shmem::World;
use shmem::thread::ThreadLevel;

/// Barriers in one sample while every PE has a core.
const SPINNING: usize = 500;

/// Barriers in one sample while PEs share cores: each is a round of sleeping and waking.
const SLEEPING: usize = 20;

/// Words that the limits run on, on a line of their own. All zeroes to begin with.
pub const LIMIT_WORDS: usize = 16;

/// `barrier_all` of two PEs with a core each, against one round trip of a cache line between them:
/// nanoseconds for each. Both PEs call it; `words` lies on one of them.
///
/// # Panics
///
/// If `words` is not on this node, or is empty.
pub fn against_round_trip<L: ThreadLevel>(
    world: &World<L>,
    words: On<'_, [u64]>,
    repetitions: usize,
) -> Samples {
    let line = near(words.index(0).ptr(world));
    // SAFETY: the place holds an aligned word and lives while the world does; whatever else the program
    // does with it, no reference says that it does not change.
    let line = unsafe { AtomicU64::from_ptr(line) };
    let first = world.my_pe() == 0;
    let limit = || nanoseconds_each(SPINNING, || baseline::round_trips(line, first, SPINNING as u64));
    Samples::alternate(repetitions, || barriers(world, SPINNING), limit)
}

/// `barrier_all`, against a plain barrier of as many processes that sleep in the kernel:
/// nanoseconds for each. All PEs call it; `words` lies on one of them.
///
/// # Panics
///
/// If `words` is not on this node, has fewer than [`LIMIT_WORDS`], or does not start a cache line.
pub fn against_futex<L: ThreadLevel>(world: &World<L>, words: On<'_, [u64]>, repetitions: usize) -> Samples {
    const { assert!(size_of::<FutexBarrier>() <= LIMIT_WORDS * 8) };
    let barrier = FutexBarrier::at(near(words.index(..LIMIT_WORDS).ptr(world)).cast());
    let pes = world.n_pes() as u32;
    let limit = || nanoseconds_each(SLEEPING, || (0..SLEEPING).for_each(|_| barrier.wait(pes)));
    Samples::alternate(repetitions, || barriers(world, SLEEPING), limit)
}

/// Nanoseconds of one of `count` barriers.
pub(super) fn barriers<L: ThreadLevel>(world: &World<L>, count: usize) -> f64 {
    nanoseconds_each(count, || (0..count).for_each(|_| world.barrier_all()))
}
