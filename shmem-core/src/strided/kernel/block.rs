//! Copies of one block: by one piece, by a few, or by the C library.
//!
//! There is no branch between reads and writes, because a prefetcher follows each instruction from block to block, which a loop
//! inside a block would disturb.

use super::vector::Vector;
use crate::shared::{self, Registers};
pub(super) use crate::shared::{Ends, One, Quad};

/// A copy of one block of a length that the value knows.
pub(super) trait Block: Copy {
    /// Whether a loop over blocks copies four at a time.
    const SHORT: bool = true;

    /// Copies a block.
    ///
    /// # Safety
    ///
    /// The block must be readable at `from` and writable at `to`, the two must not overlap, and the machine must have the
    /// instructions of the pieces.
    unsafe fn copy(self, to: *mut u8, from: *const u8);
}

/// Two to three pieces.
pub(super) type Three<V> = Registers<V, 2, 1>;

/// Four to eight pieces.
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
pub(super) type Eight<V> = Registers<V, 4, 4>;

impl<V: Vector, const FRONT: usize, const BACK: usize> Block for Registers<V, FRONT, BACK> {
    const SHORT: bool = FRONT + BACK <= 4;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe { Self::copy(self, to, from) };
    }
}

/// A block of this length, copied by the C library. The call takes little time relative to a long block.
#[derive(Clone, Copy)]
pub(super) struct Library(pub(super) usize);

impl Block for Library {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: both sides are valid for the block (caller).
        unsafe { shared::copy(to, from, self.0) };
    }
}
