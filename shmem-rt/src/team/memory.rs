//! Allocation by the members of a team.
//!
//! The heaps of partitions are allocated by all PEs in lockstep, so that nothing need be exchanged. A team
//! cannot use them: the others do not know of it. Every PE has a range of memory for teams, of which it
//! knows itself what is [free](super::room); the members come to a common place in rounds.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::data::Contents;
use shmem_core::heap::MIN_ALIGN;
use shmem_core::object::SymBox;
use shmem_core::observe::Family;
use shmem_core::partition::show_size;
use shmem_core::segment::SYSTEM;

use super::{Collective, Team, TeamBox, TeamError};
use crate::collective::{Number, Operation, Purpose};
use crate::error::Result;
use crate::initial::Initial;

impl Team {
    /// Allocates an object on the members, in the memory of teams. Collective over the team; PEs outside
    /// take no part.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let odd = world.my_pe() % 2;
    /// let team = world.team().split_by(world, Some(odd as u64), 0, &Default::default())?;
    /// let team = team.expect("every PE names a colour");
    /// let field = team.alloc(world, shmem::zeroed::<f64>(1000))?;
    /// field.local(world, &team, |field| field.fill(1.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If no place of that size is free on all members: the same error on each of them. `SHMEM_TEAM_SIZE`
    /// says how much memory there is.
    #[track_caller]
    pub fn alloc<I: Initial>(
        &self,
        token: &(impl Initiator + ?Sized),
        initial: I,
    ) -> Result<TeamBox<I::Contents>> {
        let endpoint = token.endpoint();
        let len = initial.items();
        let item = size_of::<<I::Contents as Contents>::Item>();
        let align = align_of::<<I::Contents as Contents>::Item>().max(MIN_ALIGN);
        let bytes = len.saturating_mul(item);
        let subject = || format!("{} in the memory of teams", show_size(bytes as u64));
        let purpose = Purpose {
            operation: Operation::named(Family::Memory, "alloc"),
            opens: false,
            arguments: &[bytes as u64, align as u64],
            subject: &subject,
            location: Some(Location::caller()),
        };
        let collective = self.enter(endpoint);
        collective.compare(&purpose);
        collective.reclaim_objects(&purpose);
        // An object of no bytes takes up some, so that no two lie in one place.
        let range = collective.place(&purpose, bytes.max(1), align)?;
        let offset = range.start;
        let id = self.uses.insert_object(range);
        // SAFETY: `offset` starts a block of `len` aligned items in this PE's place, which nobody else uses:
        // it was free, and what was under way to it is complete (`reclaim_objects`).
        unsafe { initial.write(endpoint.mine(offset).cast()) };
        collective.meet(&purpose);
        let released = std::sync::Arc::clone(self.uses.released());
        // SAFETY: every member has reserved `len` items there under this number, and initialised them; the
        // box is given to members only, and names members only (`TeamBox::on`).
        let object = unsafe { SymBox::__new(id, SYSTEM, offset, len, released) };
        Ok(TeamBox::new(object, std::sync::Arc::clone(&self.uses)))
    }
}

impl Collective<'_> {
    /// Meets, and frees the objects that all members have dropped.
    fn reclaim_objects(&self, purpose: &Purpose<'_>) {
        let Self { team, .. } = *self;
        let mut gone = team.uses.dropped_objects();
        // Not before: another thread may have written an object and dropped it just now.
        team.job.quiet_all();
        self.reduce_for(purpose, bytemuck::cast_slice_mut(&mut gone), |a: u64, b| a & b);
        let ranges = team.uses.take_objects(&gone);
        ranges.into_iter().for_each(|range| team.job.room().give(range));
    }

    /// The first place that all members have free, taken on each.
    fn place(&self, purpose: &Purpose<'_>, bytes: usize, align: usize) -> Result<std::ops::Range<usize>> {
        const NOWHERE: u64 = u64::MAX;
        let job = &self.team.job;
        let mut mine = job.room().propose(0, bytes, align);
        loop {
            let proposal = mine.as_ref().map_or(NOWHERE, |range| range.start as u64);
            // The highest, and what is the lowest with its bits turned.
            let mut ends = [proposal, !proposal];
            self.reduce_for(purpose, bytemuck::cast_slice_mut(&mut ends), u64::greater);
            let (highest, lowest) = (ends[0], !ends[1]);
            match mine.take() {
                Some(range) if highest == lowest => return Ok(range),
                Some(range) if range.start as u64 == highest => mine = Some(range),
                other => other.into_iter().for_each(|range| job.room().give(range)),
            }
            if highest == NOWHERE {
                let free = self.tell(purpose, [job.room().free_bytes() as u64]);
                let fullest = (0..free.len()).min_by_key(|rank| free[*rank]).unwrap_or_default();
                return Err(TeamError::NoRoom {
                    bytes,
                    pe: self.team.members[fullest].number(),
                    free: free[fullest][0] as usize,
                    size: job.room().bytes(),
                }
                .into());
            }
            if mine.is_none() {
                mine = job.room().propose(highest as usize, bytes, align);
            }
        }
    }
}
