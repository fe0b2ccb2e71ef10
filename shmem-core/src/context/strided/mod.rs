//! Strided put and get.
//!
//! [`Strided`] has the library's routines, whose strides are arguments. [`written`] is what `strided!`
//! expands to: regions of [`Object`]s, planned by the compiler where they are constant. All of them come
//! down to what stands here: `strided!` to a plan and where each side starts, the routines to one loop,
//! which is moved as the same plan would, but without putting it together first.

mod blocks;
pub mod copied;
mod elements;
mod lend;
#[cfg(feature = "ndarray")]
mod ndarray;
mod object;
mod planned;
mod region;
mod routines;
mod scoped;
mod selector;
mod sized;
mod table;
mod token;
pub mod written;

pub use elements::SameElements;
pub use object::{Local, LocalMut, Object, Own, Readable, Remote, Writable};
pub use region::{Region, Side};
pub use routines::Strided;

use core::panic::Location;

use bytemuck::Pod;

use crate::data::PlainData;
use crate::endpoint::Endpoint;
use crate::object::On;
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::strided::{Advice, Level, Method, PartOfSlice, Plan, execute, execute_blocks, execute_dyn};
use crate::transport;

/// Writes a part of `from`, one element behind the other, to a place.
///
/// # Panics
///
/// If the place has other than as many elements, or `part` is that of a slice of another length.
#[inline]
#[track_caller]
pub(crate) fn put_part<T: PlainData>(
    endpoint: &Endpoint,
    to: On<'_, [T]>,
    from: &[T],
    part: &PartOfSlice<T>,
) {
    assert_eq!(to.len(), part.elements());
    let (start, plan) = part.pack(from);
    let to = transport::Remote { pe: to.pe(), segment: to.segment(), offset: to.offset() };
    // SAFETY: the blocks lie in `from`, which is borrowed (`pack`); one behind the other they are the elements of the place,
    // which every PE has.
    unsafe { put_planned::<()>(endpoint, to, start, &plan, Family::StridedPut, Location::caller()) };
}

/// Writes the blocks of `plan`, made of elements `E`, from `from` to `to`. A constant plan folds.
///
/// # Safety
///
/// Every block of the plan must be readable from `from` on, for as long as the family says, and lie in the
/// segment of every PE from `to` on. No block of the destination may overlap another of either side. If `E` is a
/// number, both sides must be made of `E`s, aligned.
#[inline(always)]
pub(super) unsafe fn put_planned<E: Pod>(
    endpoint: &Endpoint,
    to: transport::Remote,
    from: *const u8,
    plan: &Plan,
    family: Family,
    location: &'static Location<'static>,
) {
    if let Some(to) = endpoint.address(to.pe, to.offset) {
        // SAFETY: the blocks are memory of every PE that has an address (caller).
        unsafe { execute::<E>(plan, to, from) };
    } else {
        // SAFETY: the caller's promise.
        unsafe {
            put_slow(endpoint, to.pe, to.segment, to.offset, from, plan, family, location);
        }
    }
}

/// Reads the blocks of `plan`, made of elements `E`, from `from` into `to`. A constant plan folds.
///
/// # Safety
///
/// As [`put_planned`], with the sides exchanged.
#[inline(always)]
pub(super) unsafe fn get_planned<E: Pod>(
    endpoint: &Endpoint,
    to: *mut u8,
    from: transport::Remote,
    plan: &Plan,
    family: Family,
    location: &'static Location<'static>,
) {
    if let Some(from) = endpoint.address(from.pe, from.offset) {
        // SAFETY: the blocks are memory of every PE that has an address (caller).
        unsafe { execute::<E>(plan, to, from) };
    } else {
        // SAFETY: the caller's promise.
        unsafe {
            get_slow(endpoint, to, from.pe, from.segment, from.offset, plan, family, location);
        }
    }
}

/// Writes blocks in one loop, as planned at run time. `align` is what addresses are multiples of.
///
/// Always inlined: a call would take the place and the loop through memory, in parts that its first instructions read whole,
/// and so wait for, which a few blocks feel.
///
/// # Safety
///
/// As [`put_planned`], for `level.count` blocks of `block` bytes.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn put_blocks(
    endpoint: &Endpoint,
    to: transport::Remote,
    from: *const u8,
    block: usize,
    level: Level,
    align: usize,
    family: Family,
) {
    if let Some(advice) = Advice::of_blocks(block, level) {
        advice.give();
    }
    if let Some(to) = endpoint.address(to.pe, to.offset) {
        // SAFETY: the blocks are memory of every PE that has an address (caller).
        unsafe { execute_blocks(block, level, align, to, from) };
    } else {
        let plan = Plan::blocks(block, level, align);
        // SAFETY: the caller's promise.
        unsafe { put_slow(endpoint, to.pe, to.segment, to.offset, from, &plan, family, Location::caller()) };
    }
}

/// Reads blocks in one loop, as planned at run time.
///
/// # Safety
///
/// As [`put_blocks`], with the sides exchanged.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn get_blocks(
    endpoint: &Endpoint,
    to: *mut u8,
    from: transport::Remote,
    block: usize,
    level: Level,
    align: usize,
    family: Family,
) {
    if let Some(advice) = Advice::of_blocks(block, level) {
        advice.give();
    }
    if let Some(from) = endpoint.address(from.pe, from.offset) {
        // SAFETY: the blocks are memory of every PE that has an address (caller).
        unsafe { execute_blocks(block, level, align, to, from) };
    } else {
        let plan = Plan::blocks(block, level, align);
        // SAFETY: the caller's promise.
        unsafe {
            get_slow(endpoint, to, from.pe, from.segment, from.offset, &plan, family, Location::caller())
        };
    }
}

/// The place in pieces: as one, it would be written to memory before the branch that leads here.
///
/// # Safety
///
/// As [`put_planned`].
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
unsafe fn put_slow(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    plan: &Plan,
    family: Family,
    location: &'static Location<'static>,
) {
    if plan.method() == Method::Nothing {
        return;
    }
    let plan = &plan.here();
    let call = Call::new(family, location).at(pe, segment, offset, 0).with(from).planned(plan);
    endpoint.tell(call, || {
        if let Some(to) = endpoint.mapped(pe, offset) {
            // SAFETY: the blocks are memory of every PE that has an address (caller).
            return unsafe { execute_dyn(plan, to, from) };
        }
        let (far, to) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
        // SAFETY: the caller's promise, for as long as the family says.
        unsafe { far.transport.put_strided(far.channel, to, from, plan.pattern(), family.until()) };
    });
}

/// # Safety
///
/// As [`get_planned`].
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
unsafe fn get_slow(
    endpoint: &Endpoint,
    to: *mut u8,
    pe: Pe,
    segment: u32,
    offset: usize,
    plan: &Plan,
    family: Family,
    location: &'static Location<'static>,
) {
    if plan.method() == Method::Nothing {
        return;
    }
    let plan = &plan.here();
    let call = Call::new(family, location).at(pe, segment, offset, 0).with(to).planned(plan);
    endpoint.tell(call, || {
        if let Some(from) = endpoint.mapped(pe, offset) {
            // SAFETY: the blocks are memory of every PE that has an address (caller).
            return unsafe { execute_dyn(plan, to, from) };
        }
        let (far, from) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
        // SAFETY: the caller's promise, for as long as the family says.
        unsafe { far.transport.get_strided(far.channel, to, from, plan.pattern(), family.until()) };
    });
}
