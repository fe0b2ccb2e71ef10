//! Direct forms: members of one node read and write each other's copies of symmetric objects where they lie.
//!
//! What is given to a collective as a symmetric object needs no room of the runtime, through which it would be copied twice.
//! Members meet, which says that they have come for the same object; then each reads what it needs of the others, or
//! writes to them; and who owns what is read waits until nobody reads it any more.
//!
//! Why that is sound: what a PE reads and writes here it could read and write by `get` and `put`. It holds a token, as for
//! those, so no phase is open on it, and none can be on any member of the team before it has left
//! (`shmem-rt/src/phase.rs`): to open one all must meet. The range is that of its own handle, which keeps these bytes
//! reserved on all PEs that have the object (`Subject::of` refuses those of teams that lack a member of this one), and the
//! access is that of [`shared`]: it races with nobody, and no reference to the memory is made. So nothing rests on what the
//! others have come for: if they lie, or hashes collide, bytes are mixed as if programs had put there.

use core::ops::Range;
use std::panic::Location;

use shmem_core::context::Endpoint;
use shmem_core::object::Extent;
use shmem_core::observe::{Call, Family};
use shmem_core::primitive::mutant;
use shmem_core::shared;

use super::alike::Alike;
use super::extent::Extent as Ranks;
use super::ring::Ring;
use crate::group::{Collective, Purpose};

/// A collective on symmetric objects of one node.
pub(super) struct Direct<'c> {
    collective: &'c Collective<'c>,
    purpose: &'c Purpose<'c>,
}

/// A range of an object on a member.
#[derive(Clone, Copy)]
pub(super) struct There {
    address: *mut u8,
    place: Extent,
}

impl<'c> Direct<'c> {
    /// Meets all members. What they have done to the objects before is visible to all.
    pub(super) fn meet(collective: &'c Collective<'c>, purpose: &'c Purpose<'c>) -> Self {
        collective.meet(purpose);
        Self::met(collective, purpose)
    }

    /// As [`meet`](Self::meet), if all have come with one number: what the arguments do not say.
    pub(super) fn meet_alike(
        collective: &'c Collective<'c>,
        purpose: &'c Purpose<'c>,
        number: Option<u64>,
    ) -> Option<Self> {
        let mut alike = Alike::of(number);
        collective.reduce_for(purpose, bytemuck::cast_slice_mut(&mut alike.0), u64::max);
        alike.is_one().then(|| Self::met(collective, purpose))
    }

    /// Behind a meeting of all members.
    pub(super) fn met(collective: &'c Collective<'c>, purpose: &'c Purpose<'c>) -> Self {
        Self { collective, purpose }
    }

