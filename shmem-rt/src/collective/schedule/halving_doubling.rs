//! Recursive halving and doubling: a reduce-scatter, level by level, and an allgather the same way back, in groups of any size.
//!
//! The data are cut into blocks. At first each rank is a group that holds whole blocks. At each level neighbouring
//! groups merge into one, whose *members* they are ([`Radices`]). A slice of a block is then held by one rank of each
//! member. These ranks cut the slice into pieces, divide the pieces among themselves, send each piece to its new owner
//! (one such message is a *chunk*), and combine what arrives. So a rank holds a smaller slice of a larger group at each
//! level, and in the end its part of the result. On the way back ranks exchange the pieces until all have the block.
//!
//! The last group of a level may have fewer members, which then hold more slices each ([`RankSlices`]). A level, except the last,
//! that would cut a block into more than `MOST_SLICES` slices keeps slices whole, and gives each slice to one member.
//!
//! Blocks are pipelined: in turn `t`, step `s` works on block `t - LAG s`, so that other blocks are sent while a step waits. Inside
//! a step all ranks process chunks in the order of slices, then of a member's pieces, then of distance from sender to receiver.
//!
//! A rank overwrites data that it has sent only with their result. A receiver has computed the result from these data,
//! so their transfer is complete.
//!
//! Source: R. Rabenseifner, "Optimization of collective reduction operations", 2004. Groups of four, and any number of ranks, are
//! our additions.

use core::ops::Range;

use super::{Chunks, Memory, Place, RecvStep, Schedule, SendStep, Then};

/// Number of turns from one step of a block to its next step. While a step waits for chunks, other blocks are sent.
const LAG: usize = 2;

/// Maximum number of levels: enough to merge 2^24 ranks in pairs.
const MOST_LEVELS: usize = 24;

/// Maximum number of slices of a block before the last level. Shorter slices would need as many messages for less data.
const MOST_SLICES: usize = 64;

pub(in crate::collective) struct HalvingDoubling {
    radices: Radices,
    seat: RankSlices,
    blocks: Chunks,
    grain: usize,
    slots: usize,
}

/// A chunk that one rank may send to another rank that holds the same slice.
#[derive(Clone, Copy)]
struct ChunkMove {
    block: usize,
    step: usize,
    slice: usize,
    /// Index of the chunk's piece among the pieces of the member that owns the piece.
    turn: usize,
    /// Distance from sender to receiver, counted in members of the group.
    distance: usize,
}

impl HalvingDoubling {
    /// Returns the schedule of `rank`. Chunks have at most `most` bytes, items `grain` bytes; a block has a chunk for each member
    /// of a group of the first level.
    pub(in crate::collective) fn new(
        rank: usize,
        radices: Radices,
        bytes: usize,
        most: usize,
        grain: usize,
        slots: usize,
    ) -> Self {
        let blocks = Chunks::new(bytes, most / grain * grain * radices.first(), grain);
        Self { radices, seat: RankSlices::new(radices, rank), blocks, grain, slots }
    }

    /// Returns the steps, as a bit set, in which this rank sends chunks of the first block to ranks for which `is_far` is true.
    pub(in crate::collective) fn steps_to(&self, is_far: impl Fn(usize) -> bool) -> u64 {
        let first = self.walk().filter(|(chunk_move, _)| chunk_move.block == 0);
        let sends = first.filter(|(chunk_move, group)| {
            self.sent(*chunk_move, *group).is_some_and(|(to, _)| is_far(to.rank))
        });
        sends.fold(0, |steps, (chunk_move, _)| steps | 1 << chunk_move.step)
    }

    fn steps(&self) -> usize {
        2 * self.radices.levels
    }

    fn level(&self, step: usize) -> usize {
        step.min(self.steps() - 1 - step)
    }

    /// Whether a step belongs to the allgather, the way back.
    fn returns(&self, step: usize) -> bool {
        step != self.level(step)
    }

