//! Loads, stores, copies and atomics in the arena: the addresses of the symmetric memory of all PEs of the node.
//!
//! Other PEs, and other threads of this PE, may access the same bytes at the same time. The head of [`shared`] has the rules: no
//! access here is a plain (non-atomic) one, and no reference to the memory exists while these functions can reach it
//! (`shmem-rt/src/phase.rs`). All types accept every bit pattern, so a race can produce a mixed value, but not an invalid one.

use core::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;

use super::atomic_op::{AtomicOp, SignalOp, Width, apply};
use crate::shared::{self, Register};
use crate::sync::Doorbell;

/// Copies into the arena and out of it. Source and destination may overlap (a put to the own PE). Symmetric types have no padding,
/// so all bytes are initialised.
pub(crate) use crate::shared::{copy as get, copy as put};

/// Reads a value. A number is read atomically, unless `is_named`: then a field of another size may overlap it
/// ([`On::is_named`](crate::object::On::is_named)).
///
/// # Safety
///
/// As [`shared::load`]; and for a number that others access with another size, `is_named` must be true.
#[inline(always)]
pub(crate) unsafe fn load<T: Pod>(from: *const T, is_named: bool) -> T {
    if is_named {
        // SAFETY: `from` is aligned and readable (caller).
        return unsafe { shared::read(from) };
    }
    // SAFETY: the caller's promise.
    unsafe { shared::load(from) }
}

/// Writes a value. A number is written atomically, unless `is_named`: then a field of another size may overlap it
/// ([`On::is_named`](crate::object::On::is_named)).
///
/// # Safety
///
/// As [`shared::store`]; and for a number that others access with another size, `is_named` must be true.
#[inline(always)]
pub(crate) unsafe fn store<T: Pod>(to: *mut T, value: T, is_named: bool) {
    if is_named {
        // Stored from a register, because a copy from memory would delay a later load of this value.
        return match size_of::<T>() {
            // SAFETY: `to` is writable for the size of a `T` (caller).
            8 => unsafe { u64::store(bytemuck::cast(value), to.cast()) },
            // SAFETY: `to` is writable for the size of a `T` (caller).
            4 => unsafe { u32::store(bytemuck::cast(value), to.cast()) },
            // SAFETY: `to` is writable (caller), and a `Pod` type has no padding.
            _ => unsafe { shared::write(to, value) },
        };
    }
    // SAFETY: the caller's promise.
    unsafe { shared::store(to, value) };
}

/// Prefetches the cache line of `to` for a store. Prefetched lines arrive in parallel, but stores would wait for one line after
/// another. Any address is allowed, because a prefetch accesses nothing.
#[inline(always)]
pub(crate) fn expect_write(to: *mut u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch is a hint, which faults at no address. Processors without the instruction ignore it.
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
    // SAFETY: a prefetch is a hint, which faults at no address. Processors without the instruction ignore it.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) from, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = from;
}

/// Applies `op` to a word atomically, wakes the owner's sleepers by its bell unless `op` is a fetch, and returns the old value.
///
/// # Safety
///
/// `word` must be an aligned word of that width in the arena, and `bell` the bell of its owner.
#[inline(always)]
pub(crate) unsafe fn atomic(word: *mut u8, width: Width, op: AtomicOp, bell: &Doorbell) -> u64 {
    // SAFETY: the caller's promise.
    let before = unsafe { apply(word, width, op) };
    if !matches!(op, AtomicOp::Fetch) {
        bell.ring_watchers();
    }
    before
}

/// Changes a signal after earlier writes, and wakes the owner's sleepers by its bell. `Set` is an atomic store, not a
/// read-modify-write: other atomic operations come before or after it as a whole, and its old value is not needed. The change is
/// visible when this function returns.
///
/// # Safety
///
/// `word` must be an aligned word of 8 bytes in the arena, and `bell` the bell of its owner.
#[inline(always)]
pub(crate) unsafe fn signal(word: *mut u8, op: SignalOp, bell: &Doorbell) {
    match op {
        SignalOp::Set(value) => {
            // SAFETY: `word` is an aligned word in the arena (caller), to which only references as atomics exist.
            let word = unsafe { AtomicU64::from_ptr(word.cast()) };
            word.store(value, Ordering::Release);
            bell.ring_behind_store();
        }
        // SAFETY: the caller's promise.
        SignalOp::Add(_) => _ = unsafe { atomic(word, Width::W8, op.into(), bell) },
    }
}
