//! The processor's own copy instruction, `rep movsb`, for every block.
//!
//! For blocks of some KiB whose lines another core has just used it gets ownership of them sooner than
//! a loop of stores does.

use super::rows::{Plain, Sweep};
use super::{Isa, Level, block::Block};

#[derive(Clone, Copy)]
struct Moved {
    bytes: usize,
}

impl Block for Moved {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: both sides are valid for the block and do not overlap (caller). The direction flag is
        // clear between instructions of Rust.
        unsafe {
            core::arch::asm!(
                "rep movsb",
                inout("rcx") self.bytes => _,
                inout("rdi") to => _,
                inout("rsi") from => _,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Copies all blocks.
///
/// # Safety
///
/// As [`run`](super::run).
pub(super) unsafe fn sweep(_isa: Isa, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promises.
    unsafe { Plain.sweep(Moved { bytes: block }, levels, to, from) };
}
