//! collect and fcollect: what all members have, on all of them.

use std::panic::Location;

use shmem_core::context::{Collected, Initiator};
use shmem_core::data::{PlainData, zeroed_items};
use shmem_core::observe::Family;

use super::passing::room_of_each;
use super::step::Step;
use super::subject::Subject;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Writes what all members have, of the same length on each, to `all` in the order of ranks. `mine` is a reference to
    /// a value, a slice, a `Vec` or a `Box` of a slice, or to a symmetric object: then it is the calling PE's own copy, on all
    /// members that of the same object.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let mut loads = vec![0.0; world.n_pes()];
    /// world.fcollect(&0.75, &mut loads);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `all` has not room for exactly that, or an object is one of another team.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fcollect`.
    #[track_caller]
    pub fn fcollect<T, I>(&self, token: &(impl Initiator + ?Sized), mine: &T, all: &mut [I])
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
    {
        let (endpoint, members, location) = (token.endpoint(), self.size(), Location::caller());
        let subject = Subject::of::<I>(self, mine.place(token));
        let collective = self.enter(endpoint, Some(location));
        let unfit = mine.read(token, |mine| {
            let items = mine.len();
            if items.checked_mul(members) != Some(all.len()) {
                return Some(items);
            }
            let purpose = Purpose {
                operation: Operation::of(Family::Fcollect),
                opens: false,
                arguments: &subject.arguments([items as u64, size_of::<I>() as u64]),
                subject: &|| subject.show(items),
                location: Some(location),
            };
            collective.moving(size_of_val(mine)).gather_equal(
                &purpose,
                bytemuck::cast_slice(mine),
                bytemuck::cast_slice_mut(all),
            );
            None
        });
        if let Some(items) = unfit {
            panic!("{members} members have {items} elements each, the destination has {}", all.len());
        }
    }

    /// What all members have, of any length on each, one behind the other in the order of ranks. Where that
    /// of a member begins is the [`sum_exscan`](Self::sum_exscan) of the lengths. `mine` is as in
    /// [`fcollect`](Self::fcollect).
    ///
    /// # Panics
    ///
    /// If an object is one of another team.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_collect`.
    #[track_caller]
    pub fn collect<T, I>(&self, token: &(impl Initiator + ?Sized), mine: &T) -> Vec<I>
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
    {
        let (endpoint, location) = (token.endpoint(), Location::caller());
        let subject = Subject::of::<I>(self, mine.place(token));
        let collective = self.enter(endpoint, Some(location));
        mine.read(token, |mine| {
            let purpose = Purpose {
                operation: Operation::of(Family::Collect),
                opens: false,
                arguments: &subject.arguments([size_of::<I>() as u64]),
                subject: &|| subject.show(mine.len()),
                location: Some(location),
            };
            collective.moving(size_of_val(mine)).collect(&purpose, mine)
        })
    }
}

impl<L: ThreadLevel> World<L> {
    /// Writes what all PEs have, of the same length on each, to `all`; see [`Team::fcollect`].
    #[track_caller]
    pub fn fcollect<T: Collected<I> + ?Sized, I: PlainData>(&self, mine: &T, all: &mut [I]) {
        self.team().fcollect(self, mine, all);
    }

    /// What all PEs have, of any length on each; see [`Team::collect`].
    #[track_caller]
    pub fn collect<T: Collected<I> + ?Sized, I: PlainData>(&self, mine: &T) -> Vec<I> {
        self.team().collect(self, mine)
    }
}

impl Collective<'_> {
    fn collect<I: PlainData>(&self, purpose: &Purpose<'_>, mine: &[I]) -> Vec<I> {
        if size_of::<I>() == 0 {
            // There is nothing to bring but how many there are.
            let mut lengths = vec![0_u64; self.team.size()];
            let length = [mine.len() as u64];
            self.gather_equal(purpose, bytemuck::bytes_of(&length), bytemuck::cast_slice_mut(&mut lengths));
            let all = lengths.iter().fold(0, |all: u64, length| all.saturating_add(*length));
            return zeroed_items(all as usize);
        }
        let said = self.gather(purpose, bytemuck::cast_slice(mine)).concat();
        let mut all = zeroed_items(said.len() / size_of::<I>());
        bytemuck::cast_slice_mut(&mut all).copy_from_slice(&said);
        all
    }

    /// Writes what each member has, as many bytes as the others, to `all` in the order of ranks.
    pub(crate) fn gather_equal(&self, purpose: &Purpose<'_>, mine: &[u8], all: &mut [u8]) {
        let Self { team, endpoint, .. } = *self;
        let (rank, bytes) = (team.rank(), mine.len());
        let (most, members) = room_of_each(team);
        let empty: Option<&[u8]> = mine.is_empty().then_some(&[]);
        for (k, piece) in mine.chunks(most).chain(empty).enumerate() {
            for first in (0..team.size()).step_by(members) {
                let ranks = first..(first + members).min(team.size());
                let mut step = Step::next(self, piece.len());
                if ranks.contains(&rank) {
                    step.contribute(endpoint, 0, piece);
                }
                step.meet(self, purpose, |from| if ranks.contains(&from) { piece.len() } else { 0 });
                // Each begins with itself, if it can, so that not all read the same.
                let (before, behind) = (ranks.start..rank.clamp(ranks.start, ranks.end), ranks.end);
                for from in (before.end..behind).chain(before) {
                    let start = from * bytes + k * most;
                    step.read(self, from, 0, &mut all[start..start + piece.len()]);
                }
            }
        }
    }
}
