//! The C library's copy for every block.
//!
//! Its call costs nothing beside a block of some KiB, and it chooses by the machine what to do with one:
//! vectors, string moves, streaming stores.

use super::Level;
use super::block::Block;
use super::rows::{Plain, Sweep};
use crate::shared;

#[derive(Clone, Copy)]
struct Copied {
    bytes: usize,
}

impl Block for Copied {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: both sides are valid for the block (caller).
        unsafe { shared::copy(to, from, self.bytes) };
    }
}

/// Copies all blocks.
///
/// # Safety
///
/// As [`run`](super::run).
pub(super) unsafe fn sweep(block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promises.
    unsafe { Plain.sweep(Copied { bytes: block }, levels, to, from) };
}
