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

use super::{Chunks, Memory, Place, RecvStep, Schedule, SendStep, Then};

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

/// Most levels: as many as halve 2^24 ranks.
const MOST_LEVELS: usize = 24;

/// Most slices of a block below the last level: of more, those who hold them send messages that are all gap.
const MOST_SLICES: usize = 64;

/// How many groups of a level make up one of the next. The groups of the first are ranks, and that of the last is all
/// of them.
///
/// All but the last are powers of two, so that a group is one vertex of the tree over ranks
/// ([`tree`](crate::collective::tree)): one value stands for it, and is combined with those of its neighbours alone.
/// Where ranks end, the last group of a level has fewer members, down to a single rank.
///
/// At each level a slice of a block is cut into as many, until there are enough; behind that slices stay whole
/// but for the last level, and one of those who hold them is given all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Radices {
    ranks: usize,
    each: [usize; MOST_LEVELS],
    /// Into how many a slice is cut.
    cuts: [usize; MOST_LEVELS],
    /// The level whose digit of a slice says who of a group is given it.
    deciders: [usize; MOST_LEVELS],
    /// The radices of lower levels multiplied, and the cuts of higher ones.
    distances: [usize; MOST_LEVELS],
    weights: [usize; MOST_LEVELS],
    levels: usize,
}

impl Radices {
    /// Groups that are made one at most: each other member of one needs a slot, and of two chunks at a time.
    pub(in crate::collective) const MOST: usize = 8;

    /// Most levels of any number of ranks.
    pub(super) const MOST_LEVELS: usize = MOST_LEVELS;

    /// Those of so many ranks: of four, which take as many messages as of two and half the rounds, and what is left.
    pub(in crate::collective) fn of(ranks: usize) -> Self {
        assert!(ranks > 0, "of no ranks there is no value");
        let twos = ranks.trailing_zeros();
        let odd = ranks >> twos;
        let mut each = Each { radices: [1; MOST_LEVELS], levels: 0 };
        if odd <= Self::MOST {
            // What is odd is in the last level, beside as many twos as leave few enough. Every group has all members.
            let together = odd > 1 && odd * 2 <= Self::MOST && twos > 0;
            let (twos, last) = if together { (twos - 1, odd * 2) } else { (twos, odd) };
            let fours = core::iter::repeat_n(4, twos as usize / 2);
            fours.chain((twos % 2 == 1).then_some(2)).for_each(|radix| each.push(radix));
            if last > 1 {
                each.push(last);
            }
        } else {
            // Three that are left of four would have to share four slices: of two, two share as many, or one has both.
            let is_uneven = ranks % 4 == 3;
            let mut groups = ranks;
            if is_uneven {
                each.push(2);
                groups = groups.div_ceil(2);
            }
            while groups > Self::MOST {
                each.push(4);
                groups = groups.div_ceil(4);
            }
            each.push(groups);
        }
        each.cut(ranks)
    }

    /// From the first level on.
    pub(in crate::collective) fn each(&self) -> &[usize] {
        &self.each[..self.levels]
    }

    /// How many ranks there are.
    pub(in crate::collective) fn ranks(&self) -> usize {
        self.ranks
    }

    /// How far from each other the members of a group of a level are: so many ranks are each of them.
    pub(in crate::collective) fn distance(&self, level: usize) -> usize {
        self.distances[level]
    }

    /// Into how many slices each is cut at a level; 1 where it stays whole.
    pub(in crate::collective) fn cut(&self, level: usize) -> usize {
        self.cuts[level]
    }

    /// The level whose digit of a slice says which member of a group is given it at a level: this one, if it is cut.
    pub(in crate::collective) fn decider(&self, level: usize) -> usize {
        self.deciders[level]
    }

    /// What one more makes of the number of a slice at a level: all that it is cut into further on.
    pub(in crate::collective) fn weight(&self, level: usize) -> usize {
        self.weights[level]
    }

    /// Which of those that a slice was cut into at a level one is.
    pub(in crate::collective) fn digit(&self, slice: usize, level: usize) -> usize {
        slice / self.weight(level) % self.cut(level)
    }
}

/// Radices that are being chosen.
struct Each {
    radices: [usize; MOST_LEVELS],
    levels: usize,
}

impl Each {
    fn push(&mut self, radix: usize) {
        self.radices[self.levels] = radix;
        self.levels += 1;
    }