    /// Returns all chunks that this rank may send or receive, in order, each with its group.
    fn walk(&self) -> impl Iterator<Item = (ChunkMove, Group)> {
        let (steps, blocks) = (self.steps(), self.blocks.count());
        (0..blocks + steps.saturating_sub(1) * LAG)
            .flat_map(move |turn| (0..steps).map(move |step| (turn, step)))
            .filter_map(move |(turn, step)| {
                turn.checked_sub(step * LAG).filter(|block| *block < blocks).map(|block| (block, step))
            })
            .flat_map(move |(block, step)| {
                let level = self.level(step);
                let group = self.seat.group(level);
                self.seat.slices(level).flat_map(move |slice| {
                    self.inside(level, group).map(move |(turn, distance)| {
                        (ChunkMove { block, step, slice, turn, distance }, group)
                    })
                })
            })
    }

    /// Returns the chunks of one slice, in order, as ([`turn`](ChunkMove::turn), [`distance`](ChunkMove::distance)).
    fn inside(&self, level: usize, group: Group) -> impl Iterator<Item = (usize, usize)> + use<> {
        let pieces = self.radices.each[level].cut.div_ceil(group.members);
        (0..pieces).flat_map(move |turn| (1..group.members).map(move |distance| (turn, distance)))
    }

    /// Returns the receiver and the piece of a chunk that this rank sends; None if there is no such chunk.
    fn sent(&self, chunk_move: ChunkMove, group: Group) -> Option<(RankSlices, usize)> {
        let level = self.level(chunk_move.step);
        let to = (group.mine + chunk_move.distance) % group.members;
        let owner = if self.returns(chunk_move.step) { group.mine } else { to };
        let piece = self.piece(level, group, owner, chunk_move)?;
        Some((self.holder(level, group, to, chunk_move.slice), piece))
    }

    /// Member `owner` gets some pieces of a slice: returns number `turn` of these, as a slice of the next level; None if there are
    /// fewer.
    fn piece(
        &self,
        level: usize,
        group: Group,
        owner: usize,
        ChunkMove { slice, turn, .. }: ChunkMove,
    ) -> Option<usize> {
        let decider = self.radices.each[level].decider;
        let mut owned = given(self.radices.each[decider].cut, group.members, owner);
        if decider == level {
            return owned.nth(turn).map(|piece| slice + piece * self.radices.each[level].weight);
        }
        (turn == 0 && owned.contains(&self.radices.digit(slice, decider))).then_some(slice)
    }

    fn holder(&self, level: usize, group: Group, member: usize, slice: usize) -> RankSlices {
        let first = group.first + member * self.radices.each[level].distance;
        RankSlices::new(self.radices, self.radices.holder(level, first, slice))
    }

    /// Returns the number of chunks that arrive at the rank of `seat` in a step, for each block.
    fn coming(&self, seat: &RankSlices, step: usize) -> usize {
        let level = self.level(step);
        let owned = seat.held[level + 1];
        match self.returns(step) {
            true => seat.held[level] * self.radices.each[level].cut - owned,
            false => owned * (seat.group(level).members - 1),
        }
    }

    /// Returns the number of chunks that arrive at the rank of `seat` before a step of a block.
    fn before(&self, seat: &RankSlices, block: usize, step: usize) -> usize {
        let turn = block + step * LAG;
        let begun = |other: usize| (turn + usize::from(other < step)).saturating_sub(other * LAG);
        (0..self.steps()).map(|other| begun(other).min(self.blocks.count()) * self.coming(seat, other)).sum()
    }

    /// Returns the number of chunks that arrive at the rank of `seat` in the same step of the same block, but before the given
    /// chunk.
    fn before_in_step(&self, seat: &RankSlices, chunk_move: ChunkMove, piece: usize) -> usize {
        let ChunkMove { step, slice, turn, distance, .. } = chunk_move;
        let level = self.level(step);
        let group = seat.group(level);
        if !self.returns(step) {
            return seat.before(level + 1, piece) * (group.members - 1) + distance - 1;
        }
        let comes = |(turn, distance): &(usize, usize)| {
            let owner = (group.mine + group.members - distance) % group.members;
            self.piece(level, group, owner, ChunkMove { turn: *turn, ..chunk_move }).is_some()
        };
        let here = self.inside(level, group).take_while(|at| *at != (turn, distance)).filter(comes).count();
        seat.before(level, slice) * self.radices.each[level].cut - seat.before(level + 1, slice) + here
    }

