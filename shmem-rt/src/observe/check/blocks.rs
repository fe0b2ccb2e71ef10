//! The bytes of an access, stored as nested loops over blocks, so that a strided access is represented exactly.

use shmem_core::strided::{Level, Pattern};

/// Upper limit on the nested loops of a [`Blocks`]. A pattern with more loops becomes several [`Blocks`].
const LOOPS: usize = 3;

/// Upper limit on the blocks of the smaller side of a comparison, to bound its time. Above the limit, accesses count as disjoint.
const MOST: u64 = 1 << 16;

/// Blocks of bytes in nested loops, at offsets in a slot or at addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Blocks {
    pub(super) start: u64,
    block: u64,
    depth: u64,
    /// (count, distance in bytes) of each loop, outermost first.
    loops: [[u64; 2]; LOOPS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    To,
    From,
}

impl Blocks {
    pub(super) const fn range(start: usize, bytes: usize) -> Self {
        Self { start: start as u64, block: bytes as u64, depth: 0, loops: [[1, 0]; LOOPS] }
    }

    /// Returns the blocks that begin at `start` in the source or the destination (`side`) of a pattern.
    pub(super) fn of(pattern: &Pattern, side: Side, start: usize) -> Vec<Self> {
        let levels = pattern.levels();
        let distance = |level: &Level| if side == Side::To { level.to } else { level.from };
        let (outer, inner) = levels.split_at(levels.len().saturating_sub(LOOPS));
        let mut one = Self::range(start, pattern.block());
        for level in inner {
            one.loops[one.depth as usize] = [level.count as u64, distance(level) as u64];
            one.depth += 1;
        }
        let mut all = vec![one];
        for level in outer {
            let further = |turn: usize| (turn * distance(level)) as u64;
            all = (0..level.count)
                .flat_map(|turn| all.iter().map(move |one| Self { start: one.start + further(turn), ..*one }))
                .collect();
        }
        all
    }

    pub(super) fn moved(self, by: usize) -> Self {
        Self { start: self.start + by as u64, ..self }
    }

    pub(super) fn from(self, start: usize) -> Self {
        Self { start: self.start - start as u64, ..self }
    }

    /// Joins `other` with these blocks if both are equal, or both are ranges and `other` begins inside or directly after this one.
    pub(super) fn extend(&mut self, other: &Self) -> bool {
        let end = self.start + self.block;
        let joins = self.depth == 0 && other.depth == 0 && (self.start..=end).contains(&other.start);
        if joins {
            self.block = self.block.max(other.start + other.block - self.start);
        }
        joins || *self == *other
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        if self.block == 0 || other.block == 0 || self.end() <= other.start || other.end() <= self.start {
            return false;
        }
        let (few, many) = if self.count() <= other.count() { (self, other) } else { (other, self) };
        few.count() <= MOST
            && few.any(0, few.start, &mut |start| many.touches(0, many.start, start, start + few.block))
    }

    fn loops(&self) -> &[[u64; 2]] {
        &self.loops[..self.depth as usize]
    }

    fn count(&self) -> u64 {
        self.loops().iter().map(|[count, _]| count).product()
    }

    fn end(&self) -> u64 {
        self.start + self.hull(0)
    }

    /// Returns the bytes from the start of the first block to the end of the last block, in the loops from `depth` inwards.
    fn hull(&self, depth: usize) -> u64 {
        self.block + self.loops()[depth..].iter().map(|[count, distance]| (count - 1) * distance).sum::<u64>()
    }

    /// Returns whether `holds` is true for the start of any block in the loops from `depth` inwards.
    fn any(&self, depth: usize, start: u64, holds: &mut impl FnMut(u64) -> bool) -> bool {
        let Some([count, distance]) = self.loops().get(depth) else {
            return holds(start);
        };
        (0..*count).any(|turn| self.any(depth + 1, start + turn * distance, holds))
    }

    /// Returns whether any block in the loops from `depth` inwards overlaps `start..end`. The first of these blocks begins at `at`.
    fn touches(&self, depth: usize, at: u64, start: u64, end: u64) -> bool {
        let hull = self.hull(depth);
        if at >= end || at + hull <= start {
            return false;
        }
        let Some([count, distance]) = self.loops().get(depth) else {
            return true;
        };
        if *distance == 0 {
            return self.touches(depth + 1, at, start, end);
        }
        let inside = self.hull(depth + 1);
        let first = (start + 1).saturating_sub(at + inside).div_ceil(*distance);
        let last = ((end - 1 - at) / distance).min(count - 1);
        (first..=last).any(|turn| self.touches(depth + 1, at + turn * distance, start, end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bytes(pattern: &Pattern, side: Side, start: usize) -> BTreeSet<usize> {
        let mut bytes = BTreeSet::new();
        pattern.each_block(|to, from| {
            let at = start + if side == Side::To { to } else { from };
            bytes.extend(at..at + pattern.block());
        });
        bytes
    }

    fn pattern() -> impl Strategy<Value = Pattern> {
        let level = (1_usize..5, 1_usize..40, 1_usize..40);
        (1_usize..6, proptest::collection::vec(level, 0..5)).prop_map(|(block, levels)| {
            let levels: Vec<_> = levels.iter().map(|&(count, to, from)| Level { count, to, from }).collect();
            Pattern::of_levels(block, &levels)
        })
    }

    proptest! {
        #[test]
        fn two_overlap_when_they_share_a_byte(a in pattern(), b in pattern(), at in 0_usize..300) {
            for side in [Side::To, Side::From] {
                let expected = !bytes(&a, side, 100).is_disjoint(&bytes(&b, side, at));
                let (a, b) = (Blocks::of(&a, side, 100), Blocks::of(&b, side, at));
                let found = a.iter().any(|a| b.iter().any(|b| a.overlaps(b)));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
