//! Staging buffers: memory of the runtime through which members pass data to each other.
//!
//! Each member has staging buffers for a team. The first member of a node has more, for data from other nodes. A [`Step`] is one barrier
//! with the buffers that belong to it. A larger contribution goes in pieces, each with a step of its own; on one node it may go through
//! a [`Ring`] instead, without a barrier for each piece. [`Collective::staged`] does either.

use shmem_core::sync::{LINE_BYTES, MeetingLines};
use shmem_core::system::{MIRROR_BYTES, SCRATCH_BYTES, TeamArea};

use super::blocks::{Blocks, Shares, is_alone};
use super::buffer::SendBuf;
use super::ring::Ring;
use super::rooms::{Piece, Room, area, mirror, scratch};
use crate::group::{Collective, Meeting, Purpose};

/// One barrier, and the room for contributions that belongs to it: of a line where that is enough, or half of the scratch. There are
/// several of both, used in turn, so one barrier for each step is enough: who writes again has met, since, all who read.
pub(super) struct Step<'c> {
    collective: &'c Collective<'c>,
    meeting: u64,
    offset: usize,
    room: usize,
    /// What has come from other nodes, if there are any: then all is read where that lies.
    blocks: Option<Blocks<'c>>,
}

impl<'c> Step<'c> {
    /// The next barrier of a team, for which no member contributes more than `bytes` bytes: as many on all members.
    #[inline]
    pub(super) fn next(collective: &'c Collective<'c>, bytes: usize) -> Self {
        let (team, meeting) = (collective.team, collective.next_meeting());
        let half = (meeting % 2) as usize;
        let (offset, room) = if team.meeting() == Meeting::Lines && bytes <= LINE_BYTES {
            let lines = area(team) + core::mem::offset_of!(TeamArea, lines);
            (lines + MeetingLines::room(meeting), LINE_BYTES)
        } else if team.node_count() > 1 && is_alone(team) {
            // Where it would be put together with those of others of its node, its own block first.
            (mirror(team, half), MIRROR_BYTES)
        } else {
            (scratch(team, half), SCRATCH_BYTES)
        };
        Self { collective, meeting, offset, room, blocks: None }
    }

    /// Writes a part of the calling PE's contribution, before the barrier.
    #[inline]
    pub(super) fn write(&mut self, at: usize, from: SendBuf<'_>) {
        from.read(0, self.room(at, from.len()));
    }

    /// A part of the calling PE's contribution, to be written before the barrier.
    #[inline]
    pub(super) fn room(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        assert!(at + bytes <= self.room, "{bytes} bytes at {at} in a room of {}", self.room);
        let to = self.collective.endpoint.mine(self.offset + at);
        // SAFETY: the room has that many bytes, as just checked, of which any are a value, and nobody reads it now: its last readers
        // have since met this PE, at the barrier before this one. That holds whatever each has come for, because every barrier of a team
        // takes the rooms in turn by its number, and all arrive at each. No other thread of this PE is in a collective of the team
        // (`Team::enter`); this step is borrowed exclusively, and the barrier takes it, too.
        unsafe { core::slice::from_raw_parts_mut(to, bytes) }
    }

    /// Synchronises all members. `shares` says how much each rank has contributed, from the start of its room: the same on all members.
    #[inline]
    pub(super) fn meet(&mut self, purpose: &Purpose<'_>, shares: impl FnOnce() -> Shares) {
        let collective = self.collective;
        if collective.team.node_count() == 1 {
            return collective.meet(purpose);
        }
        let mut blocks = Blocks::new(collective.team, self.meeting, shares());
        collective.meet_with(purpose, &mut blocks);
        self.blocks = Some(blocks);
    }

    /// A part of a rank's contribution, after the barrier. It lies there until the next one.
    #[inline]
    pub(super) fn slice(&self, rank: usize, at: usize, bytes: usize) -> &[u8] {
        let Collective { team, endpoint, .. } = *self.collective;
        let (pe, offset, end) = match &self.blocks {
            None => (team.member(rank), self.offset, self.offset + self.room),
            Some(blocks) => (team.leader(team.node()), blocks.offset(team, rank), blocks.end(team)),
        };
        assert!(offset + at + bytes <= end, "{bytes} bytes at {at} of rank {rank}");
        let from = endpoint.mapped(pe, offset + at);
        let from = from.unwrap_or_else(|| unreachable!("what other nodes contribute is brought to this one"));
        // SAFETY: the room of a PE on this node, or the mirror of its first member, ends behind these bytes, as just checked; any bytes are
        // a value. The room's owner, whatever it has come for, writes it before a barrier and again for the next but one, which it cannot
        // come to before this PE has come to the one in between: then this step, which is borrowed, is no more. The same holds for a
        // mirror (`payload`).
        unsafe { core::slice::from_raw_parts(from, bytes) }
    }
}

/// How members give pieces to each other through rooms of the runtime.
pub(super) struct Staged {
    /// By the ring of the node, where there is one for these data; otherwise a step for each piece.
    pub(super) by_ring: bool,
    pub(super) pieces: usize,
    /// Bytes that a member writes of a piece, at most.
    pub(super) bytes: usize,
    /// Whether the calling PE writes.
    pub(super) writes: bool,
    /// Whether the calling PE reads.
    pub(super) reads: bool,
}

/// What a member does next with a piece, by its number.
pub(super) enum Turn<'t> {
    /// Write its part of it.
    Write(usize, &'t mut dyn Room),
    /// Read what the others have written.
    Read(usize, &'t dyn Piece),
}

impl Room for Step<'_> {
    #[inline]
    fn room(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        Step::room(self, at, bytes)
    }
}

impl Piece for Step<'_> {
    #[inline]
    fn slice(&self, rank: usize, at: usize, bytes: usize) -> &[u8] {
        Step::slice(self, rank, at, bytes)
    }
}

impl Collective<'_> {
    /// Lets members write pieces, and read those of the others: a ring has the next one under way while one is read. `shares` says how
    /// much each rank writes of a piece, between nodes.
    #[inline(always)]
    pub(super) fn staged(
        &self,
        purpose: &Purpose<'_>,
        Staged { by_ring, pieces, bytes, writes, reads }: Staged,
        shares: impl Fn(usize) -> Shares,
        mut turn: impl FnMut(Turn<'_>),
    ) {
        if !by_ring {
            for piece in 0..pieces {
                let mut step = Step::next(self, bytes);
                if writes {
                    turn(Turn::Write(piece, &mut step));
                }
                step.meet(purpose, || shares(piece));
                if reads {
                    turn(Turn::Read(piece, &step));
                }
            }
            return;
        }
        let mut ring = Ring::new(self, purpose);
        for piece in 0..pieces + ring.lag() {
            if writes && piece < pieces {
                let mut slot = ring.slot(piece);
                turn(Turn::Write(piece, &mut slot));
                slot.show();
            }
            if piece == 0 {
                self.meet(purpose);
            }
            if reads && let Some(before) = piece.checked_sub(ring.lag()) {
                turn(Turn::Read(before, &ring.chunk(before)));
                ring.take(before);
            }
        }
        if !reads {
            ring.take(pieces - 1);
        }
    }
}