    /// Returns the number of credit counters that the rank of `seat` has for the chunks that it sends in a step.
    fn credits_of(&self, seat: &RankSlices, step: usize) -> usize {
        let level = self.level(step);
        let others = seat.group(level).members - 1;
        match (others, self.returns(step)) {
            (0, _) => 0,
            (_, true) => seat.held[level + 1] * others,
            // One counter for each piece, including pieces that the rank keeps.
            (_, false) => seat.held[level] * self.radices.each[level].cut,
        }
    }

    /// Returns the index of the credit counter of a piece on its sender, the rank of `seat`.
    fn credit(
        &self,
        seat: &RankSlices,
        ChunkMove { step, slice, distance, .. }: ChunkMove,
        piece: usize,
    ) -> usize {
        let level = self.level(step);
        let first: usize = (0..step).map(|before| self.credits_of(seat, before)).sum();
        first
            + match self.returns(step) {
                true => seat.before(level + 1, piece) * (seat.group(level).members - 1) + distance - 1,
                false => {
                    seat.before(level, slice) * self.radices.each[level].cut
                        + self.radices.digit(piece, level)
                }
            }
    }

    /// Returns the bytes of a slice of a block, as cut by the levels before `level`.
    fn at(&self, block: usize, level: usize, slice: usize) -> Place {
        let part = (0..level).fold(self.blocks.range(block), |part, below| {
            let each = part.len().div_ceil(self.radices.each[below].cut).next_multiple_of(self.grain);
            let start = part.start + self.radices.digit(slice, below) * each;
            part.end.min(start)..part.end.min(start + each)
        });
        Place::of(Memory::Result, 0, part)
    }
}

impl Schedule for HalvingDoubling {
    fn sends(&self) -> impl Iterator<Item = SendStep> {
        self.walk().filter_map(|(chunk_move, group)| {
            let ChunkMove { block, step, .. } = chunk_move;
            let (to, piece) = self.sent(chunk_move, group)?;
            let within = self.before_in_step(&to, chunk_move, piece);
            let number = |block| self.before(&to, block, step) + within;
            // Chunk numbers grow with blocks, so only chunks of the first blocks have a free slot from the start.
            let late = number(block) >= self.slots;
            let is_free = |block: &usize| number(*block) < self.slots;
            let first = if late { (0..=block).take_while(is_free).count() } else { 0 };
            let from = self.at(block, self.level(step) + 1, piece);
            Some(SendStep {
                to: to.rank,
                number: number(block),
                from,
                lands: self.returns(step).then_some(from.at),
                after: match step {
                    0 => 0,
                    _ => self.before(&self.seat, block, step - 1) + self.coming(&self.seat, step - 1),
                },
                credit: self.credit(&self.seat, chunk_move, piece),
                needs: if late { (block + 1 - first) as u64 } else { 0 },
            })
        })
    }

    fn receives(&self) -> impl Iterator<Item = RecvStep> {
        self.walk().filter_map(|(chunk_move, group)| {
            let ChunkMove { block, step, slice, distance, .. } = chunk_move;
            let level = self.level(step);
            let from = (group.mine + group.members - distance) % group.members;
            let owner = if self.returns(step) { from } else { group.mine };
            let piece = self.piece(level, group, owner, chunk_move)?;
            let from = self.holder(level, group, from, slice);
            let then = match (self.returns(step), distance + 1 == group.members) {
                (true, _) => Then::Copy,
                (false, false) => Then::Hold,
                (false, true) => Then::Reduce { members: group.members, mine: group.mine },
            };
            let (credit, into) = (self.credit(&from, chunk_move, piece), self.at(block, level + 1, piece));
            Some(RecvStep { from: from.rank, credit, into, then })
        })
    }

    fn credits(&self) -> usize {
        (0..self.steps()).map(|step| self.credits_of(&self.seat, step)).sum()
    }
}

