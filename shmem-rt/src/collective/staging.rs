//! Staging: members of a node pass data to each other, through memory of the runtime or in place.
//!
//! A [`BarrierRoom`] is one barrier with its buffers; long data take one barrier for each piece. A [`Ring`] has a circular buffer
//! on each member, and needs no barrier for each piece. [`Collective::staged`] uses either. Symmetric objects are read and written
//! in place (`Collective::copy_on`).
//!
//! **Rings.** All members step through the same chunks (contents of one slot of a buffer) in the same order, and mark even those
//! chunks as taken that they do not read. The first chunk may be written before the opening barrier, since it is in the member's
//! own slot. Each member keeps the three rules of rings ([`RingWords`]) whatever the others do, so no slot is read while it is
//! written. Where PEs share cores, waking a PE costs more than a chunk. So a member wakes the others late, by ringing their
//! doorbells: with its next chunk, before it waits, and at the end.

use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Range;

use shmem_core::heap::MAX_ALIGN;
use shmem_core::object::Extent;
use shmem_core::pe::Pe;
use shmem_core::planted_fault::mutant;
use shmem_core::sync::{BarrierLines, LINE_BYTES, RingWords};
use shmem_core::system_area::{
    CHUNK_BYTES, ChunkCounters, RECEIVE_BUFFER_BYTES, RING_BYTES, SCRATCH_BYTES, TeamArea, WINDOW_BYTES,
};
use shmem_launch::env::CollectiveWay as Way;

use super::barrier_payload::{Blocks, Shares, address_on, area, is_alone, receive_buffer, scratch};
use super::choose::Pattern;
use super::user_buffer::RecvBuf;
use crate::group::{BarrierKind, CallSignature, Collective};

/// One barrier with a buffer for the calling PE's contribution. Short data use a cache line of the barrier's flags. Other data use
/// the scratch buffer or, on a PE alone on its node, the receive buffer. Each buffer exists twice, and barriers alternate between
/// both. So one barrier per piece is enough, because all readers of a buffer enter a barrier before its owner writes there again.
pub(super) struct BarrierRoom<'c> {
    collective: &'c Collective<'c>,
    count: u64,
    offset: usize,
    room: usize,
    /// Contributions of all nodes in the receive buffer; None on one node, and before the barrier.
    blocks: Option<Blocks<'c>>,
}

impl<'c> BarrierRoom<'c> {
    /// Returns the next barrier of a team. Each member contributes at most `bytes` bytes; all members pass the same limit.
    #[inline]
    pub(super) fn next(collective: &'c Collective<'c>, bytes: usize) -> Self {
        let (team, count) = (collective.team, collective.next_barrier());
        let half = (count % 2) as usize;
        let (offset, room) = if team.barrier_kind == BarrierKind::Lines && bytes <= LINE_BYTES {
            let lines = area(team) + core::mem::offset_of!(TeamArea, lines);
            (lines + BarrierLines::room(count), LINE_BYTES)
        } else if team.node_count() > 1 && is_alone(team) {
            // The own block is the first in the receive buffer.
            (receive_buffer(team, half), RECEIVE_BUFFER_BYTES)
        } else {
            (scratch(team, half), SCRATCH_BYTES)
        };
        Self { collective, count, offset, room, blocks: None }
    }

    /// Enters the barrier, and waits for all members. `shares` returns the bytes that each rank has contributed, equal on all
    /// members.
    #[inline]
    pub(super) fn meet(&mut self, signature: &CallSignature<'_>, shares: impl FnOnce() -> Shares) {
        let collective = self.collective;
        if collective.team.node_count() == 1 {
            return collective.meet(signature);
        }
        let mut blocks = Blocks::new(collective.team, self.count, shares());
        collective.barrier_with(signature, &mut blocks);
        self.blocks = Some(blocks);
    }

