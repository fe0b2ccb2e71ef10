//! Direct placement: members of one node read and write each other's copies of symmetric objects in place.
//!
//! A symmetric object needs no staging buffer, through which its data would be copied twice. The opening barrier shows that members have
//! come for the same object. Then each reads what it needs from the others, or writes to them. A member leaves when nobody reads its
//! copy any more. [`buffer`](super::buffer) says why that is sound.

use shmem_core::object::Extent;
use shmem_core::primitive::mutant;

use super::buffer::{RecvBuf, SendBuf};
use super::ring::Ring;
use crate::group::{Collective, Purpose};

/// A collective on symmetric objects of one node.
pub(super) struct Direct<'c> {
    collective: &'c Collective<'c>,
    purpose: &'c Purpose<'c>,
}

impl<'c> Direct<'c> {
    /// Meets all members. What they have done to the objects before is visible to all.
    pub(super) fn meet(collective: &'c Collective<'c>, purpose: &'c Purpose<'c>) -> Self {
        collective.meet(purpose);
        Self::met(collective, purpose)
    }

    /// As [`meet`](Self::meet), if all have come with one number, or none of it: what the arguments do not say.
    pub(super) fn meet_alike(
        collective: &'c Collective<'c>,
        purpose: &'c Purpose<'c>,
        number: Option<u64>,
    ) -> Option<Self> {
        let mut ends = ends(number);
        collective.reduce_for(purpose, bytemuck::cast_slice_mut(&mut ends), u64::max);
        is_one(ends).then(|| Self::met(collective, purpose))
    }

    /// Behind a barrier of all members.
    pub(super) fn met(collective: &'c Collective<'c>, purpose: &'c Purpose<'c>) -> Self {
        Self { collective, purpose }
    }

    /// An object on the member with a rank, to be read.
    pub(super) fn of(&self, rank: usize, place: Extent) -> SendBuf<'c> {
        let Collective { team, endpoint, .. } = *self.collective;
        SendBuf::on(endpoint, team.member(rank), place)
    }

    /// An object on the member with a rank, to be written.
    pub(super) fn to(&self, rank: usize, place: Extent) -> RecvBuf<'c> {
        let Collective { team, endpoint, .. } = *self.collective;
        RecvBuf::on(endpoint, team.member(rank), place)
    }

    /// The ranks of all members, from the own one on: so not all read or write the same.
    pub(super) fn ranks(&self) -> impl Iterator<Item = usize> + use<> {
        let (members, rank) = (self.collective.team.size(), self.collective.team.rank());
        (rank..members).chain(0..rank)
    }

    /// Ends it where one member owns what the others read: that one waits until they have, and the others go on.
    pub(super) fn leave_source(&self, rank: usize) {
        let mut ring = Ring::new(self.collective, self.purpose);
        ring.take(0);
        if rank == self.collective.team.rank() && !mutant("direct-without-leave") {
            ring.until_taken(0);
        }
    }

    /// Ends it where each has read of the others, or written to them.
    pub(super) fn leave(&self) {
        if !mutant("direct-without-leave") {
            self.collective.meet(self.purpose);
        }
    }
}

/// A number and its complement, or what no number has: the largest of both, of all members, are those of one number if all have come
/// with the same.
pub(super) fn ends(number: Option<u64>) -> [u64; 2] {
    number.map_or([u64::MAX; 2], |number| [number, !number])
}

/// Whether all have come with one number.
pub(super) fn is_one([highest, lowest]: [u64; 2]) -> bool {
    highest == !lowest
}
