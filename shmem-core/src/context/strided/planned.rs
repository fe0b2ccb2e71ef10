//! A transfer that was planned when it ran.

use core::panic::Location;

use super::{get_planned, put_planned};
use crate::endpoint::Endpoint;
use crate::observe::Family;
use crate::strided::{Algorithm, Pattern, Piece, Pieced, Plan, Spot, each_part, settings};
use crate::transport::Remote;

/// The plan of a transfer between two objects, of which each is taken for one range.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) algorithm: Algorithm,
    /// Bytes from the start of the destination to its first block.
    pub(super) to: usize,
    /// Bytes from the start of the source to its first block.
    pub(super) from: usize,
}

impl Planned {
    /// Writes. The destination starts at `place` and the source at `start`; or they lie in pieces, of the PE's
    /// place and of this PE's slot.
    ///
    /// # Safety
    ///
    /// Every block of the plan must lie in the source, readable, and in the destination on every PE. No block of
    /// the destination may overlap another of either side.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn put(
        &self,
        endpoint: &Endpoint,
        place: Remote,
        to: Option<&[Piece]>,
        start: *const u8,
        from: Option<&[Piece]>,
        family: Family,
    ) {
        let location = Location::caller();
        if to.is_none() && from.is_none() {
            let place = Remote { offset: place.offset + self.to, ..place };
            // SAFETY: the caller's promise.
            return unsafe {
                put_planned::<()>(
                    endpoint,
                    place,
                    start.wrapping_add(self.from),
                    &self.plan,
                    family,
                    location,
                )
            };
        }
        let origin = if from.is_some() { endpoint.mine(0).cast_const() } else { start };
        let to = (to, Piece::whole(place.segment, place.offset));
        self.each_part(to, (from, Piece::whole(place.segment, 0)), |to, from, pattern| {
            let source = origin.wrapping_add(from.offset);
            let plan = self.part(to.offset, source as usize, pattern);
            let place = Remote { pe: place.pe, segment: to.segment, offset: to.offset };
            // SAFETY: the blocks of the parts are those of the plan (caller), cut where the pieces of the
            // objects end.
            unsafe { put_planned::<()>(endpoint, place, source, &plan, family, location) };
        });
    }

    /// Reads; see [`put`](Self::put).
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put), with the sides exchanged.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn get(
        &self,
        endpoint: &Endpoint,
        start: *mut u8,
        to: Option<&[Piece]>,
        place: Remote,
        from: Option<&[Piece]>,
        family: Family,
    ) {
        let location = Location::caller();
        if to.is_none() && from.is_none() {
            let place = Remote { offset: place.offset + self.from, ..place };
            // SAFETY: the caller's promise.
            return unsafe {
                get_planned::<()>(endpoint, start.wrapping_add(self.to), place, &self.plan, family, location)
            };
        }
        let origin = if to.is_some() { endpoint.mine(0) } else { start };
        let from = (from, Piece::whole(place.segment, place.offset));
        self.each_part((to, Piece::whole(place.segment, 0)), from, |to, from, pattern| {
            let into = origin.wrapping_add(to.offset);
            let plan = self.part(into as usize, from.offset, pattern);
            let place = Remote { pe: place.pe, segment: from.segment, offset: from.offset };
            // SAFETY: the blocks of the parts are those of the plan (caller), cut where the pieces of the
            // objects end.
            unsafe { get_planned::<()>(endpoint, into, place, &plan, family, location) };
        });
    }

    /// The parts of the transfer that lie in one piece on either side. An object without pieces is one.
    #[inline(never)]
    fn each_part(
        &self,
        to: (Option<&[Piece]>, Piece),
        from: (Option<&[Piece]>, Piece),
        each: impl FnMut(Spot, Spot, Pattern),
    ) {
        let (whole_to, whole_from) = ([to.1], [from.1]);
        let to = Pieced { pieces: to.0.unwrap_or(&whole_to), at: self.to };
        let from = Pieced { pieces: from.0.unwrap_or(&whole_from), at: self.from };
        each_part(self.plan.pattern(), to, from, each);
    }

    /// The plan of a part that starts at these bytes of places or addresses: places start at multiples of
    /// all that matters.
    fn part(&self, to: usize, from: usize, pattern: Pattern) -> Plan {
        let align = 1 << (to | from).trailing_zeros().min(usize::BITS - 1);
        Plan::of(pattern, align, self.algorithm, &settings().thresholds)
    }
}
