//! The position of a rank in halving and doubling, and the slices that it owns at each level.

use core::ops::Range;

use super::Radices;

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
