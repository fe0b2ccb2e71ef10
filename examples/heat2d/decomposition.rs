//! Which PE has which rows.

use std::ops::Range;

/// Rows dealt out to PEs in consecutive blocks, in the order of their numbers. Sizes differ by at
/// most one; the larger blocks come first. With more PEs than rows the last PEs have none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decomposition {
    rows: usize,
    pes: usize,
}

impl Decomposition {
    pub(crate) fn new(rows: usize, pes: usize) -> Self {
        Self { rows, pes }
    }

    /// All rows.
    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// The rows of a PE.
    pub(crate) fn rows_of(self, pe: usize) -> Range<usize> {
        let (each, larger) = (self.rows / self.pes, self.rows % self.pes);
        let start = pe * each + pe.min(larger);
        start..start + each + usize::from(pe < larger)
    }

    /// Rows of the largest block.
    pub(crate) fn largest(self) -> usize {
        self.rows_of(0).len()
    }

    /// The PE that has the row above those of `pe`.
    pub(crate) fn above(self, pe: usize) -> Option<usize> {
        let rows = self.rows_of(pe);
        (!rows.is_empty() && rows.start > 0).then(|| pe - 1)
    }

    /// The PE that has the row below those of `pe`.
    pub(crate) fn below(self, pe: usize) -> Option<usize> {
        let rows = self.rows_of(pe);
        (!rows.is_empty() && rows.end < self.rows).then_some(pe + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_row_has_one_owner_and_blocks_differ_by_one(rows in 0..500_usize, pes in 1..40_usize) {
            let d = Decomposition::new(rows, pes);
            let blocks: Vec<_> = (0..pes).map(|pe| d.rows_of(pe)).collect();
            prop_assert_eq!(blocks.iter().cloned().flatten().collect::<Vec<_>>(), (0..rows).collect::<Vec<_>>());
            let smallest = blocks.iter().map(ExactSizeIterator::len).min();
            prop_assert!(d.largest() - smallest.unwrap_or(0) <= 1);
        }

        #[test]
        fn neighbours_have_the_adjacent_rows(rows in 0..100_usize, pes in 1..40_usize) {
            let d = Decomposition::new(rows, pes);
            let owner = |row: usize| (0..pes).find(|pe| d.rows_of(*pe).contains(&row));
            for pe in 0..pes {
                let mine = d.rows_of(pe);
                let (above, below) = if mine.is_empty() {
                    (None, None)
                } else {
                    (mine.start.checked_sub(1).and_then(owner), owner(mine.end))
                };
                prop_assert_eq!(d.above(pe), above);
                prop_assert_eq!(d.below(pe), below);
            }
        }
    }
}