    /// Returns the calling PE's buffer, to be written before the barrier. No PE reads the PE's own part of it now, because the last
    /// readers have since entered the barrier before this one. That holds for all operations, because a barrier's number selects
    /// the buffer, and all members enter every barrier. No other thread of this PE is in a collective of the team (`Team::enter`).
    #[inline]
    pub(super) fn room(&mut self) -> OwnPart<'_> {
        OwnPart { start: self.collective.endpoint.mine(self.offset), len: self.room, borrow: PhantomData }
    }

    /// Returns `bytes` bytes at an offset of a rank's contribution, valid until the next barrier.
    #[inline]
    pub(super) fn slice(&self, rank: usize, at: usize, bytes: usize) -> &[u8] {
        let team = self.collective.team;
        let (pe, offset, end) = match &self.blocks {
            None => (team.member(rank), self.offset, self.offset + self.room),
            Some(blocks) => (team.leader(team.node), blocks.offset(team, rank), blocks.end(team)),
        };
        assert!(offset + at + bytes <= end, "{bytes} bytes at {at} of rank {rank}");
        let from = address_on(self.collective, pe, offset + at);
        // SAFETY: the bytes are in the buffer of a PE on this node, or in the receive buffer of the node's first member (asserted).
        // Any bytes are valid values. In any operation, the owner writes the buffer before a barrier, and again only after the next
        // one. The owner cannot leave that next barrier before this PE enters it, and by then the borrowed `self` is dropped. The
        // same holds for a receive buffer (`barrier_payload`).
        unsafe { core::slice::from_raw_parts(from, bytes) }
    }
}

/// Parameters of a transfer in which members pass data to each other piece by piece.
pub(super) struct Staged {
    /// Whether pieces travel through rings; otherwise each piece takes a barrier.
    pub(super) by_ring: bool,
    /// Length of the longest data of a member (`total`) and of a piece (`at_once`), in bytes or items.
    pub(super) total: usize,
    pub(super) at_once: usize,
    /// Maximum bytes that a member writes for one piece.
    pub(super) bytes: usize,
    pub(super) writes: bool,
    pub(super) reads: bool,
}

/// The calling PE's part of the memory of a [`BarrierRoom`] or a [`RingSlot`].
pub(super) struct OwnPart<'t> {
    start: *mut u8,
    len: usize,
    borrow: PhantomData<&'t mut [u8]>,
}

impl OwnPart<'_> {
    /// Returns `bytes` writable bytes at an offset. They must be in the calling PE's part, because messages of other nodes may
    /// arrive behind it.
    #[inline]
    pub(super) fn part(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        assert!(at + bytes <= self.len, "{bytes} bytes at {at} in a room of {}", self.len);
        // SAFETY: the range is inside the `len` bytes at `start` (asserted), of which any are valid values. Nobody else reads or
        // writes the calling PE's part while the buffer is borrowed (`BarrierRoom::room`, `RingSlot::room`), and `self` is borrowed
        // exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.start.wrapping_add(at), bytes) }
    }
}

/// The next action of a member on a piece, which is a range of the total.
pub(super) enum Turn<'t> {
    Write(Range<usize>, OwnPart<'t>),
    /// Read other members' parts, by a function of (rank, offset, bytes).
    Read(Range<usize>, &'t dyn Fn(usize, usize, usize) -> &'t [u8]),
}

/// Panics. Serves as `shares` of a team on one node, where `shares` is not called.
pub(super) fn of_one_node(_: Range<usize>) -> Shares {
    unreachable!("members are on one node")
}