/// The radix of each level: the number of groups that merge into one group of the next level. The first groups are single ranks;
/// the last level merges all.
///
/// All radices but the last are powers of two, so a group is one vertex of the [tree](crate::collective::reduction_order) over
/// ranks, with one value. The last group of a level may have fewer members, down to a single rank.
///
/// A level that merges `n` groups cuts slices into `n` pieces, up to `MOST_SLICES` slices. Later levels, except the last,
/// keep slices whole: one member gets a whole slice.
#[derive(Clone, Copy)]
pub(in crate::collective) struct Radices {
    ranks: usize,
    each: [Level; MOST_LEVELS],
    levels: usize,
}

#[derive(Clone, Copy)]
struct Level {
    /// Number of groups that merge into one.
    radix: usize,
    /// Number of pieces into which a slice is cut; 1 where slices stay whole.
    cut: usize,
    /// Level whose digit in a slice's number selects the member that gets the slice: this level if it cuts slices, else a lower one
    /// that does.
    decider: usize,
    /// Number of ranks from the start of one member of a group to the start of the next.
    distance: usize,
    /// Weight of this level's digit in a slice's number.
    weight: usize,
}

impl Radices {
    /// The largest radix: a reduction holds a chunk of every other member in a slot, and a window has at least 8 slots
    /// for such chunks.
    pub(in crate::collective) const MOST: usize = 8;

    /// Returns the radices for `ranks` ranks: mostly fours. Fours need about as many messages as twos, in half the rounds.
    pub(in crate::collective) fn of(ranks: usize) -> Self {
        assert!(ranks > 0, "of no ranks there is no value");
        let level = Level { radix: 1, cut: 1, decider: 0, distance: 1, weight: 1 };
        let mut radices = Self { ranks, each: [level; MOST_LEVELS], levels: 0 };
        let (twos, odd) = (ranks.trailing_zeros(), ranks >> ranks.trailing_zeros());
        if odd <= Self::MOST {
            // The odd factor becomes the last radix, doubled if that is at most `MOST`. Then every group is complete.
            let together = odd > 1 && odd * 2 <= Self::MOST && twos > 0;
            let (twos, last) = if together { (twos - 1, odd * 2) } else { (twos, odd) };
            (0..twos / 2).for_each(|_| radices.push(4));
            [1 << (twos % 2), last]
                .into_iter()
                .filter(|radix| *radix > 1)
                .for_each(|radix| radices.push(radix));
        } else {
            let mut groups = ranks;
            // The last group of four would have three members, which cannot share four slices evenly. So the first level makes
            // groups of two.
            if ranks % 4 == 3 {
                radices.push(2);
                groups = groups.div_ceil(2);
            }
            while groups > Self::MOST {
                radices.push(4);
                groups = groups.div_ceil(4);
            }
            radices.push(groups);
        }
        radices.cut();
        radices
    }

    pub(in crate::collective) fn each(&self) -> impl Iterator<Item = usize> {
        self.each[..self.levels].iter().map(|level| level.radix)
    }

    pub(in crate::collective) fn first(&self) -> usize {
        self.each[0].radix
    }

    fn push(&mut self, radix: usize) {
        if let Some(before) = self.levels.checked_sub(1) {
            self.each[self.levels].distance = self.each[before].distance * self.each[before].radix;
        }
        self.each[self.levels].radix = radix;
        self.levels += 1;
    }

    fn cut(&mut self) {
        let (mut slices, mut cut_levels, mut whole) = (1, ([0; MOST_LEVELS], 0), 0);
        for (number, level) in self.each[..self.levels].iter_mut().enumerate() {
            if slices * level.radix <= MOST_SLICES || number + 1 == self.levels {
                (level.cut, level.decider) = (level.radix, number);
                slices *= level.radix;
                cut_levels.0[cut_levels.1] = number;
                cut_levels.1 += 1;
            } else {
                // Such levels use, in turn, the digits of the levels that cut, so that slices go to different members.
                level.decider = cut_levels.0[whole % cut_levels.1];
                whole += 1;
            }
        }
        for level in (1..self.levels).rev() {
            self.each[level - 1].weight = self.each[level].weight * self.each[level].cut;
        }
    }

    /// Returns the digit of a slice at a level: the index of the piece that the level cut.
    fn digit(&self, slice: usize, level: usize) -> usize {
        slice / self.each[level].weight % self.each[level].cut
    }