    /// An object on the member with a rank.
    pub(super) fn on(&self, rank: usize, place: Extent) -> There {
        let Collective { team, endpoint, .. } = *self.collective;
        let address = endpoint.mapped(team.member(rank), place.offset);
        There { address: address.unwrap_or_else(|| unreachable!("all members are on this node")), place }
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

impl Collective<'_> {
    /// Every member makes a slice of what lies at one place of all members, of items of some bytes, and writes to each of those
    /// with `results` what that is to have, at another one or there: nobody else reads that slice. `make` makes some of it in a
    /// part of `tile`, of so many ranks, of which it is told how to read some of each.
    pub(super) fn make_directly(
        &self,
        purpose: &Purpose<'_>,
        (extent, results): (Ranks, Range<usize>),
        (from, to): (Extent, Extent),
        item: usize,
        tile: &mut [u8],
        mut make: impl FnMut(usize, &mut [u8], &dyn Fn(usize, &mut [u8])),
    ) {
        let (members, rank) = (self.team.size(), self.team.rank());
        let direct = Direct::meet(self, purpose);
        // Whole lines, and whole items.
        let grain = item << (LINE.trailing_zeros() - item.trailing_zeros().min(LINE.trailing_zeros()));
        let each = from.bytes.div_ceil(members).next_multiple_of(grain);
        let slice = (rank * each).min(from.bytes)..((rank + 1) * each).min(from.bytes);
        for at in slice.clone().step_by(tile.len()) {
            let bytes = tile.len().min(slice.end - at);
            let tile = &mut tile[..bytes];
            let read = |of: usize, into: &mut [u8]| direct.on(of, from).part(at, into.len()).read(into);
            for distance in 0..results.len() {
                // Where a prefix goes nobody with a lower rank has its own, so what is overwritten is wanted no more.
                let target = match extent {
                    Ranks::All => results.start + (rank + distance) % results.len(),
                    Ranks::UpTo | Ranks::Before => results.end - 1 - distance,
                };
                // The result of a reduction is the same for all.
                if extent != Ranks::All || distance == 0 {
                    make(extent.members_up_to(target, members), tile, &read);
                }
                direct.on(target, to).part(at, bytes).write(tile);
            }
        }
        direct.leave();
    }
}

/// Bytes of a line of the cache, which slices do not share.
pub(super) const LINE: usize = 64;

impl There {
    /// The calling PE's own copy of an object, where that is mapped on all nodes.
    pub(super) fn own(endpoint: &Endpoint, place: Extent) -> Self {
        Self { address: endpoint.mine(place.offset), place }
    }

    /// Where it lies on every member that has the object.
    pub(super) fn place(self) -> Extent {
        self.place
    }

    /// Bytes that it has.
    pub(super) fn len(self) -> usize {
        self.place.bytes
    }

    /// The first of so many bytes from one on.
    pub(super) fn start_of(self, at: usize, bytes: usize) -> *mut u8 {
        self.part(at, bytes).address
    }

    /// A part of it.
    pub(super) fn part(self, at: usize, bytes: usize) -> Self {
        assert!(
            at.checked_add(bytes).is_some_and(|end| end <= self.len()),
            "{bytes} bytes at {at} of {}",
            self.len()
        );
        let place = Extent { offset: self.place.offset + at, bytes };
        Self { address: self.address.wrapping_add(at), place }
    }

    /// Copies it to private memory of the same length.
    pub(super) fn read(self, into: &mut [u8]) {
        assert!(into.len() == self.len(), "{} bytes to {}", self.len(), into.len());
        // SAFETY: a part of an object that is reserved on its PE (`Direct::on`, by the handle that gave the extent), and as
        // many bytes here; others may write there, as the head of this module says.
        unsafe { shared::copy(into.as_mut_ptr(), self.address, self.len()) };
    }

    /// Copies private memory of the same length there.
    pub(super) fn write(self, from: &[u8]) {
        assert!(from.len() == self.len(), "{} bytes to {}", from.len(), self.len());
        // SAFETY: a part of an object that is reserved on its PE (`Direct::on`, by the handle that gave the extent), and as
        // many bytes here; others may read and write there, as the head of this module says.
        unsafe { shared::copy(self.address, from.as_ptr(), self.len()) };
    }

    /// Copies it to another part of the same length.
    pub(super) fn copy_to(self, to: Self) {
        assert!(to.len() == self.len(), "{} bytes to {}", self.len(), to.len());
        // SAFETY: both are parts of objects that are reserved on their PEs (`Direct::on`, by the handles that gave the
        // extents); others may read and write there, as the head of this module says, and both may overlap.
        unsafe { shared::copy(to.address, self.address, self.len()) };
    }
}

/// Tells the observer, if there is one, what a collective does to the calling PE's own copy of an object. What others do to
/// it happens between its first meeting and its end, so for races it is as if the owner did that. Outside the collective: what an
/// operation is made of is not told.
pub(super) fn tell(endpoint: &Endpoint, family: Family, location: &'static Location<'static>, place: Extent) {
    if endpoint.observer().is_some() {
        endpoint.tell(Call::new(family, location).at(endpoint.me(), 0, place.offset, place.bytes), || ());
    }
}
