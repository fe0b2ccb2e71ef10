//! Recursive halving and doubling: a reduce-scatter, level by level, and the same way back an allgather, in groups of any size.
//!
//! Each rank is a group at first; at each level some groups that follow each other become one ([`Radices`]). Those members of these
//! groups that hold the same slice of a block cut it into pieces, deal these among themselves, send each its piece, and combine what
//! they are sent with what they have. So a rank holds less of a larger group at each level, and in the end its part of the result. The
//! same way back each gives the others its pieces, until all have the block.
//!
//! Where ranks end, groups have fewer members, which hold more slices each ([`Seat`]). At each level those who share a slice keep equal
//! parts of it, as far as pieces can be dealt evenly. A rank sends what it does not keep, and on the way back as much: in all twice
//! the block, less what it has in the end. A slice that stays whole is given to one of them: that costs it at most the others' slices.
//!
//! Blocks follow each other like waves: in turn `t` a block that has come to step `s` is the one with number `t - 2 s`. Inside a step all
//! ranks keep to the order of slices, then of a member's pieces, then of the distance from sender to receiver.
//!
//! What has been sent at a level is written again on the way back, at the earliest when the result for it comes. That is made of what
//! was sent: so it has been delivered.
//!
//! Source: R. Rabenseifner, "Optimization of collective reduction operations", 2004. Groups of four halve its rounds; that it serves any
//! number of ranks is ours.

use core::ops::Range;

use super::seat::{Group, Seat, given};
use super::{Chunks, Memory, Place, Radices, RecvStep, Schedule, SendStep, Then};

/// By how many turns of the wave each step comes behind the one before it. What a step of one block waits for is then
/// under way while another block is sent.
const LAG: usize = 2;

/// A reduction, as one rank sees it.
pub(in crate::collective) struct HalvingDoubling {
    radices: Radices,
    seat: Seat,
    blocks: Chunks,
    grain: usize,
    slots: usize,
}

/// A chunk between two who hold the same slice.
#[derive(Clone, Copy)]
struct Passage {
    block: usize,
    step: usize,
    slice: usize,
    /// Which of the pieces that its owner has of the slice.
    turn: usize,
    /// How many members of the group further on who receives it is from who sends it, round the group.
    distance: usize,
}

impl HalvingDoubling {
    /// For `rank`, of blocks that have a chunk of at most `most` bytes for each member of a group, and items of `grain`.
    pub(in crate::collective) fn new(
        rank: usize,
        radices: Radices,
        bytes: usize,
        most: usize,
        grain: usize,
        slots: usize,
    ) -> Self {
        let first = radices.each().first().copied().unwrap_or(1);
        let blocks = Chunks::new(bytes, most / grain * grain * first, grain);
        Self { radices, seat: Seat::new(radices, rank), blocks, grain, slots }
    }

    /// The steps of a block, as bits, in which this rank sends to one of whom `is_far` says so.
    pub(in crate::collective) fn steps_to(&self, is_far: impl Fn(usize) -> bool) -> u64 {
        let first = self.walk().filter(|(passage, _)| passage.block == 0);
        let sends = first.filter(|(passage, group)| {
            let Passage { step, slice, turn, distance, .. } = *passage;
            let to = (group.mine + distance) % group.members;
            let owner = if self.returns(step) { group.mine } else { to };
            let level = self.level(step);
            let is_sent = self.piece(level, *group, owner, slice, turn).is_some();
            is_sent && is_far(self.holder(level, *group, to, slice).rank())
        });
        sends.fold(0, |steps, (passage, _)| steps | 1 << passage.step)
    }

    fn steps(&self) -> usize {
        2 * self.radices.each().len()
    }

    /// The level of a step, from 0.
    fn level(&self, step: usize) -> usize {
        step.min(self.steps() - 1 - step)
    }

    /// Whether a step is on the way back.
    fn returns(&self, step: usize) -> bool {
        step != self.level(step)
    }