    /// Returns the rank that holds a slice before `level`, in the group that begins with rank `first` and is merged at `level`.
    fn holder(&self, level: usize, first: usize, slice: usize) -> usize {
        self.each[..level].iter().rev().fold(first, |first, below| {
            let present = (self.ranks - first).div_ceil(below.distance).min(below.radix);
            let cut = self.each[below.decider].cut;
            first + self.digit(slice, below.decider) * present / cut * below.distance
        })
    }
}

/// A rank's position and the slices that it holds at each level.
///
/// The number of a slice has a digit for each level that cuts: the index of the piece there. If all levels cut, each rank
/// of a complete group holds one slice, whose digits are those of the rank. After a level that keeps slices whole, a rank
/// may hold none. In an incomplete group the members also hold the slices of missing members. In all cases a rank holds
/// the slices whose digits are in a range. The range of a digit does not depend on the other digits, so slices are found
/// and counted by arithmetic.
struct RankSlices {
    radices: Radices,
    rank: usize,
    /// Number of slices that the rank holds before each level, and after the last.
    held: [usize; MOST_LEVELS + 1],
}

/// A group of ranks that results from the merge at one level, as one of its ranks sees it.
#[derive(Clone, Copy)]
struct Group {
    members: usize,
    /// Index of the member (a merged group) that contains the rank.
    mine: usize,
    first: usize,
}

impl RankSlices {
    fn new(radices: Radices, rank: usize) -> Self {
        let mut seat = Self { radices, rank, held: [1; _] };
        for level in 1..=radices.levels {
            seat.held[level] = seat.digits(level).map(|digit| seat.range(digit, level).len()).product();
        }
        seat
    }

    fn group(&self, level: usize) -> Group {
        let Level { radix, distance, .. } = self.radices.each[level];
        let reach = distance * radix;
        let first = self.rank / reach * reach;
        let present = (self.radices.ranks - first).min(reach);
        Group { members: present.div_ceil(distance), mine: (self.rank - first) / distance, first }
    }

    /// Returns the slices that the rank holds before a level, in order.
    fn slices(&self, level: usize) -> impl Iterator<Item = usize> {
        (0..self.held[level]).map(move |index| {
            let (mut slice, mut left) = (0, index);
            for digit in self.digits(level).rev() {
                let range = self.range(digit, level);
                slice += (range.start + left % range.len()) * self.radices.each[digit].weight;
                left /= range.len();
            }
            slice
        })
    }

    /// Returns how many of the slices that the rank holds before a level precede `slice`.
    fn before(&self, level: usize, slice: usize) -> usize {
        let (mut before, mut behind) = (0, self.held[level]);
        for digit in self.digits(level) {
            let range = self.range(digit, level);
            if behind == 0 || range.is_empty() {
                break;
            }
            behind /= range.len();
            let value = self.radices.digit(slice, digit);
            before += value.clamp(range.start, range.end).saturating_sub(range.start) * behind;
            if !range.contains(&value) {
                break;
            }
        }
        before
    }

    /// Returns the levels before `level` that cut slices, and so have a digit in a slice's number.
    fn digits(&self, level: usize) -> impl DoubleEndedIterator<Item = usize> {
        (0..level).filter(|digit| self.radices.each[*digit].cut > 1)
    }

    /// Returns the values that a digit has in the slices that the rank holds before a level.
    fn range(&self, digit: usize, level: usize) -> Range<usize> {
        let cut = self.radices.each[digit].cut;
        (digit..level).filter(|below| self.radices.each[*below].decider == digit).fold(
            0..cut,
            |range, below| {
                let Group { members, mine, .. } = self.group(below);
                let given = given(cut, members, mine);
                let start = range.start.max(given.start);
                start..range.end.min(given.end).max(start)
            },
        )
    }
}

/// Returns the digit values that a member of a group gets. All `cut` values are divided among the members in order.
fn given(cut: usize, members: usize, member: usize) -> Range<usize> {
    (member * cut).div_ceil(members)..((member + 1) * cut).div_ceil(members)
}
