//! Reductions: which way the items of members go that are combined, whatever they are and whoever has the result.
//!
//! The result is that of a [tree](super::tree) over ranks, whatever the way. On one node every member combines all, of short data; of
//! longer ones it combines a slice and gives that to the others (a reduce-scatter and an allgather through rings), or does so in objects
//! where they lie. Between nodes [partial results](super::partial_results) go with the barrier, and much data by
//! [recursive halving and doubling](super::schedule::HalvingDoubling).

use core::ops::Range;

use bytemuck::Pod;
use shmem_core::object::Extent;
use shmem_core::system::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::buffer::{RecvBuf, SendBuf};
use super::choose::{Pattern, Shape};
use super::layout::Layout;
use super::partial_results::most_bytes;
use super::payload::{GRAIN, room_of_each};
use super::placement::fits_a_tile;
use super::reduction::{Reduction, Typed};
use super::staging::{Direct, Piece as _, Ring, Room as _, Step};
use super::tree::{Operands, fold};
use crate::group::{Collective, Purpose};

/// Whose items a member combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// Those of all members.
    All,
    /// Those of lower ranks, and its own.
    UpTo,
    /// Those of lower ranks: of none it is all zeroes.
    Before,
}

impl Combined {
    /// How many members these are for one rank of so many, from rank 0 on.
    fn of(self, rank: usize, members: usize) -> usize {
        match self {
            Self::All => members,
            Self::UpTo => rank + 1,
            Self::Before => rank,
        }
    }
}

/// Room for the operands of a tile of a direct reduction, and its result: they stay in the first cache.
const OPERANDS: usize = 8 << 10;

/// Bytes of a line of the cache, which slices do not share.
const LINE: usize = 64;

// A tile of a direct reduction has a line, or more.
const _: () = assert!(Shape::MOST_DIRECT == OPERANDS / LINE - 1);

/// Bytes of each operand of a tile of a direct reduction.
fn room_of_operand(members: usize) -> usize {
    OPERANDS / (members + 1) / GRAIN * GRAIN
}

