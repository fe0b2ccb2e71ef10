//! Two-tree broadcast: chunks alternate between two binary trees of the ranks.
//!
//! A rank with children in one tree is a leaf of the other, so no rank sends more than the root does. The root sends each chunk
//! once, to the top rank of the chunk's tree. The two trees are separate pipelines.
//!
//! All ranks except the root are numbered from 1 on. The first tree is in order, so its leaves are odd numbers. The second tree has
//! the same shape, with the numbers mirrored or, if their count is odd, moved by one. So its leaves are the even numbers and, if
//! the count is odd, the last number. That rank alone is a leaf of both trees. Two ranks have one tree.
//!
//! Source: P. Sanders, J. Speck and J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009.

use super::{Chunks, Memory, Place, RecvStep, Schedule, SendStep, Then};

/// One of the two trees, as one rank sees it.
pub(in crate::collective) struct TwoTree {
    ranks: usize,
    root: usize,
    /// Number of this rank in the trees; the root has 0.
    number: usize,
    /// Index of the tree: 0 for the first tree, whose leaves are odd numbers, 1 for the second.
    way: usize,
    /// The chunks of both trees.
    chunks: Chunks,
    /// Number of slots that this tree uses.
    slots: usize,
}

impl TwoTree {
    /// Returns both trees of `rank`. `slots` must be even. With two ranks the first tree has all chunks.
    pub(in crate::collective) fn both(
        ranks: usize,
        rank: usize,
        root: usize,
        chunks: Chunks,
        slots: usize,
    ) -> [Self; 2] {
        assert!(ranks > 1 && slots.is_multiple_of(2), "{ranks} ranks, {slots} slots");
        let (number, slots) = ((rank + ranks - root) % ranks, slots / Self::ways(ranks));
        [0, 1].map(|way| Self { ranks, root, number, way, chunks, slots })
    }

    /// Returns the number of trees, between which chunks alternate.
    pub(in crate::collective) fn ways(ranks: usize) -> usize {
        (ranks - 1).min(2)
    }

    fn others(&self) -> usize {
        self.ranks - 1
    }

    fn rank(&self, number: usize) -> usize {
        (self.root + number) % self.ranks
    }

    /// Returns the position of a rank's number in this tree. In the second tree numbers are mirrored or moved by one.
    fn place(&self, number: usize) -> usize {
        match (self.way, self.others() % 2) {
            (0, _) => number,
            (_, 0) => self.ranks - number,
            _ => number % self.others() + 1,
        }
    }

    /// Returns the rank's number at a position, as the inverse of [`place`](Self::place).
    fn number(&self, place: usize) -> usize {
        match (self.way, self.others() % 2) {
            (0, _) => place,
            (_, 0) => self.ranks - place,
            _ => (place + self.others() - 2) % self.others() + 1,
        }
    }

    /// Returns the number of hops for which `is_far` is true, on the path of a chunk from the root to this rank.
    pub(in crate::collective) fn hops(&self, is_far: impl Fn(usize, usize) -> bool) -> usize {
        let (mut number, mut hops) = (self.number, 0);
        while number > 0 && self.chunks.count() > self.way {
            let (above, _) = self.above(number);
            hops += usize::from(is_far(self.rank(above), self.rank(number)));
            number = above;
        }
        hops
    }

    /// Returns the parent of a rank's number, and the index of that number among the parent's children.
    fn above(&self, number: usize) -> (usize, usize) {
        let place = self.place(number);
        let mut at = top(self.others());
        if at == place {
            return (0, self.way);
        }
        loop {
            let [left, right] = below(at, self.others());
            let side = usize::from(place > at);
            let next = if side == 0 { left } else { right };
            if next == Some(place) {
                return (self.number(at), side);
            }
            at = next.unwrap_or_else(|| unreachable!("place {place} is in a tree of {}", self.others()));
        }
    }

    fn below(&self) -> [Option<usize>; 2] {
        if self.number == 0 {
            let mut tops = [None; 2];
            tops[self.way] = Some(self.number(top(self.others())));
            return tops;
        }
        below(self.place(self.number), self.others()).map(|place| Some(self.number(place?)))
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        let chunks = (self.way..self.chunks.count()).step_by(Self::ways(self.ranks));
        chunks.map(|chunk| Place::of(Memory::Result, 0, self.chunks.range(chunk)))
    }
}

impl Schedule for TwoTree {
    fn sends(&self) -> impl Iterator<Item = SendStep> {
        let below = self.below();
        self.places().enumerate().flat_map(move |(number, place)| {
            let below = below.into_iter().enumerate();
            below.filter_map(move |(credit, to)| {
                Some(SendStep {
                    to: self.rank(to?),
                    number,
                    from: place,
                    lands: Some(place.at),
                    after: if self.number == 0 { 0 } else { number + 1 },
                    credit,
                    needs: (number + 1).saturating_sub(self.slots) as u64,
                })
            })
        })
    }

    fn receives(&self) -> impl Iterator<Item = RecvStep> {
        let above = (self.number > 0).then(|| self.above(self.number));
        let come = above
            .into_iter()
            .flat_map(|(number, credit)| self.places().map(move |into| (number, credit, into)));
        come.map(|(number, credit, into)| RecvStep {
            from: self.rank(number),
            credit,
            into,
            then: Then::Copy,
        })
    }

    fn credits(&self) -> usize {
        2
    }
}

/// Returns the root of an in-order tree with positions 1 to `places`: the largest power of two.
fn top(places: usize) -> usize {
    1 << places.ilog2()
}

/// Returns the left and the right child of a position in an in-order tree.
fn below(place: usize, places: usize) -> [Option<usize>; 2] {
    let reach = 1 << place.trailing_zeros();
    let right = (reach - 1).min(places - place);
    [(reach > 1).then(|| place - reach / 2), (right > 0).then(|| place + top(right))]
}
