//! broadcast.

use std::panic::Location;

use shmem_core::context::{Contribution, Initiator};
use shmem_core::observe::Family;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::system::SCRATCH_BYTES;

use super::step::Step;
use super::subject::Subject;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Gives every member what `root` has. [`Contribution`] says what `data` can be: `&mut x` is changed in place, a value `x`
    /// comes back as what the root's is, and of a symmetric object `&OBJECT` the own copy is changed. It has the same
    /// length on all members.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let first = world.pe(0)?;
    /// let seed = world.broadcast(u64::from(std::process::id()), first);
    /// let mut table = vec![0.0; 1000];
    /// world.broadcast(&mut table, first);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or an object is one of another team.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_broadcast`.
    #[track_caller]
    pub fn broadcast<X, R>(&self, token: &(impl Initiator + ?Sized), data: X, root: Pe) -> R
    where
        X: Contribution<R>,
    {
        let (endpoint, location) = (token.endpoint(), Location::caller());
        let rank = self
            .rank_of(root)
            .unwrap_or_else(|| panic!("the root of a broadcast, PE {root}, is not a member of the team"));
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let collective = self.enter(endpoint, Some(location));
        data.change(token, |data| {
            let bytes = size_of_val(data);
            let purpose = Purpose {
                operation: Operation::of(Family::Broadcast),
                opens: false,
                arguments: &subject.arguments([root.number() as u64, bytes as u64]),
                subject: &|| format!("{} from PE {root}", subject.name_or(|| show_size(bytes as u64))),
                location: Some(location),
            };
            collective.moving(bytes).spread(&purpose, bytemuck::cast_slice_mut(data), rank);
        })
    }
}

impl<L: ThreadLevel> World<L> {
    /// Gives every PE what `root` has; see [`Team::broadcast`].
    #[track_caller]
    pub fn broadcast<X: Contribution<R>, R>(&self, data: X, root: Pe) -> R {
        self.team().broadcast(self, data, root)
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