impl Collective<'_> {
    /// Combines the items that members in `combined` have in `source` for the ranks with `results`, which have them in `data` in the end.
    /// Without `source` they are in `data`, which others keep as it is. Objects are the same on all members.
    pub(super) fn reduce(
        &self,
        purpose: &Purpose<'_>,
        (combined, results): (Combined, Range<usize>),
        source: Option<SendBuf<'_>>,
        mut data: RecvBuf<'_>,
        op: &dyn Reduction,
    ) {
        let (team, bytes, members, size) = (self.team, data.len(), self.team.size(), op.size());
        if bytes == 0 {
            return self.meet(purpose);
        }
        let (is_near, is_for_all) = (team.node_count() == 1, results.len() == members);
        let place = data.object().filter(|_| size <= room_of_operand(members));
        let pattern = Pattern::reduction(bytes, op.is_exact());
        let way = match combined {
            // Scans go through windows nowhere.
            Combined::UpTo | Combined::Before if !is_near => Way::Meetings,
            // Nor by rings do those that not all have.
            _ if is_near && (combined != Combined::All || !is_for_all) => team.way(pattern, place.is_some()),
            _ => self.way(purpose, pattern, place.is_some()),
        };
        if let (Way::Direct, Some(to)) = (way, place) {
            let from = source.and_then(|source| source.object()).unwrap_or(to);
            return self.reduce_directly(purpose, (combined, results), (from, to), op);
        }
        if let Some(source) = source {
            data.copy_from(0, source);
        }
        let has_result = results.contains(&team.rank());
        match way {
            Way::Windows if fits_a_tile(size) => {
                let pipelined =
                    |data: RecvBuf<'_>| self.pipelined(purpose, (pattern, 0), SendBuf::EMPTY, data, Some(op));
                match is_for_all {
                    true => pipelined(data),
                    false => data.with_private(has_result, |data| pipelined(RecvBuf::of(data))),
                }
            }
            Way::Rings if combined == Combined::All && is_for_all && self.slice_of(bytes, size) > 0 => {
                let slice = self.slice_of(bytes, size);
                data.with_private(true, |data| self.reduce_sliced(purpose, slice, data, op));
            }
            _ if is_near && size <= SCRATCH_BYTES => {
                self.reduce_by_steps(purpose, combined, (data, has_result), op);
            }
            _ => data.with_private(has_result, |data| {
                self.reduce_between_nodes(purpose, combined, data, op);
                op.settle(data);
            }),
        }
    }

    /// Combines the numbers in `data` of all members, for a purpose of the caller's, by an operation that is exact.
    pub(crate) fn reduce_for<N: Pod>(&self, purpose: &Purpose<'_>, data: &mut [u8], op: impl Fn(N, N) -> N) {
        let op = Typed::new(op, |number| number, true);
        if self.team.node_count() > 1 {
            self.reduce_between_nodes(purpose, Combined::All, data, &op);
        } else {
            self.reduce_by_steps(purpose, Combined::All, (RecvBuf::of(data), true), &op);
        }
    }

    /// On one node: every member combines what those in `combined` have contributed, in place.
    fn reduce_by_steps(
        &self,
        purpose: &Purpose<'_>,
        combined: Combined,
        (mut data, has_result): (RecvBuf<'_>, bool),
        op: &dyn Reduction,
    ) {
        let members = combined.of(self.team.rank(), self.team.size());
        let (bytes, size) = (data.len(), op.size());
        // Short data are one piece, for which nothing is divided.
        let most = if bytes <= SCRATCH_BYTES { bytes } else { SCRATCH_BYTES / size * size };
        let mut start = 0;
        while start < bytes {
            let piece = start..bytes.min(start + most);
            start = piece.end;
            let mut step = Step::next(self, piece.len());
            data.source().read(piece.start, step.room(0, piece.len()));
            self.meet(purpose);
            if !has_result {
                continue;
            }
            data.fill(piece, size, &mut |at, tile| {
                if members == 0 {
                    // Zero of all numbers.
                    return tile.fill(0);
                }
                let bytes = tile.len();
                let of = |rank| step.slice(rank, at, bytes);
                match members {
                    // The usual small case.
                    2 => op.combine(tile, Some(of(0)), of(1)),
                    _ => fold(members, Operands::InPlace(&of), tile, op),
                }
                op.settle(tile);
            });
        }
    }

    /// Bytes of the slices in which members combine data of their node, in whole items and grains; 0 if there is no room for any.
    fn slice_of(&self, bytes: usize, size: usize) -> usize {
        // Some pieces, so that there is something to do while a chunk is waited for.
        let wanted = (bytes / self.team.size() / 4).next_multiple_of(GRAIN).clamp(4 << 10, 16 << 10);
        let unit = size * (GRAIN / size.min(GRAIN));
        wanted.min(Shape::of(self.team).room_of_chunk()) / unit * unit
    }

    /// A reduce-scatter and an allgather through rings: every member combines a slice of each piece, on one node. Of a piece it brings the
    /// others their slices, combines its own, and brings them the result; meanwhile the next piece is on its way. Chunks are
    /// contributions to a piece and results of one in turn: a contribution goes before the result of the piece before, so that it is on its
    /// way while that is combined.
    ///
    /// Where members share cores, each chunk would wake everybody, who would sleep again until that of the next one. There they
    /// meet behind each piece, the last to come wakes all, and nobody finds a chunk missing or a slot that is not free: what is read
    /// in a round was shown in the one before, and what is overwritten was taken there.
    fn reduce_sliced(&self, purpose: &Purpose<'_>, slice: usize, data: &mut [u8], op: &dyn Reduction) {
        let (members, rank, bytes) = (self.team.size(), self.team.rank(), data.len());
        let mut ring = Ring::new(self, purpose);
        let pieces = bytes.div_ceil(slice * members);
        let contribution = |piece: usize| (2 * piece).saturating_sub(1);
        let result_of = |piece: usize| (2 * piece + 2).min(2 * pieces - 1);
        let unit = op.size() * (GRAIN / op.size().min(GRAIN));
        let slice_of = |piece: usize, rank: usize| {
            let start = piece * slice * members;
            let end = (start + slice * members).min(bytes);
            let each = (end - start).div_ceil(members).next_multiple_of(unit);
            (start + rank * each).min(end)..(start + (rank + 1) * each).min(end)
        };
        // Where the slice for a rank lies in a chunk of another one.
        let place = |of: usize, to: usize| (to - usize::from(to > of)) * slice;
        let meets = !self.team.job.site.has_cores;
        let contribute = |ring: &Ring<'_>, data: &[u8], piece: usize| {
            let mut slot = ring.slot(contribution(piece));
            for to in (0..members).filter(|to| *to != rank) {
                let part = slice_of(piece, to);
                SendBuf::of(&data[part.clone()]).read(0, slot.room(place(rank, to), part.len()));
            }
            if meets { slot.show_unheard() } else { slot.show() }
        };
        contribute(&ring, data, 0);
        self.meet(purpose);
        for piece in 0..=pieces {
            if piece + 1 < pieces {
                contribute(&ring, data, piece + 1);
            }
            if piece < pieces {
                let own = slice_of(piece, rank);
                let mut slot = ring.slot(result_of(piece));
                let result = slot.room(0, own.len());
                let operand = |of: usize| match of == rank {
                    true => &data[own.clone()],
                    false => ring.read(contribution(piece), of, place(of, rank), own.len()),
                };
                fold(members, Operands::InPlace(&operand), result, op);
                op.settle(result);
                data[own].copy_from_slice(result);
                slot.show_unheard();
                ring.take(contribution(piece));
                if !meets {
                    ring.ring_others();
                }
            }
            if let Some(before) = piece.checked_sub(1) {
                // Each begins with another one, so that not all read the same.
                for of in (rank + 1..members).chain(0..rank) {
                    let part = slice_of(before, of);
                    RecvBuf::of(&mut data[part.clone()])
                        .write(0, ring.read(result_of(before), of, 0, part.len()));
                }
                ring.take(result_of(before));
            }
            if meets && piece < pieces {
                self.meet(purpose);
            }
        }
    }

    /// Combines what lies at one place of all members of a node, to another one or there. Every member makes a slice, and writes to each
    /// of those with `results` what that is to have: nobody else reads that slice.
    fn reduce_directly(
        &self,
        purpose: &Purpose<'_>,
        (combined, results): (Combined, Range<usize>),
        (from, to): (Extent, Extent),
        op: &dyn Reduction,
    ) {
        let (members, rank, size) = (self.team.size(), self.team.rank(), op.size());
        let direct = Direct::meet(self, purpose);
        let mut room = [0; OPERANDS];
        let (operands, tile) = room.split_at_mut(members * room_of_operand(members));
        let tile = &mut tile[..room_of_operand(members) / size * size];
        // Whole lines, and whole items.
        let grain = size << (LINE.trailing_zeros() - size.trailing_zeros().min(LINE.trailing_zeros()));
        let each = from.bytes.div_ceil(members).next_multiple_of(grain);
        let slice = (rank * each).min(from.bytes)..((rank + 1) * each).min(from.bytes);
        for at in slice.clone().step_by(tile.len()) {
            let bytes = tile.len().min(slice.end - at);
            let tile = &mut tile[..bytes];
            for distance in 0..results.len() {
                // Where a prefix goes nobody with a lower rank has its own, so what is overwritten is wanted no more.
                let target = match combined {
                    Combined::All => results.start + (rank + distance) % results.len(),
                    Combined::UpTo | Combined::Before => results.end - 1 - distance,
                };
                // The result of a reduction is the same for all.
                if combined != Combined::All || distance == 0 {
                    match combined.of(target, members) {
                        0 => tile.fill(0),
                        ranks => {
                            let each = operands.chunks_exact_mut(room_of_operand(members));
                            each.take(ranks).enumerate().for_each(|(of, operand)| {
                                direct.of(of, from).read(at, &mut operand[..bytes]);
                            });
                            let operand = |of: usize| &operands[of * room_of_operand(members)..][..bytes];
                            fold(ranks, Operands::InPlace(&operand), tile, op);
                            op.settle(tile);
                        }
                    }
                }
                direct.to(target, to).write(at, tile);
            }
        }
        direct.leave();
    }

    /// Between nodes, with the barrier: by partial results, if there is room for them. What comes of it is not settled.
    fn reduce_between_nodes(
        &self,
        purpose: &Purpose<'_>,
        combined: Combined,
        data: &mut [u8],
        op: &dyn Reduction,
    ) {
        let team = self.team;
        let ranks = combined.of(team.rank(), team.size());
        let scan = (combined != Combined::All).then_some(ranks);
        let near = team.node_count() == 1;
        let most =
            if near { 0 } else { most_bytes(Layout::of(team), op, scan.is_some()) / op.size() * op.size() };
        if most > 0 {
            return data
                .chunks_mut(most)
                .for_each(|piece| self.combine_between_nodes(purpose, scan, piece, op));
        }
        // Every member gets the items of all, and combines them: of ranks that are dealt out to nodes in another order, and of items that
        // are larger than a room, on one node as well.
        let most = (room_of_each(team.size(), team.node_count()).0 / op.size()).max(1) * op.size();
        let mut all = vec![0; most.min(data.len()) * team.size()];
        for piece in data.chunks_mut(most) {
            let bytes = piece.len();
            let all = &mut all[..bytes * team.size()];
            self.gather_equal(purpose, piece, all);
            match ranks {
                0 => piece.fill(0),
                ranks => fold(ranks, Operands::InPlace(&|rank| &all[rank * bytes..][..bytes]), piece, op),
            }
        }
    }
}
