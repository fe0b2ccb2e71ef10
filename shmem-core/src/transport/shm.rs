//! Loads, stores, copies and atomics in the arena.
//!
//! Other PEs, and other threads of this one, may access the same bytes at the same time. The head of [`shared`] has the rules: no access
//! here is a plain one, and no reference to the memory exists while these functions can reach it (`shmem-rt/src/phase.rs`). All types
//! accept every bit pattern, so a race can produce a mixed value, never an invalid one.

use core::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;

use super::atomic_op::{AtomicOp, SignalOp, Width, apply};
use crate::shared::{self, Register};
use crate::sync::Doorbell;

/// Copies into the arena and out of it. Both sides may overlap (a put to oneself), and symmetric types have no padding.
pub(crate) use crate::shared::{copy as get, copy as put};

/// Reads a value: a number atomically, unless [named](crate::object::On::is_named).
///
/// # Safety
///
/// As [`shared::load`]; and for a number that others access with another size, `is_named` must be true.
#[inline(always)]
pub(crate) unsafe fn load<T: Pod>(from: *const T, is_named: bool) -> T {
    if is_named {
        // SAFETY: aligned and readable (caller).
        return unsafe { shared::read(from) };
    }
    // SAFETY: the caller's promise.
    unsafe { shared::load(from) }
}

/// Writes a value: a number atomically, unless [named](crate::object::On::is_named).
///
/// # Safety
///
/// As [`shared::store`]; and for a number that others access with another size, `is_named` must be true.
#[inline(always)]
pub(crate) unsafe fn store<T: Pod>(to: *mut T, value: T, is_named: bool) {
    if is_named {
        // From a register: a store from memory would delay a later load of this value.
        return match size_of::<T>() {
            // SAFETY: writable for the size of a `T` (caller).
            8 => unsafe { u64::store(bytemuck::cast(value), to.cast()) },
            // SAFETY: writable for the size of a `T` (caller).
            4 => unsafe { u32::store(bytemuck::cast(value), to.cast()) },
            // SAFETY: writable (caller), and what is `Pod` has no padding.
            _ => unsafe { shared::write(to, value) },
        };
    }
    // SAFETY: the caller's promise.
    unsafe { shared::store(to, value) };
}

/// Prefetches the cache line of `to` for a store. Lines of several places then arrive in parallel; stores would wait for one after
/// the other. Any address is allowed: nothing is accessed.
#[inline(always)]
pub(crate) fn expect_write(to: *mut u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, which faults at no address; processors without it ignore it.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) to, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = to;
}

/// As [`expect_write`], for a load.
#[inline(always)]
pub(crate) fn expect_read(from: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, which faults at no address; processors without it ignore it.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) from, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = from;
}

/// Changes a word, rings the owner's bell if the word was written, and returns the old value.
///
/// # Safety
///
/// `word` must be an aligned word of that width in the arena, `bell` that of its owner.
#[inline(always)]
pub(crate) unsafe fn atomic(word: *mut u8, width: Width, op: AtomicOp, bell: &Doorbell) -> u64 {
    // SAFETY: the caller's promise.
    let before = unsafe { apply(word, width, op) };
    if !matches!(op, AtomicOp::Fetch) {
        bell.ring_watchers();
    }
    before
}

/// Changes a signal after earlier writes, and rings its owner's bell. A signal is set by an atomic store, not a read-modify-write: atomic
/// operations on the word come before or after the store as a whole, and the old value is not needed. The change is visible when this
/// returns.
///
/// # Safety
///
/// `word` must be an aligned word of 8 bytes in the arena, `bell` that of its owner.
#[inline(always)]
pub(crate) unsafe fn signal(word: *mut u8, op: SignalOp, bell: &Doorbell) {
    match op {
        SignalOp::Set(value) => {
            // SAFETY: an aligned word in the arena (caller), where no reference but to atomics exists.
            let word = unsafe { AtomicU64::from_ptr(word.cast()) };
            word.store(value, Ordering::Release);
            bell.ring_behind_store();
        }
        // SAFETY: the caller's promise.
        SignalOp::Add(_) => _ = unsafe { atomic(word, Width::W8, op.into(), bell) },
    }
}