    /// All that may go from this rank, or come to it, in the order in which it does.
    fn walk(&self) -> impl Iterator<Item = (Passage, Group)> {
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
                    self.inside(level, group)
                        .map(move |(turn, distance)| (Passage { block, step, slice, turn, distance }, group))
                })
            })
    }

    /// The order of what is sent for one slice.
    fn inside(&self, level: usize, group: Group) -> impl Iterator<Item = (usize, usize)> + use<> {
        let pieces = self.radices.cut(level).div_ceil(group.members);
        (0..pieces).flat_map(move |turn| (1..group.members).map(move |distance| (turn, distance)))
    }

    /// A piece of a slice, which a member of a group owns above a level: it is a slice there.
    fn piece(&self, level: usize, group: Group, owner: usize, slice: usize, turn: usize) -> Option<usize> {
        let decider = self.radices.decider(level);
        let mut owned = given(self.radices.cut(decider), group.members, owner);
        if decider == level {
            return owned.nth(turn).map(|piece| slice + piece * self.radices.weight(level));
        }
        (turn == 0 && owned.contains(&self.radices.digit(slice, decider))).then_some(slice)
    }

    /// The member of a group who holds a slice.
    fn holder(&self, level: usize, group: Group, member: usize, slice: usize) -> Seat {
        let first = group.first + member * self.radices.distance(level);
        Seat::new(self.radices, Seat::holder(&self.radices, level, first, slice))
    }

    /// How many chunks come to a rank in a step of each block.
    fn coming(&self, seat: &Seat, step: usize) -> usize {
        let level = self.level(step);
        let owned = seat.held(level + 1);
        if self.returns(step) {
            seat.held(level) * self.radices.cut(level) - owned
        } else {
            owned * (seat.group(level).members - 1)
        }
    }

    /// How many chunks come to a rank before a block comes to a step.
    fn before(&self, seat: &Seat, block: usize, step: usize) -> usize {
        let turn = block + step * LAG;
        let begun = |other: usize| (turn + usize::from(other < step)).saturating_sub(other * LAG);
        (0..self.steps()).map(|other| begun(other).min(self.blocks.count()) * self.coming(seat, other)).sum()
    }

    /// How many chunks come to a rank, in the step and for the block of one of them, before that.
    fn before_in_step(&self, seat: &Seat, passage: Passage, piece: usize) -> usize {
        let Passage { step, slice, turn, distance, .. } = passage;
        let level = self.level(step);
        let group = seat.group(level);
        if !self.returns(step) {
            return seat.before(level + 1, piece) * (group.members - 1) + distance - 1;
        }
        let comes = |(turn, distance): &(usize, usize)| {
            let owner = (group.mine + group.members - distance) % group.members;
            self.piece(level, group, owner, slice, *turn).is_some()
        };
        let here = self.inside(level, group).take_while(|at| *at != (turn, distance)).filter(comes).count();
        seat.before(level, slice) * self.radices.cut(level) - seat.before(level + 1, slice) + here
    }

    /// Credit counters of the sender, for the chunks of a step.
    fn credits_of(&self, seat: &Seat, step: usize) -> usize {
        let level = self.level(step);
        let others = seat.group(level).members - 1;
        match (others, self.returns(step)) {
            (0, _) => 0,
            (_, true) => seat.held(level + 1) * others,
            // One for each piece: those that it keeps have one as well.
            (_, false) => seat.held(level) * self.radices.cut(level),
        }
    }

    /// The credit counter of the sender of a piece.
    fn credit(&self, seat: &Seat, passage: Passage, piece: usize) -> usize {
        let Passage { step, slice, distance, .. } = passage;
        let level = self.level(step);
        let first: usize = (0..step).map(|before| self.credits_of(seat, before)).sum();
        let within = if self.returns(step) {
            seat.before(level + 1, piece) * (seat.group(level).members - 1) + distance - 1
        } else {
            let cut = self.radices.cut(level);
            seat.before(level, slice) * cut + self.radices.digit(piece, level)
        };
        first + within
    }

    /// The bytes of a slice of a block below a level.
    fn at(&self, block: usize, level: usize, slice: usize) -> Place {
        let part = (0..level).fold(self.blocks.range(block), |part, below| {
            self.cut(&part, self.radices.cut(below), self.radices.digit(slice, below))
        });
        Place::of(Memory::Result, 0, part)
    }

    fn cut(&self, part: &Range<usize>, pieces: usize, piece: usize) -> Range<usize> {
        let each = part.len().div_ceil(pieces).next_multiple_of(self.grain);
        let cut = |pieces: usize| part.end.min(part.start + pieces * each);
        cut(piece)..cut(piece + 1)
    }
}

impl Schedule for HalvingDoubling {
    fn sends(&self) -> impl Iterator<Item = SendStep> {
        self.walk().filter_map(|(passage, group)| {
            let Passage { block, step, slice, turn, distance } = passage;
            let level = self.level(step);
            let to = (group.mine + distance) % group.members;
            let owner = if self.returns(step) { group.mine } else { to };
            let piece = self.piece(level, group, owner, slice, turn)?;
            let to = self.holder(level, group, to, slice);
            let within = self.before_in_step(&to, passage, piece);
            let number = |block| self.before(&to, block, step) + within;
            // Every block comes later than the one before, so few have a slot from the start.
            let free = |number: &usize| *number < self.slots;
            let late = number(block) >= self.slots;
            let first = if late { (0..=block).take_while(|block| free(&number(*block))).count() } else { 0 };
            let from = self.at(block, level + 1, piece);
            Some(SendStep {
                to: to.rank(),
                number: number(block),
                from,
                lands: self.returns(step).then_some(from.at),
                after: match step {
                    0 => 0,
                    _ => self.before(&self.seat, block, step - 1) + self.coming(&self.seat, step - 1),
                },
                credit: self.credit(&self.seat, passage, piece),
                needs: if late { (block + 1 - first) as u64 } else { 0 },
            })
        })
    }

    fn receives(&self) -> impl Iterator<Item = RecvStep> {
        self.walk().filter_map(|(passage, group)| {
            let Passage { block, step, slice, turn, distance } = passage;
            let level = self.level(step);
            let from = (group.mine + group.members - distance) % group.members;
            let owner = if self.returns(step) { from } else { group.mine };
            let piece = self.piece(level, group, owner, slice, turn)?;
            let from = self.holder(level, group, from, slice);
            let then = match (self.returns(step), distance + 1 == group.members) {
                (true, _) => Then::Copy,
                (false, false) => Then::Hold,
                (false, true) => Then::Reduce { members: group.members, mine: group.mine },
            };
            Some(RecvStep {
                from: from.rank(),
                credit: self.credit(&from, passage, piece),
                into: self.at(block, level + 1, piece),
                then,
            })
        })
    }

    fn credits(&self) -> usize {
        (0..self.steps()).map(|step| self.credits_of(&self.seat, step)).sum()
    }
}
