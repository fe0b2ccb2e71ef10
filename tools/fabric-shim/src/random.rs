//! Random numbers for orders, delays and keys: different in every process.

use core::hash::{BuildHasher, Hasher};
use core::sync::atomic::{AtomicU64, Ordering};
use std::hash::RandomState;
use std::sync::OnceLock;

/// The next number.
pub(crate) fn next() -> u64 {
    static START: OnceLock<RandomState> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = START.get_or_init(RandomState::new).build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    hasher.finish()
}

/// A number below `bound`, which is not 0.
pub(crate) fn below(bound: usize) -> usize {
    let bound = bound as u64;
    usize::try_from(next() % bound).expect("it is below a usize")
}

/// Heads or tails.
pub(crate) fn coin() -> bool {
    next() & 1 == 1
}
