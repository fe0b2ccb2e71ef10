//! Steps: what members contribute to one meeting, and read of each other behind it.

use core::ops::Range;

use bytemuck::Pod;
use shmem_core::context::Endpoint;
use shmem_core::shared;
use shmem_core::sync::{LINE_BYTES, MeetingLines};
use shmem_core::system::{MIRROR_BYTES, SCRATCH_BYTES, SystemArea, TeamArea};

use super::blocks::{Blocks, Shares, is_alone};
use super::given::{Given, Taken};
use super::rooms::{mirror, scratch};
use super::tree;

use crate::group::{Collective, Meeting, Purpose};

/// One meeting, and the room for contributions that belongs to it: of a line where that is enough, or half of
/// the scratch. There are several of both, used in turn, so one meeting for each step is enough: who writes
/// again has met, since, all who read.
pub(super) struct Step<'c> {
    meeting: u64,
    offset: usize,
    room: usize,
    /// What has come from other nodes, if there are any: then all is read where that lies.
    blocks: Option<Blocks<'c>>,
}

impl<'c> Step<'c> {
    /// The next meeting of a team, for which no member contributes more than `bytes` bytes: as many on all
    /// members.
    pub(super) fn next(collective: &Collective<'c>, bytes: usize) -> Self {
        let (team, meeting) = (collective.team, collective.next_meeting());
        let (offset, room) = if team.meeting() == Meeting::Lines && bytes <= LINE_BYTES {
            let area = core::mem::offset_of!(SystemArea, teams) + team.index() * size_of::<TeamArea>();
            let lines = area + core::mem::offset_of!(TeamArea, lines);
            (lines + MeetingLines::room(meeting), LINE_BYTES)
        } else if team.node_count() > 1 && is_alone(team) {
            // Where it would be put together with those of others of its node, its own block first.
            (mirror(team, (meeting % 2) as usize), MIRROR_BYTES)
        } else {
            (scratch(team, (meeting % 2) as usize), SCRATCH_BYTES)
        };
        Self { meeting, offset, room, blocks: None }
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
        unsafe { shared::copy(to, data.as_ptr(), data.len()) };
    }

    /// A part of the calling PE's contribution, to be written before the meeting.
    pub(super) fn room(&mut self, endpoint: &Endpoint, at: usize, bytes: usize) -> &mut [u8] {
        assert!(at + bytes <= self.room, "{bytes} bytes at {at} in a room of {}", self.room);
        // SAFETY: the room has that many bytes, as just checked, of which any are a value, and nobody else reads or writes it
        // now, by the same argument as in `contribute`; this step is borrowed exclusively, and a meeting takes it, too.
        unsafe { core::slice::from_raw_parts_mut(endpoint.mine(self.offset + at), bytes) }
    }

    /// As [`contribute`](Self::contribute), some of what the calling PE gives.
    pub(super) fn give(&self, endpoint: &Endpoint, at: usize, given: Given<'_>, part: Range<usize>) {
        let there = match given {
            Given::Private(bytes) => return self.contribute(endpoint, at, &bytes[part]),
            Given::There(there) => there,
        };
        assert!(at + part.len() <= self.room, "{} bytes at {at} in a room of {}", part.len(), self.room);
        let (from, to) = (there.start_of(part.start, part.len()), endpoint.mine(self.offset + at));
        // SAFETY: the room has that many bytes, as just checked, and nobody reads it now, by the same argument as in
        // `contribute`. As many are read of an object of this PE that is reserved (`There::own`), which others may write.
        unsafe { shared::copy(to, from, part.len()) };
    }

    /// Meets all members. `shares` says how much each rank has contributed, from the start of its room: the same
    /// on all members.
    #[inline]
    pub(super) fn meet(
        &mut self,
        collective: &Collective<'c>,
        purpose: &Purpose<'_>,
        shares: impl FnOnce() -> Shares,
    ) {
        if collective.team.node_count() == 1 {
            return collective.meet(purpose);
        }
        let mut blocks = Blocks::new(collective.team, self.meeting, shares());
        collective.meet_passing(purpose, &mut blocks);
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
        unsafe { shared::copy(into.as_mut_ptr(), from, into.len()) };
    }

    /// As [`read`](Self::read), to a place of what the calling PE takes.
    pub(super) fn take(
        &self,
        collective: &Collective<'_>,
        rank: usize,
        at: usize,
        taken: &mut Taken<'_>,
        place: Range<usize>,
    ) {
        let there = match taken {
            Taken::Private(bytes) => return self.read(collective, rank, at, &mut bytes[place]),
            Taken::There(there) => *there,
        };
        let (from, bytes) = (self.contribution(collective, rank, at, place.len()), place.len());
        let to = there.start_of(place.start, bytes);
        // SAFETY: the room has that many bytes (`contribution`), which nobody writes now, by the same argument as in `read`. As
        // many are written of an object of this PE that is reserved (`There::own`), which others may read and write.
        unsafe { shared::copy(to, from, bytes) };
    }

    /// Combines the numbers that the first ranks have contributed, after the meeting, by the tree: as many as in `into`,
    /// from the start of their rooms, which on one node are aligned for them.
    pub(super) fn fold<N: Pod>(
        &self,
        collective: &Collective<'_>,
        ranks: usize,
        into: &mut [N],
        partials: &mut [N],
        op: &impl Fn(N, N) -> N,
    ) {
        let bytes = size_of_val(into);
        let operand = |rank| -> &[N] {
            let from = self.contribution(collective, rank, 0, bytes);
            // SAFETY: the room has so many bytes (`contribution`), and nobody writes it before this returns, by the
            // argument in `read`: there is no meeting in between.
            let contributed = unsafe { core::slice::from_raw_parts(from, bytes) };
            bytemuck::cast_slice(contributed)
        };
        if ranks == 2 {
            // The usual small case, without any steps: the tree of two.
            let (left, right): (&[N], &[N]) = (operand(0), operand(1));
            return into.iter_mut().zip(left.iter().zip(right)).for_each(|(into, (l, r))| *into = op(*l, *r));
        }
        tree::fold(ranks, operand, into, partials, op);
    }

    /// Where a part of a rank's contribution lies on this node.
    #[inline]
    fn contribution(&self, collective: &Collective<'_>, rank: usize, at: usize, bytes: usize) -> *const u8 {
        let Collective { team, endpoint, .. } = *collective;
        assert!(at + bytes <= self.room, "{bytes} bytes at {at} in a room of {}", self.room);
        let (pe, offset) = match &self.blocks {
            None => (team.member(rank), self.offset),
            Some(blocks) => (team.leader(team.node()), blocks.offset(team, rank)),
        };
        let from = endpoint.mapped(pe, offset + at);
        from.unwrap_or_else(|| unreachable!("what other nodes contribute is brought to this one"))
    }
}