impl Collective<'_> {
    /// Calls `turn` to write and read each piece. With rings, several pieces are written before the first is read. Between nodes,
    /// `shares` returns the bytes that each rank writes of a piece.
    #[inline(always)]
    pub(super) fn staged(
        &self,
        signature: &CallSignature<'_>,
        Staged { by_ring, total, at_once, bytes, writes, reads }: Staged,
        shares: impl Fn(Range<usize>) -> Shares,
        mut turn: impl FnMut(Turn<'_>),
    ) {
        // At least one piece, so that members synchronise for empty data as well.
        let pieces = if total <= at_once { 1 } else { total.div_ceil(at_once) };
        let range = |piece: usize| piece * at_once..total.min((piece + 1) * at_once);
        if !by_ring {
            for piece in (0..pieces).map(range) {
                let mut step = BarrierRoom::next(self, bytes);
                if writes {
                    turn(Turn::Write(piece.clone(), step.room()));
                }
                step.meet(signature, || shares(piece.clone()));
                if reads {
                    turn(Turn::Read(piece, &|rank, at, bytes| step.slice(rank, at, bytes)));
                }
            }
            return;
        }
        let mut ring = Ring::new(self, signature);
        for piece in 0..pieces + ring.lag() {
            if writes && piece < pieces {
                let mut slot = ring.slot(piece);
                turn(Turn::Write(range(piece), slot.room()));
                slot.show();
            }
            if piece == 0 {
                self.meet(signature);
            }
            if reads && let Some(before) = piece.checked_sub(ring.lag()) {
                turn(Turn::Read(range(before), &|rank, at, bytes| ring.read(before, rank, at, bytes)));
                ring.take(before);
            }
        }
        if !reads {
            ring.take(pieces - 1);
        }
    }
}

/// Bytes of all rings of a node together, except in very small and very large teams.
const ALL_RINGS: usize = 2 * RING_BYTES;

/// Returns the bytes of a member's ring. docs/design.md, section 12, has the reason for its size.
pub(super) fn ring_bytes(members: usize) -> usize {
    (ALL_RINGS / members / CHUNK_BYTES * CHUNK_BYTES).clamp(2 * RECEIVE_BUFFER_BYTES, RING_BYTES)
}

/// The chunks of one collective, which pass through a circular buffer on each member.
pub(super) struct Ring<'c> {
    collective: &'c Collective<'c>,
    signature: &'c CallSignature<'c>,
    /// Offset of the buffer in a member's symmetric memory (`room`), and number of chunks for which the buffer has space (`slots`).
    room: usize,
    slots: usize,
    /// Index of the collective's first chunk. Indices go on from collective to collective, for the life of the team.
    first: u64,
    /// Number of this collective's chunks that the calling PE has taken.
    taken: usize,
    /// Whether the other members' doorbells must still be rung.
    owes_bells: Cell<bool>,
}

impl<'c> Ring<'c> {
    pub(super) const CHUNK: usize = CHUNK_BYTES;

    /// Begins the chunks of a collective of one node. The buffer is the team's window (its memory for chunks) or, where the team
    /// has none, the receive buffers, which no other node writes. The world's window is a part of the system area. All members of
    /// another team have taken the same bytes as a window (`take_windows`).
    pub(super) fn new(collective: &'c Collective<'c>, signature: &'c CallSignature<'c>) -> Self {
        let team = collective.team;
        let (room, slots) = match team.has_windows() {
            Some(true) => (team.window() + size_of::<ChunkCounters>(), ring_bytes(team.size()) / CHUNK_BYTES),
            _ => (receive_buffer(team, 0), 2 * RECEIVE_BUFFER_BYTES / CHUNK_BYTES),
        };
        let owes_bells = Cell::new(false);
        let mut ring = Self { collective, signature, room, slots, first: 0, taken: 0, owes_bells };
        ring.first = ring.words(collective.endpoint.me()).next();
        ring
    }

    /// Returns the number of chunks by which a member's reads lag behind writes: half of the slots. A chunk that was just written
    /// would be read from another core's cache, half as fast as later from the shared cache.
    pub(super) fn lag(&self) -> usize {
        self.slots / 2
    }

