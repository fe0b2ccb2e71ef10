//! broadcast.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::data::Movable;
use shmem_core::observe::Family;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::system::SCRATCH_BYTES;

use super::step::Step;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Gives every member what `root` has in `data`, a value or a slice of the same length on all.
    ///
    /// # Panics
    ///
    /// If `root` is not a member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_broadcast`.
    #[track_caller]
    pub fn broadcast<T>(&self, token: &(impl Initiator + ?Sized), data: &mut T, root: Pe)
    where
        T: Movable + ?Sized,
    {
        let location = Location::caller();
        let rank = self
            .rank_of(root)
            .unwrap_or_else(|| panic!("the root of a broadcast, PE {root}, is not a member of the team"));
        let endpoint = token.endpoint();
        let bytes = size_of_val(data);
        let subject = || format!("{} from PE {root}", show_size(bytes as u64));
        let purpose = Purpose {
            operation: Operation::of(Family::Broadcast),
            opens: false,
            arguments: &[root.number() as u64, bytes as u64],
            subject: &subject,
            location: Some(location),
        };
        self.enter(endpoint, Some(location)).spread(&purpose, bytes_of(data), rank);
    }
}

impl<L: ThreadLevel> World<L> {
    /// Gives every PE what `root` has in `data`; see [`Team::broadcast`].
    #[track_caller]
    pub fn broadcast<T: Movable + ?Sized>(&self, data: &mut T, root: Pe) {
        self.team().broadcast(self, data, root);
    }
}

impl Collective<'_> {
    /// Gives every member what the one with a rank has in `data`, as many bytes on all.
    fn spread(&self, purpose: &Purpose<'_>, data: &mut [u8], rank: usize) {
        let Self { team, endpoint, .. } = *self;
        // At least one piece, so that empty data meets as well.
        let empty = data.is_empty().then(Default::default);
        for piece in data.chunks_mut(SCRATCH_BYTES).chain(empty) {
            let mut step = Step::next(self, piece.len());
            if rank == team.rank() {
                step.contribute(endpoint, 0, piece);
            }
            step.meet(self, purpose, |from| if from == rank { piece.len() } else { 0 });
            // The root writes the next piece while the others read this one.
            if rank != team.rank() {
                step.read(self, rank, 0, piece);
            }
        }
    }

    /// What the first member says, of any length.
    pub(super) fn said_by_first(&self, purpose: &Purpose<'_>, said: &[u8]) -> Vec<u8> {
        let mut length = (said.len() as u64).to_le_bytes();
        self.spread(purpose, &mut length, 0);
        let mut all = vec![0; u64::from_le_bytes(length) as usize];
        if self.team.rank() == 0 {
            all.copy_from_slice(said);
        }
        self.spread(purpose, &mut all, 0);
        all
    }
}

/// The bytes of plain data.
pub(super) fn bytes_of<T: Movable + ?Sized>(data: &mut T) -> &mut [u8] {
    let (bytes, start) = (size_of_val(data), core::ptr::from_mut(data).cast());
    // SAFETY: `data` is an exclusive reference to `bytes` bytes of a type without padding, for
    // which every bit pattern is a value.
    unsafe { core::slice::from_raw_parts_mut(start, bytes) }
}

/// The items of plain data.
pub(super) fn items_of<T: Movable + ?Sized>(data: &T) -> &[T::Item] {
    // SAFETY: `data` is a reference to that many items, one behind the other (`Contents`).
    unsafe { core::slice::from_raw_parts(data.start_of(), data.len_of()) }
}
