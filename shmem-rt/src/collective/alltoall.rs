//! alltoall and alltoalls: a part for each from each.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::data::PlainData;
use shmem_core::observe::Family;
use shmem_core::system::{MIRROR_BYTES, SCRATCH_BYTES};

use super::passing::{GRAIN, Parts, Passing, most_on_a_node};
use super::step::Step;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Sends the k-th part of `source` to the member with rank k, and writes what the member with rank k has
    /// sent to the k-th part of `into`. All parts are equally long, on all members.
    ///
    /// # Panics
    ///
    /// If the slices differ in length, or cannot be divided by the number of members.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_alltoall`.
    #[track_caller]
    pub fn alltoall<T: PlainData>(&self, token: &(impl Initiator + ?Sized), source: &[T], into: &mut [T]) {
        let location = Location::caller();
        let (members, items) = (self.size(), source.len());
        assert!(items == into.len(), "the source has {items} elements, the destination {}", into.len());
        assert!(items.is_multiple_of(members), "{items} elements cannot be divided among {members} members");
        let purpose = Purpose {
            operation: Operation::of(Family::Alltoall),
            opens: false,
            arguments: &[(items / members) as u64, size_of::<T>() as u64],
            subject: &|| format!("{} x {}", items / members, core::any::type_name::<T>()),
            location: Some(location),
        };
        let collective = self.enter(token.endpoint(), Some(location)).moving(size_of_val(source));
        collective.exchange(&purpose, bytemuck::cast_slice(source), bytemuck::cast_slice_mut(into));
    }

    /// As [`alltoall`](Self::alltoall), with `items` elements for each member that lie `source_stride` elements
    /// apart, and go to places `stride` elements apart. A part begins `items` strides behind the one before.
    ///
    /// # Panics
    ///
    /// If a stride is 0, or a slice is too short.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_alltoalls`.
    #[track_caller]
    pub fn alltoalls<T: PlainData>(
        &self,
        token: &(impl Initiator + ?Sized),
        source: &[T],
        source_stride: usize,
        into: &mut [T],
        stride: usize,
        items: usize,
    ) {
        let location = Location::caller();
        let members = self.size();
        let all = members.saturating_mul(items);
        require_room("source", source.len(), all, source_stride);
        require_room("destination", into.len(), all, stride);
        let purpose = Purpose {
            operation: Operation::of(Family::Alltoalls),
            opens: false,
            arguments: &[items as u64, size_of::<T>() as u64],
            subject: &|| format!("{items} x {}", core::any::type_name::<T>()),
            location: Some(location),
        };
        let collective =
            self.enter(token.endpoint(), Some(location)).moving(all.saturating_mul(size_of::<T>()));
        if size_of::<T>() == 0 {
            // Of elements without bytes there may be more than any loop comes to the end of.
            return collective.exchange(&purpose, &[], &mut []);
        }
        let packed: Vec<T> = source.iter().step_by(source_stride).take(all).copied().collect();
        let mut received = vec![T::zeroed(); all];
        collective.exchange(&purpose, bytemuck::cast_slice(&packed), bytemuck::cast_slice_mut(&mut received));
        into.iter_mut().step_by(stride).zip(received).for_each(|(into, item)| *into = item);
    }
}

impl<L: ThreadLevel> World<L> {
    /// Sends a part of `source` to each PE; see [`Team::alltoall`].
    #[track_caller]
    pub fn alltoall<T: PlainData>(&self, source: &[T], into: &mut [T]) {
        self.team().alltoall(self, source, into);
    }

    /// Sends a part of `source` to each PE, with strides; see [`Team::alltoalls`].
    #[track_caller]
    pub fn alltoalls<T: PlainData>(
        &self,
        source: &[T],
        source_stride: usize,
        into: &mut [T],
        stride: usize,
        items: usize,
    ) {
        self.team().alltoalls(self, source, source_stride, into, stride, items);
    }
}

/// Requires room for `items` elements, `stride` apart.
#[track_caller]
fn require_room(what: &str, len: usize, items: usize, stride: usize) {
    assert!(stride > 0, "the stride of the {what} is 0: elements would lie on each other");
    let needed = items.checked_sub(1).map_or(Some(0), |steps| steps.checked_mul(stride)?.checked_add(1));
    assert!(
        needed.is_some_and(|needed| needed <= len),
        "{items} elements at stride {stride} do not fit the {what}, which has {len}"
    );
}

impl Collective<'_> {
    /// Sends the k-th part of `source` to the member with rank k. Members at equal distances are served in one
    /// step, as many distances as scratch has room for. A member's part for itself goes no way.
    fn exchange(&self, purpose: &Purpose<'_>, source: &[u8], into: &mut [u8]) {
        let Self { team, endpoint, .. } = *self;
        let (members, rank) = (team.size(), team.rank());
        let part = source.len() / members;
        let own = rank * part..(rank + 1) * part;
        into[own.clone()].copy_from_slice(&source[own]);
        if members == 1 {
            return self.meet(purpose);
        }
        // Distances in a step, and bytes of a part in it.
        let is_one_node = team.leaders().len() == 1;
        let room = if is_one_node {
            SCRATCH_BYTES
        } else {
            SCRATCH_BYTES.min(MIRROR_BYTES / most_on_a_node(team)).max(GRAIN)
        };
        let width = (members - 1).min(room / GRAIN).max(1);
        let most = (room / width / GRAIN * GRAIN).min(part);
        for first in (1..members).step_by(width) {
            let distances = first..(first + width).min(members);
            let mut done = 0;
            loop {
                let bytes = most.min(part - done);
                let step = Step::next(self, width * bytes);
                for (slot, distance) in distances.clone().enumerate() {
                    let to = (rank + distance) % members * part + done;
                    step.contribute(endpoint, slot * bytes, &source[to..to + bytes]);
                }
                if is_one_node {
                    self.meet(purpose);
                } else {
                    let parts = Parts::new(team, step.meeting(), first, distances.len(), bytes);
                    self.meet_passing(purpose, Passing::Parts(&parts));
                    parts.read(team, endpoint, into, |from| from * part + done);
                }
                for (slot, distance) in distances.clone().enumerate() {
                    let from = (rank + members - distance) % members;
                    if team.nodes()[from] == team.node() {
                        let at = from * part + done;
                        step.read(self, from, slot * bytes, &mut into[at..at + bytes]);
                    }
                }
                done += bytes;
                if done == part {
                    break;
                }
            }
        }
    }
}