    /// Waits until the slot of the k-th chunk is free.
    pub(super) fn slot(&self, k: usize) -> RingSlot<'_> {
        let number = self.first + k as u64;
        let mut missing = self.others();
        let mut next = missing.next();
        self.until(|| {
            while let Some(pe) = next {
                if !self.words(pe).is_free(number, self.slots as u64) {
                    return false;
                }
                next = missing.next();
            }
            true
        });
        RingSlot { ring: self, number }
    }

    /// Waits for the k-th chunk of a rank, and returns a part of it.
    ///
    /// # Panics
    ///
    /// If the calling PE has taken that chunk.
    pub(super) fn read(&self, k: usize, rank: usize, at: usize, bytes: usize) -> &[u8] {
        assert!(k >= self.taken && at + bytes <= CHUNK_BYTES, "{bytes} bytes at {at} of chunk {k}");
        let (number, pe) = (self.first + k as u64, self.collective.team.member(rank));
        let words = self.words(pe);
        self.until(|| words.has(number));
        let from = address_on(self.collective, pe, self.offset(number) + at);
        // SAFETY: the bytes are in the slot (asserted). The owner has written the chunk, as `has` returned, and writes there again
        // only after this PE has taken the chunk. This PE takes it by `take`, which borrows the ring exclusively and so ends the
        // reference, or by the ring of a later collective, which begins after this ring.
        unsafe { core::slice::from_raw_parts(from, bytes) }
    }

    /// Marks the k-th chunk of every member, and all chunks before, as read by the calling PE.
    pub(super) fn take(&mut self, k: usize) {
        self.taken = k + 1;
        self.words(self.collective.endpoint.me()).take(self.first + k as u64);
        self.owes_bells.set(true);
    }

    /// Waits until all others have taken the k-th chunk.
    pub(super) fn until_taken(&self, k: usize) {
        let number = self.first + k as u64;
        self.until(|| self.others().all(|pe| self.words(pe).has_taken(number)));
    }

    fn others(&self) -> impl Iterator<Item = Pe> + use<'c> {
        let Collective { team, endpoint, .. } = *self.collective;
        team.neighbours().iter().copied().filter(|pe| *pe != endpoint.me())
    }

    /// Rings the doorbells of the other members, which may wait for the calling PE's progress.
    pub(super) fn ring_others(&self) {
        if self.owes_bells.replace(false) {
            let Collective { team, endpoint, .. } = *self.collective;
            self.others().for_each(|pe| team.system_at(endpoint, pe).doorbell.ring());
        }
    }

    fn until(&self, mut done: impl FnMut() -> bool) {
        if done() {
            return;
        }
        // The awaited PE may itself sleep until this PE rings its doorbell.
        self.ring_others();
        let Self { collective, signature, .. } = *self;
        let Collective { team, endpoint, .. } = *collective;
        let bell = &team.system_at(endpoint, endpoint.me()).doorbell;
        collective.wait_until(
            done,
            |timeout, done| bell.sleep(timeout, done),
            || signature.activity(team.index, collective.began),
        );
    }

    fn words(&self, pe: Pe) -> &'c RingWords {
        let Collective { team, endpoint, .. } = *self.collective;
        &team.system_at(endpoint, pe).teams[team.index].ring
    }

    /// Returns the offset of a chunk in its owner's symmetric memory.
    fn offset(&self, number: u64) -> usize {
        self.room + (number % self.slots as u64) as usize * CHUNK_BYTES
    }
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        self.ring_others();
    }
}

/// A free slot in the ring of the calling PE.
pub(super) struct RingSlot<'r> {
    ring: &'r Ring<'r>,
    number: u64,
}

impl RingSlot<'_> {
    pub(super) fn show(self) {
        let ring = self.ring;
        self.publish_silently();
        ring.ring_others();
    }

    /// Publishes the chunk as [`show`](Self::show) does, for a caller that rings the doorbells next.
    pub(super) fn publish_silently(self) {
        let Self { ring, number } = self;
        ring.words(ring.collective.endpoint.me()).fill(number);
        ring.owes_bells.set(true);
    }

    /// Returns the slot's memory. No PE reads it, because all others have taken the slot's last chunk (`Ring::slot`), and this
    /// chunk is published later. No other thread of this PE is in a collective of the team (`Team::enter`), and each chunk has one
    /// slot.
    pub(super) fn room(&mut self) -> OwnPart<'_> {
        let Self { ring, number } = *self;
        let start = ring.collective.endpoint.mine(ring.offset(number));
        OwnPart { start, len: CHUNK_BYTES, borrow: PhantomData }
    }
}

