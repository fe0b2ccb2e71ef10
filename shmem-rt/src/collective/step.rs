//! Steps: what members contribute to one meeting, and read of each other behind it.

use bytemuck::Pod;
use shmem_core::context::Endpoint;
use shmem_core::sync::{LINE_BYTES, MeetingLines};
use shmem_core::system::{SCRATCH_BYTES, SystemArea, TeamArea};

use super::passing::{Blocks, Passing, scratch};

use crate::group::{Collective, Meeting, Purpose};

/// One meeting, and the room for contributions that belongs to it: of a line where that is enough, or half of
/// the scratch. There are several of both, used in turn, so one meeting for each step is enough: who writes
/// again has met, since, all who read.
pub(super) struct Step {
    meeting: u64,
    offset: usize,
    room: usize,
    /// What has come from other nodes, if there are any: then all is read where that lies.
    blocks: Option<Blocks>,
}

impl Step {
    /// The next meeting of a team, for which no member contributes more than `bytes` bytes: as many on all
    /// members.
    pub(super) fn next(collective: &Collective<'_>, bytes: usize) -> Self {
        let (team, meeting) = (collective.team, collective.next_meeting());
        let (offset, room) = if team.meeting() == Meeting::Lines && bytes <= LINE_BYTES {
            let area = core::mem::offset_of!(SystemArea, teams) + team.index() * size_of::<TeamArea>();
            let lines = area + core::mem::offset_of!(TeamArea, lines);
            (lines + MeetingLines::room(meeting), LINE_BYTES)
        } else {
            (scratch(team, (meeting % 2) as usize), SCRATCH_BYTES)
        };
        Self { meeting, offset, room, blocks: None }
    }

    /// The number of its meeting.
    pub(super) fn meeting(&self) -> u64 {
        self.meeting
    }

    /// Writes a part of the calling PE's contribution, before the meeting.
    #[inline]
    pub(super) fn contribute(&self, endpoint: &Endpoint, at: usize, data: &[u8]) {
        assert!(at + data.len() <= self.room, "{} bytes at {at} in a room of {}", data.len(), self.room);
        let to = endpoint.mine(self.offset + at);
        if let Some(word) = data.first_chunk::<8>().filter(|_| data.len() == 8) {
            // A store where a copy would be a call.
            // SAFETY: eight bytes of the room, as just checked, which nobody reads now, by the same argument as the copy
            // below.
            unsafe { to.cast::<[u8; 8]>().write(*word) };
            return;
        }
        // SAFETY: the room has that many bytes, as just checked, and nobody reads it now: its last readers
        // have since met this PE, at the meeting before this one. That holds whatever each has come for, because
        // every meeting of a team takes the rooms in turn by its number, and all arrive at each. No other
        // thread of this PE is in a collective of the team (`Team::enter`).
        unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    }

    /// Meets all members. `bytes_of` says how much each rank has contributed, from the start of its room: the same
    /// on all members.
    #[inline]
    pub(super) fn meet(
        &mut self,
        collective: &Collective<'_>,
        purpose: &Purpose<'_>,
        bytes_of: impl Fn(usize) -> usize,
    ) {
        if collective.team.leaders().len() == 1 {
            return collective.meet(purpose);
        }
        let blocks = Blocks::new(collective.team, self.meeting, bytes_of);
        collective.meet_passing(purpose, Passing::Blocks(&blocks));
        self.blocks = Some(blocks);
    }

    /// Reads a part of a rank's contribution, after the meeting.
    #[inline]
    pub(super) fn read(&self, collective: &Collective<'_>, rank: usize, at: usize, into: &mut [u8]) {
        let from = self.contribution(collective, rank, at, into.len());
        if into.len() == 8 {
            // A load where a copy would be a call.
            // SAFETY: eight bytes of the room (`contribution`), which nobody writes now, by the same argument as the
            // copy below.
            into.copy_from_slice(&unsafe { from.cast::<[u8; 8]>().read() });
            return;
        }
        // SAFETY: the room of a PE on this node has that many bytes (`contribution`). Its owner, whatever it has come
        // for, writes it before a meeting and again for the next but one, which it cannot come to before this PE
        // has come to the one in between. The same holds for a mirror (`passing`).
        unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
    }

    /// Combines numbers with those that a rank has contributed, after the meeting: theirs on the right.
    #[inline]
    pub(super) fn combine<N: Pod>(
        &self,
        collective: &Collective<'_>,
        rank: usize,
        at: usize,
        into: &mut [u8],
        op: impl Fn(N, N) -> N,
    ) {
        let from = self.contribution(collective, rank, at, into.len());
        let size = size_of::<N>();
        for (k, into) in into.chunks_exact_mut(size).enumerate() {
            // SAFETY: the room has `into.len()` bytes from there (`contribution`), and nobody writes it now, by the
            // argument in `read`; every bit pattern is a number.
            let theirs = unsafe { from.wrapping_add(k * size).cast::<N>().read_unaligned() };
            into.copy_from_slice(bytemuck::bytes_of(&op(bytemuck::pod_read_unaligned(into), theirs)));
        }
    }

    /// Where a part of a rank's contribution lies on this node.
    #[inline]
    fn contribution(&self, collective: &Collective<'_>, rank: usize, at: usize, bytes: usize) -> *const u8 {
        let Collective { team, endpoint, .. } = *collective;
        assert!(at + bytes <= self.room, "{bytes} bytes at {at} in a room of {}", self.room);
        let (pe, offset) = match &self.blocks {
            None => (team.members()[rank], self.offset),
            Some(blocks) => (team.leaders()[team.node()], blocks.offset(team, rank)),
        };
        let from = endpoint.mapped(pe, offset + at);
        from.unwrap_or_else(|| unreachable!("what other nodes contribute is brought to this one"))
    }
}
