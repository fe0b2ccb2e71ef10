//! Strided put and get.
//!
//! [`Strided`] has OpenSHMEM's routines, whose strides are arguments. `strided!` expands to [`expansion`], which transfers regions
//! of [`Object`]s, and plans constant regions at compile time. Both call the functions of this module: `strided!` with a plan and
//! two addresses, the routines with a single loop of blocks. On the same node, this loop needs no plan.

pub mod expansion;
#[cfg(feature = "ndarray")]
mod ndarray;
mod object;
mod region;
mod routines;
mod token;

pub use object::{Object, Own, Readable, Remote, SameElements, Writable};
pub use region::Region;
pub use routines::Strided;

use core::any::TypeId;
use core::panic::Location;

use bytemuck::Pod;

use crate::endpoint::Endpoint;
use crate::object::On;
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::strided::{Level, Method, PartOfSlice, TransferPlan, execute, execute_blocks, execute_dyn};
use crate::symmetric_data::PlainData;
use crate::transport;

/// Writes a part of `from` to a contiguous place. Panics if the numbers of elements of the part and the place differ, or if `part`
/// was made for a slice of another length.
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
    // SAFETY: the blocks are inside `from`, which is borrowed (`pack`), and fill the place, which every PE has.
    unsafe { put_planned::<(), ()>(endpoint, to, start, &plan, Family::StridedPut, Location::caller()) };
}

/// Moves the blocks of a plan between elements of types `To` and `From`. If both are the same number type, moves aligned numbers.
///
/// # Safety
///
/// Every block of the plan must be writable from `to` on and, with the gaps between blocks, readable from `from` on. No block of
/// the destination may overlap another block of either side. If `To` and `From` are the same number type, both sides must consist
/// of aligned numbers of this type.
#[inline(always)]
unsafe fn execute_as<To: Pod, From: 'static>(plan: &TransferPlan, to: *mut u8, from: *const u8) {
    if TypeId::of::<To>() == TypeId::of::<From>() {
        // SAFETY: the caller guarantees what `execute` requires; both sides are aligned numbers of type `To` (caller).
        unsafe { execute::<To>(plan, to, from) };
    } else {
        // SAFETY: the caller guarantees what `execute` requires.
        unsafe { execute::<()>(plan, to, from) };
    }
}

/// Defines put and get of blocks. The side `$place` is on any PE, the side `$local` in this PE's memory.
macro_rules! directions {
    ($(
        $planned:ident, $blocks:ident, $slow:ident = $method:ident, $safety:literal:
        ($to:ident: $to_type:ty, $from:ident: $from_type:ty), $place:ident, $local:ident: $local_type:ty;
    )*) => {$(
        /// Moves the blocks of `plan`, between elements of types `To` and `From`. A constant plan compiles to a simple loop.
        ///
        /// # Safety
        ///
        #[doc = $safety]
        /// No block of the destination may overlap another block of either side. If `To` and `From` are the same number type, both
        /// sides must consist of aligned numbers of this type.
        #[inline(always)]
        pub(super) unsafe fn $planned<To: Pod, From: 'static>(
            endpoint: &Endpoint,
            $to: $to_type,
            $from: $from_type,
            plan: &TransferPlan,
            family: Family,
            location: &'static Location<'static>,
        ) {
            let transport::Remote { pe, segment, offset } = $place;
            if let Some($place) = endpoint.address(pe, offset) {
                // SAFETY: a PE that has an address is on this node, and has all blocks in its mapped slot (caller).
                unsafe { execute_as::<To, From>(plan, $to, $from) };
            } else {
                // SAFETY: the caller guarantees for these blocks what `$slow` requires.
                unsafe { $slow(endpoint, pe, segment, offset, $local, plan, family, location) };
            }
        }

        /// Moves the blocks of the loop `level`, by the algorithm set at run time. All addresses are aligned to `align`.
        ///
        /// Always inlined, because a call would pass the place and the loop through memory, and stall on store forwarding.
        ///
        /// # Safety
        ///
        #[doc = concat!("As `", stringify!($planned), "`, for `level.count` blocks of `block` bytes.")]
        #[inline(always)]
        #[track_caller]
        pub unsafe fn $blocks(
            endpoint: &Endpoint,
            $to: $to_type,
            $from: $from_type,
            block: usize,
            level: Level,
            align: usize,
            family: Family,
        ) {
            let transport::Remote { pe, segment, offset } = $place;
            if let Some($place) = endpoint.address(pe, offset) {
                // SAFETY: a PE that has an address is on this node, and has all blocks in its mapped slot (caller).
                unsafe { execute_blocks(block, level, align, $to, $from) };
            } else {
                let plan = TransferPlan::blocks(block, level, align);
                // SAFETY: the caller guarantees for these blocks what `$slow` requires.
                unsafe { $slow(endpoint, pe, segment, offset, $local, &plan, family, Location::caller()) };
            }
        }

        /// Moves the blocks of `plan`. The place is separate arguments: a struct would be written to memory before the branch.
        ///
        /// # Safety
        ///
        #[doc = concat!("As [`", stringify!($planned), "`].")]
        #[cold]
        #[inline(never)]
        #[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
        unsafe fn $slow(
            endpoint: &Endpoint,
            pe: Pe,
            segment: u32,
            offset: usize,
            $local: $local_type,
            plan: &TransferPlan,
            family: Family,
            location: &'static Location<'static>,
        ) {
            if plan.method() == Method::Nothing {
                return;
            }
            let plan = &plan.here();
            let call = Call::new(family, location).at(pe, segment, offset, 0).with($local).planned(plan);
            endpoint.tell(call, || {
                if let Some($place) = endpoint.mapped(pe, offset) {
                    // SAFETY: a PE that is mapped has all blocks in its slot (caller).
                    return unsafe { execute_dyn(plan, $to, $from) };
                }
                let (far, $place) = (endpoint.far(), transport::Remote { pe, segment, offset });
                // SAFETY: the segment of every PE has the blocks, and `$local` is valid as long as `family` requires (caller).
                unsafe { far.transport.$method(far.channel, $to, $from, plan.pattern(), family.until()) };
            });
        }
    )*};
}
directions! {
    put_planned, put_blocks, put_slow = put_strided,
    "Every block must be readable from `from` on, with the gaps between blocks, for as long as the family says, and lie in the segment of every PE from `to` on.":
    (to: transport::Remote, from: *const u8), to, from: *const u8;
    get_planned, get_blocks, get_slow = get_strided,
    "Every block must be writable from `to` on, for as long as the family says, and lie in the segment of every PE from `from` on.":
    (to: *mut u8, from: transport::Remote), from, to: *mut u8;
}
