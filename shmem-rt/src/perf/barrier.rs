//! What a barrier costs.

use std::sync::atomic::AtomicU64;

use shmem_core::object::On;

use super::baseline::{self, FutexBarrier};
use super::put::near;
use super::samples::{Samples, nanoseconds_each};
use crate::thread::ThreadLevel;
use crate::world::World;

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
/// If `words` is not on this node.
pub fn against_round_trip<L: ThreadLevel>(
    world: &World<L>,
    words: On<'_, [u64]>,
    repetitions: usize,
) -> Samples {
    let line = near(words.ptr(world)).cast::<u64>();
    // SAFETY: the place holds aligned words, lives while the world does, and is used here only.
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
/// If `words` is not on this node.
pub fn against_futex<L: ThreadLevel>(world: &World<L>, words: On<'_, [u64]>, repetitions: usize) -> Samples {
    let words = near(words.index(..LIMIT_WORDS).ptr(world));
    // SAFETY: the place holds more zeroed bytes than a barrier, which consists of atomics, on a cache
    // line as it asks; it lives while the world does, and is used here only.
    let barrier = unsafe { &*words.cast::<FutexBarrier>() };
    let pes = world.n_pes() as u32;
    let limit = || nanoseconds_each(SLEEPING, || (0..SLEEPING).for_each(|_| barrier.wait(pes)));
    Samples::alternate(repetitions, || barriers(world, SLEEPING), limit)
}

/// Nanoseconds of one of `count` barriers.
pub(super) fn barriers<L: ThreadLevel>(world: &World<L>, count: usize) -> f64 {
    nanoseconds_each(count, || (0..count).for_each(|_| world.barrier_all()))
}
