//! collect and fcollect: what all members have, on all of them.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::data::{Movable, PlainData};
use shmem_core::observe::Family;

use super::broadcast::items_of;
use super::passing::room_of_each;
use super::step::Step;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Writes what all members have, of the same length on each, to `all` in the order of ranks.
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
    /// If `all` has not room for exactly that.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fcollect`.
    #[track_caller]
    pub fn fcollect<T, I>(&self, token: &(impl Initiator + ?Sized), mine: &T, all: &mut [I])
    where
        T: Movable<Item = I> + ?Sized,
    {
        let location = Location::caller();
        let (mine, members) = (items_of(mine), self.size());
        let items = mine.len();
        assert!(
            Some(all.len()) == items.checked_mul(members),
            "{members} members have {items} elements each, the destination has {}",
            all.len()
        );
        let subject = || format!("{items} x {}", core::any::type_name::<T::Item>());
        let purpose = Purpose {
            operation: Operation::of(Family::Fcollect),
            opens: false,
            arguments: &[items as u64, size_of::<T::Item>() as u64],
            subject: &subject,
            location: Some(location),
        };
        let collective = self.enter(token.endpoint(), Some(location));
        collective.gather_equal(&purpose, bytemuck::cast_slice(mine), bytemuck::cast_slice_mut(all));
    }

    /// What all members have, of any length on each, one behind the other in the order of ranks. Where that
    /// of a member begins is the [`sum_exscan`](Self::sum_exscan) of the lengths.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_collect`.
    #[track_caller]
    pub fn collect<T, I>(&self, token: &(impl Initiator + ?Sized), mine: &T) -> Vec<I>
    where
        T: Movable<Item = I> + ?Sized,
    {
        let location = Location::caller();
        let mine = items_of(mine);
        let subject = || format!("{} x {}", mine.len(), core::any::type_name::<T::Item>());
        let purpose = Purpose {
            operation: Operation::of(Family::Collect),
            opens: false,
            arguments: &[size_of::<T::Item>() as u64],
            subject: &subject,
            location: Some(location),
        };
        let collective = self.enter(token.endpoint(), Some(location));
        if size_of::<T::Item>() == 0 {
            // There is nothing to bring but how many there are.
            let mut lengths = vec![0_u64; self.size()];
            let length = [mine.len() as u64];
            collective.gather_equal(
                &purpose,
                bytemuck::bytes_of(&length),
                bytemuck::cast_slice_mut(&mut lengths),
            );
            let all = lengths.iter().fold(0, |all: u64, length| all.saturating_add(*length));
            return without_bytes(all as usize);
        }
        let said = collective.gather(&purpose, bytemuck::cast_slice(mine)).concat();
        let mut all = vec![bytemuck::Zeroable::zeroed(); said.len() / size_of::<T::Item>()];
        bytemuck::cast_slice_mut(&mut all).copy_from_slice(&said);
        all
    }
}

/// So many values that have no bytes. (The standard library makes them one by one, and there may be more than any loop
/// comes to the end of.)
#[expect(clippy::uninit_vec, reason = "a value without bytes has none that could be missing")]
fn without_bytes<T: PlainData>(count: usize) -> Vec<T> {
    assert!(size_of::<T>() == 0, "a value with bytes is made one by one");
    let mut values = Vec::new();
    // SAFETY: a vector of values without bytes has room for any number of them (`Vec::capacity`), and they are there as
    // soon as they are counted: there is no byte to write, and every pattern of none is a value (`PlainData`).
    unsafe { values.set_len(count) };
    values
}

impl<L: ThreadLevel> World<L> {
    /// Writes what all PEs have, of the same length on each, to `all`; see [`Team::fcollect`].
    #[track_caller]
    pub fn fcollect<T: Movable<Item = I> + ?Sized, I>(&self, mine: &T, all: &mut [I]) {
        self.team().fcollect(self, mine, all);
    }

    /// What all PEs have, of any length on each; see [`Team::collect`].
    #[track_caller]
    pub fn collect<T: Movable<Item = I> + ?Sized, I>(&self, mine: &T) -> Vec<I> {
        self.team().collect(self, mine)
    }
}

impl Collective<'_> {
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
