//! Strided put and get.
//!
//! [`Strided`] has the library's routines, whose strides are arguments. All of them, and `strided!`,
//! come down to [`put_planned`] and [`get_planned`]: a plan, and where each side starts.

mod blocks;
mod routines;

pub use routines::Strided;

use crate::endpoint::Endpoint;
use crate::pe::Pe;
use crate::strided::{Pattern, Plan, execute};

/// Writes the blocks of `plan` from `from` to `offset` on `pe`. A constant plan folds.
///
/// # Safety
///
/// Every block of the plan must be readable from `from` on, and lie in `segment` of every PE from
/// `offset` on. No block of the destination may overlap another of either side.
#[inline(always)]
pub(super) unsafe fn put_planned(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    plan: &Plan,
) {
    #[cfg(feature = "statistics")]
    crate::strided::statistics::count(plan);
    if let Some(to) = endpoint.address(pe, offset) {
        // SAFETY: the blocks are memory of every PE that has an address (caller).
        unsafe { execute(plan, to, from) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { put_far(endpoint, pe, segment, offset, from, plan.pattern()) };
    }
}

/// Reads the blocks of `plan` from `offset` on `pe` into `to`. A constant plan folds.
///
/// # Safety
///
/// As [`put_planned`], with the sides exchanged.
#[inline(always)]
pub(super) unsafe fn get_planned(
    endpoint: &Endpoint,
    to: *mut u8,
    pe: Pe,
    segment: u32,
    offset: usize,
    plan: &Plan,
) {
    #[cfg(feature = "statistics")]
    crate::strided::statistics::count(plan);
    if let Some(from) = endpoint.address(pe, offset) {
        // SAFETY: the blocks are memory of every PE that has an address (caller).
        unsafe { execute(plan, to, from) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { get_far(endpoint, to, pe, segment, offset, plan.pattern()) };
    }
}

/// # Safety
///
/// As [`put_planned`].
#[cold]
#[inline(never)]
unsafe fn put_far(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    pattern: &Pattern,
) {
    if pattern.block() == 0 {
        return;
    }
    let far = endpoint.far();
    let to = Endpoint::remote(pe, segment, offset);
    // SAFETY: the caller's promise.
    unsafe { far.transport.put_strided(far.channel, to, from, pattern) };
}

/// # Safety
///
/// As [`get_planned`].
#[cold]
#[inline(never)]
unsafe fn get_far(endpoint: &Endpoint, to: *mut u8, pe: Pe, segment: u32, offset: usize, pattern: &Pattern) {
    if pattern.block() == 0 {
        return;
    }
    let far = endpoint.far();
    let from = Endpoint::remote(pe, segment, offset);
    // SAFETY: the caller's promise.
    unsafe { far.transport.get_strided(far.channel, to, from, pattern) };
}
