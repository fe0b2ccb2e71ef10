//! Loads, stores, copies and atomics in the arena.
//!
//! Other PEs, and other threads of this one, may access the same bytes meanwhile. What that means, and by which
//! instructions it is allowed, stands at the head of [`shared`]: nothing here is a plain access, and
//! no reference to the memory exists while it can be reached from here (`shmem-rt/src/phase.rs`). All types
//! concerned accept every bit pattern, so the worst outcome of a race is a mixed value, never an invalid one.

use super::atomic::{AtomicOp, Width, apply};
use crate::shared;
pub(crate) use crate::shared::{load, store};
use crate::sync::Doorbell;

/// Asks for the line of `to`, to be written soon. The lines of several places then come at the same time,
/// where stores would wait for one after the other. Any address will do: nothing is accessed.
#[inline(always)]
pub(crate) fn expect_write(to: *mut u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, which faults at no address; processors that do not know it take it for nothing.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) to, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = to;
}

/// As [`expect_write`], to be read soon.
#[inline(always)]
pub(crate) fn expect_read(from: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, which faults at no address; processors that do not know it take it for nothing.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) from, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = from;
}

/// Copies into the arena.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes. They may overlap (a put to oneself).
#[inline(always)]
pub(crate) unsafe fn put(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: valid for `bytes` (caller), which have no padding: symmetric types have none.
    unsafe { shared::copy(to, from, bytes) };
}

/// Copies out of the arena.
///
/// # Safety
///
/// As [`put`].
#[inline(always)]
pub(crate) unsafe fn get(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: valid for `bytes` (caller), which have no padding: symmetric types have none.
    unsafe { shared::copy(to, from, bytes) };
}

/// Changes a word, gives what was there, and rings the owner's bell if the word was written.
///
/// # Safety
///
/// `word` must be an aligned word of that width in the arena, `bell` that of its owner.
#[inline(always)]
pub(crate) unsafe fn atomic(word: *mut u8, width: Width, op: AtomicOp, bell: &Doorbell) -> u64 {
    // SAFETY: the caller's promise.
    let before = unsafe { apply(word, width, op) };
    if !matches!(op, AtomicOp::Fetch) {
        bell.ring();
    }
    before
}