    /// With what slices are cut into.
    fn cut(self, ranks: usize) -> Radices {
        let Self { radices: each, levels } = self;
        let (mut cuts, mut deciders) = ([1; MOST_LEVELS], [0; MOST_LEVELS]);
        let (mut slices, mut lower, mut whole) = (1, [0; MOST_LEVELS], 0);
        let mut cut_levels = 0;
        for level in 0..levels {
            if slices * each[level] <= MOST_SLICES || level + 1 == levels {
                (cuts[level], deciders[level]) = (each[level], level);
                slices *= each[level];
                lower[cut_levels] = level;
                cut_levels += 1;
            } else {
                // Another digit each time, so that slices come to other members, on other nodes.
                deciders[level] = lower[whole % cut_levels];
                whole += 1;
            }
        }
        let (mut distances, mut weights) = ([1; MOST_LEVELS], [1; MOST_LEVELS]);
        for level in 1..levels {
            distances[level] = distances[level - 1] * each[level - 1];
        }
        for level in (1..levels).rev() {
            weights[level - 1] = weights[level] * cuts[level];
        }
        Radices { ranks, each, cuts, deciders, distances, weights, levels }
    }
}

/// What a rank is in its group of each level, and what it holds of a block there.
///
/// The number of a slice is made of digits, one for each level that cuts: the first says which of the first cut it
/// is. In a group with all members each holds the slice with the digits of its rank. Where some are missing, those present
/// have what would be theirs: a member holds those slices of which each digit is in a range. It is the same
/// range whatever the other digits are, so slices are found and counted by calculation.
pub(in crate::collective) struct Seat {
    radices: Radices,
    rank: usize,
    /// How many slices it holds below each level, and in the end.
    held: [usize; Radices::MOST_LEVELS + 1],
}

/// A group of groups at one level, as one of its members sees it.
#[derive(Clone, Copy, Debug)]
pub(in crate::collective) struct Group {
    /// How many are there.
    pub(in crate::collective) members: usize,
    /// Which of them the rank is.
    pub(in crate::collective) mine: usize,
    /// The first rank.
    pub(in crate::collective) first: usize,
}

impl Seat {
    /// That of a rank.
    pub(in crate::collective) fn new(radices: Radices, rank: usize) -> Self {
        let mut seat = Self { radices, rank, held: [1; _] };
        for level in 0..seat.levels() {
            let digits = (0..=level).filter(|digit| radices.cut(*digit) > 1);
            seat.held[level + 1] = digits.map(|digit| seat.range(digit, level + 1).len()).product();
        }
        seat
    }

    pub(in crate::collective) fn rank(&self) -> usize {
        self.rank
    }

    /// Slices that it holds below a level.
    pub(in crate::collective) fn held(&self, level: usize) -> usize {
        self.held[level]
    }

    /// Its group of a level.
    pub(in crate::collective) fn group(&self, level: usize) -> Group {
        let distance = self.radices.distance(level);
        let reach = distance * self.radices.each()[level];
        let first = self.rank / reach * reach;
        let present = (self.radices.ranks() - first).min(reach);
        Group { members: present.div_ceil(distance), mine: (self.rank - first) / distance, first }
    }

    /// The slices that it holds below a level, in order.
    pub(in crate::collective) fn slices(&self, level: usize) -> impl Iterator<Item = usize> {
        (0..self.held[level]).map(move |index| {
            let (mut slice, mut left) = (0, index);
            for digit in self.digits(level).rev() {
                let range = self.range(digit, level);
                slice += (range.start + left % range.len()) * self.radices.weight(digit);
                left /= range.len();
            }
            slice
        })
    }

    /// How many slices it holds below a level that come before one.
    pub(in crate::collective) fn before(&self, level: usize, slice: usize) -> usize {
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

    /// Who of the group of a level that begins with a rank holds a slice below the level. The group is one of those
    /// that become one at the level.
    pub(in crate::collective) fn holder(
        radices: &Radices,
        level: usize,
        first: usize,
        slice: usize,
    ) -> usize {
        (0..level).rev().fold(first, |first, below| {
            let distance = radices.distance(below);
            let present = (radices.ranks() - first).div_ceil(distance).min(radices.each()[below]);
            let decider = radices.decider(below);
            first + radices.digit(slice, decider) * present / radices.cut(decider) * distance
        })
    }

    /// The levels below one that cut slices, in order: those that have digits.
    fn digits(&self, level: usize) -> impl DoubleEndedIterator<Item = usize> {
        (0..level).filter(|digit| self.radices.cut(*digit) > 1)
    }

    /// The values of a digit of slices that it holds below a level.
    fn range(&self, digit: usize, level: usize) -> Range<usize> {
        let cut = self.radices.cut(digit);
        (digit..level).filter(|below| self.radices.decider(*below) == digit).fold(0..cut, |range, below| {
            let Group { members, mine, .. } = self.group(below);
            let given = given(cut, members, mine);
            range.start.max(given.start)..range.end.min(given.end).max(range.start.max(given.start))
        })
    }

    fn levels(&self) -> usize {
        self.radices.each().len()
    }
}

/// The values of a digit for which a member of a group is given slices: all of them are dealt, in order.
pub(in crate::collective) fn given(cut: usize, members: usize, member: usize) -> Range<usize> {
    (member * cut).div_ceil(members)..((member + 1) * cut).div_ceil(members)
}