// Collectives on symmetric objects of one node, which members read and write in place. The opening barrier compares the objects,
// and makes members' earlier writes to them visible to all. A member leaves when no other member accesses its copy. `user_buffer`
// has the proof.
impl Collective<'_> {
    pub(super) fn copy_on(&self, rank: usize, place: Extent) -> RecvBuf<'_> {
        RecvBuf::on(self.endpoint, self.team.member(rank), place)
    }

    /// Returns all ranks, beginning with the own rank, so that members access different ranks at a time.
    pub(super) fn ranks_from_own(&self) -> impl Iterator<Item = usize> + use<> {
        let (members, rank) = (self.team.size(), self.team.rank());
        (rank..members).chain(0..rank)
    }

    /// Ends a collective in which other members read the copy of the member with rank `rank`: that member waits for the readers.
    pub(super) fn leave_source(&self, signature: &CallSignature<'_>, rank: usize) {
        let mut ring = Ring::new(self, signature);
        ring.take(0);
        if rank == self.team.rank() && !mutant("direct-without-leave") {
            ring.until_taken(0);
        }
    }

    /// Ends a collective in which all members access each other's copies.
    pub(super) fn leave_copies(&self, signature: &CallSignature<'_>) {
        if !mutant("direct-without-leave") {
            self.meet(signature);
        }
    }
}

const _: () = assert!(align_of::<ChunkCounters>() <= MAX_ALIGN);

impl Collective<'_> {
    /// Returns how the data travel. Allocates the team's windows when they are first needed.
    #[inline]
    pub(super) fn way(&self, signature: &CallSignature<'_>, pattern: Pattern, is_symmetric: bool) -> Way {
        let (team, way) = (self.team, self.team.way(pattern, is_symmetric));
        if team.has_windows().is_none() && matches!(way, Way::Windows | Way::Rings) {
            self.take_windows(signature);
            return team.way(pattern, is_symmetric);
        }
        way
    }

    /// Takes a window on each member, or on none if one member lacks the space. Windows are freed together with the team's index.
    /// Members first compare call signatures ([`exact_agreement`](super::exact_agreement)), because they will write to, or read,
    /// each other's windows.
    fn take_windows(&self, signature: &CallSignature<'_>) {
        self.compare_signatures(signature);
        let team = self.team;
        let room = if team.node_count() == 1 { ring_bytes(team.size()) } else { WINDOW_BYTES };
        let range = self.place(signature, size_of::<ChunkCounters>() + room, align_of::<ChunkCounters>());
        if let Some(range) = &range {
            team.job.teams.room.lock().name(
                range.start,
                range.len(),
                "what comes to a team in chunks".to_owned(),
            );
        }
        team.uses.keep_window(range);
    }

    /// Takes the first range in the memory of teams that is free on all members, if there is one. Members must have
    /// compared call signatures before.
    pub(crate) fn place(
        &self,
        signature: &CallSignature<'_>,
        bytes: usize,
        align: usize,
    ) -> Option<Range<usize>> {
        const NOWHERE: u64 = u64::MAX;
        let room = &self.team.job.teams.room;
        let mut mine = room.lock().propose(0, bytes, align);
        loop {
            let proposal = mine.as_ref().map_or(NOWHERE, |range| range.start as u64);
            // The maximum of the complements is the complement of the lowest proposal, so one reduction gives the highest and the
            // lowest.
            let mut ends = [proposal, !proposal];
            self.reduce_for(signature, bytemuck::cast_slice_mut(&mut ends), u64::max);
            let (highest, lowest) = (ends[0], !ends[1]);
            match mine.take() {
                Some(range) if highest == lowest => return Some(range),
                Some(range) if range.start as u64 == highest => mine = Some(range),
                other => other.into_iter().for_each(|range| room.lock().give(range)),
            }
            if highest == NOWHERE {
                return None;
            }
            if mine.is_none() {
                mine = room.lock().propose(highest as usize, bytes, align);
            }
        }
    }
}
