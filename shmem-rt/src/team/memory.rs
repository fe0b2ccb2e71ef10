//! Allocation by the members of a team.
//!
//! All PEs allocate from the heaps of partitions in lockstep, so a team cannot use these heaps. Instead every PE has a range of
//! memory for teams, and a list of [free](crate::state::team_memory) parts of that range. Members agree on a common offset in
//! rounds of proposals.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::heap::{HeapError, MAX_ALIGN, MIN_ALIGN};
use shmem_core::object::SymBox;
use shmem_core::partition::show_size;
use shmem_core::segment_table::SYSTEM;
use shmem_core::symmetric_data::Contents;
use shmem_core::text::counted;

use super::TeamBox;
use crate::caller::at;
use crate::collective::Agreed;
use crate::error::{Result, TeamError};
use crate::group::{CallSignature, Team};
use crate::initial_contents::Initial;

impl Team {
    /// Allocates an object on all members, in the memory of teams. Collective over the team.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let odd = world.my_pe() % 2;
    /// let team = world.team().split_by(world, Some(odd as u64), 0, &Default::default())?;
    /// let team = team.expect("every PE names a colour");
    /// let field = team.alloc(world, shmem::zeroed::<f64>(1000))?;
    /// team.local(world, &field, |field| field.fill(1.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If items are aligned to more than 2 MiB, or no range of that size is free on all members: the same error on every member.
    /// `SHMEM_TEAM_SIZE` says how much memory there is.
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
        let location = Location::caller();
        let subject = || format!("{} in the memory of teams", show_size(bytes as u64));
        let arguments = [bytes as u64, item as u64, align as u64];
        let signature = CallSignature::of_memory("alloc", &arguments, &subject);
        let agreed = self.agree_on(endpoint, &signature);
        // Slots of PEs are aligned to `MAX_ALIGN` only.
        if align > MAX_ALIGN {
            return Err(HeapError::Alignment { align }.into());
        }
        agreed.reclaim_objects();
        // An object of 0 bytes takes 1 byte, so that each object has a place of its own.
        let range = agreed.place(bytes.max(1), align)?;
        let offset = range.start;
        let kind = core::any::type_name::<<I::Contents as Contents>::Item>();
        let name = format!("{len} x {kind}, allocated by a team at {}", at(location));
        self.job.teams.room.lock().name(offset, bytes, name);
        let id = self.uses.insert_object(range);
        // SAFETY: `offset` is the start of a block of `len` items in this PE's slot. It is a multiple of `align`; the slot is
        // aligned to `MAX_ALIGN`, and `align` is at most that. This PE's list of free ranges (`room`) says that the block was free.
        // Transfers of other PEs to an earlier object there were complete before those PEs agreed with this PE to free the object
        // (`reclaim_objects`).
        unsafe { initial.write(endpoint.mine(offset).cast()) };
        agreed.again();
        let released = std::sync::Arc::clone(&self.uses.released);
        // SAFETY: all members are in this call, with equal sizes and alignment, because they have compared their call signatures
        // (`Agreed`). If item types differ, any bytes are a value of each. All members have taken the same range, because `place`
        // returns only if all proposals were equal. All gave the object the same ID, because each counts the team's objects in the
        // order of agreed calls. All had initialised their copies before the exchange in `again`. Only members get the box, and the
        // box names only members (`TeamBox::on`).
        let object = unsafe { SymBox::__new(id, SYSTEM, offset, len, released) };
        Ok(TeamBox::new(object, std::sync::Arc::clone(&self.uses), endpoint.me()))
    }
}

impl Agreed<'_> {
    /// Frees the objects that all members have dropped.
    fn reclaim_objects(&self) {
        let team = self.collective.team;
        let mut gone = team.uses.dropped_objects();
        // The quiet must follow the reading of `gone`, because another thread may have written to an object just before dropping
        // it.
        team.job.quiet_all();
        self.reduce(bytemuck::cast_slice_mut(&mut gone), |a: u64, b| a & b);
        let ranges = team.uses.take_objects(&gone);
        ranges.into_iter().for_each(|range| team.job.teams.room.lock().give(range));
    }

    /// Takes the first range that is free on all members.
    #[track_caller]
    fn place(&self, bytes: usize, align: usize) -> Result<std::ops::Range<usize>> {
        if let Some(range) = self.collective.place(self.signature, bytes, align) {
            return Ok(range);
        }
        let team = self.collective.team;
        let room = &team.job.teams.room;
        // The lock is released during the exchange, so other teams may take memory meanwhile.
        let mine = room.lock().free_bytes() as u64;
        let free = self.tell([mine]);
        let fullest = (0..free.len()).min_by_key(|rank| free[*rank]).unwrap_or_default();
        let (pe, free, size) = (team.member(fullest).number(), free[fullest][0], room.lock().area.len());
        Err(TeamError::Refused(format!(
            "the memory of teams has no room for {} at one place of all members: PE {pe} has {free} free of {size}; drop \
             objects of teams on all members, or raise SHMEM_TEAM_SIZE",
            counted(bytes, "byte")
        ))
        .into())
    }
}
