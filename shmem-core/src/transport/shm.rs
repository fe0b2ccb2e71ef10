//! Loads, stores and atomics in the arena.
//!
//! Formal status: memory that another process changes at the same time is outside Rust's memory
//! model. As virtual-machine monitors do for guest memory, no reference to it ever exists; words of
//! up to 8 bytes are read and written by relaxed atomics, larger pieces by `memcpy` between raw
//! pointers. All types concerned accept every bit pattern, so the worst outcome of a race is a
//! mixed value, never an invalid one.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use bytemuck::Pod;

use super::target;
use super::{AtomicOp, Width};
use crate::sync::Doorbell;

/// Reads a value, in one access if it has 1, 2, 4 or 8 bytes.
///
/// # Safety
///
/// `from` must be aligned and readable.
#[inline(always)]
pub(crate) unsafe fn load<T: Pod>(from: *const T) -> T {
    let from = from.cast_mut();
    // Branches on constants: one is left in each instance.
    match (size_of::<T>(), align_of::<T>()) {
        (8, 8) => {
            // SAFETY: aligned and readable (caller); atomics may race with other processes.
            let word = unsafe { AtomicU64::from_ptr(from.cast()) };
            bytemuck::cast(word.load(Ordering::Relaxed))
        }
        (4, 4) => {
            // SAFETY: as above.
            let word = unsafe { AtomicU32::from_ptr(from.cast()) };
            bytemuck::cast(word.load(Ordering::Relaxed))
        }
        (2, 2) => {
            // SAFETY: as above.
            let word = unsafe { AtomicU16::from_ptr(from.cast()) };
            bytemuck::cast(word.load(Ordering::Relaxed))
        }
        (1, _) => {
            // SAFETY: as above.
            let word = unsafe { AtomicU8::from_ptr(from.cast()) };
            bytemuck::cast(word.load(Ordering::Relaxed))
        }
        // SAFETY: aligned and readable (caller); every bit pattern is a value.
        _ => unsafe { from.read_volatile() },
    }
}

/// Writes a value, in one access if it has 1, 2, 4 or 8 bytes.
///
/// # Safety
///
/// `to` must be aligned and writable.
#[inline(always)]
pub(crate) unsafe fn store<T: Pod>(to: *mut T, value: T) {
    match (size_of::<T>(), align_of::<T>()) {
        (8, 8) => {
            // SAFETY: aligned and writable (caller); atomics may race with other processes.
            let word = unsafe { AtomicU64::from_ptr(to.cast()) };
            word.store(bytemuck::cast(value), Ordering::Relaxed);
        }
        (4, 4) => {
            // SAFETY: as above.
            let word = unsafe { AtomicU32::from_ptr(to.cast()) };
            word.store(bytemuck::cast(value), Ordering::Relaxed);
        }
        (2, 2) => {
            // SAFETY: as above.
            let word = unsafe { AtomicU16::from_ptr(to.cast()) };
            word.store(bytemuck::cast(value), Ordering::Relaxed);
        }
        (1, _) => {
            // SAFETY: as above.
            let word = unsafe { AtomicU8::from_ptr(to.cast()) };
            word.store(bytemuck::cast(value), Ordering::Relaxed);
        }
        // SAFETY: aligned and writable (caller).
        _ => unsafe { to.write_volatile(value) },
    }
}

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
    // SAFETY: as in `expect_write`.
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
    // SAFETY: valid for `bytes` (caller). `copy` is libc's memmove, which for sides that do not
    // overlap runs the same loops as memcpy.
    unsafe { core::ptr::copy(from, to, bytes) };
}

/// Copies out of the arena.
///
/// # Safety
///
/// As [`put`].
#[inline(always)]
pub(crate) unsafe fn get(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: as in `put`.
    unsafe { core::ptr::copy(from, to, bytes) };
}

/// Changes a word, gives what was there, and rings the owner's bell if the word was written.
///
/// # Safety
///
/// `word` must be an aligned word of that width in the arena, `bell` that of its owner.
#[inline(always)]
pub(crate) unsafe fn atomic(word: *mut u8, width: Width, op: AtomicOp, bell: &Doorbell) -> u64 {
    // SAFETY: the caller's promise.
    let before = unsafe { target::apply(word, width, op) };
    if !matches!(op, AtomicOp::Fetch) {
        bell.ring();
    }
    before
}
