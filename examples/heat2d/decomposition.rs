//! Which PE has which cells.

use std::ops::Range;

use clap::ValueEnum;
use shmem_examples::share;

/// The shapes of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cut {
    /// Whole rows.
    Rows,
    /// Rows and columns, where that makes fewer cells neighbours of another PE's.
    Blocks,
}

/// A rectangle of cells dealt out to a rectangle of PEs, which are numbered row by row. Rows, and
/// likewise columns, come in consecutive groups whose sizes differ by at most one; the larger groups
/// come first. Where there are more groups than rows or columns, the last ones have none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decomposition {
    /// Rows and columns of cells.
    size: [usize; 2],
    /// Rows and columns of PEs.
    grid: [usize; 2],
}

/// The PEs that have the cells next to those of a PE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbours {
    pub(crate) above: Option<usize>,
    pub(crate) below: Option<usize>,
    pub(crate) left: Option<usize>,
    pub(crate) right: Option<usize>,
}

impl Decomposition {
    /// The one with the fewest cells along its cuts, among those whose parts have at most `room` rows
    /// and columns; of two with as many, the one with fewer cuts through rows. Nothing if there is none.
    pub(crate) fn new(cut: Cut, size: [usize; 2], pes: usize, room: [usize; 2]) -> Option<Self> {
        let widths = 1..=if cut == Cut::Rows { 1 } else { pes };
        let grids = widths.filter(|width| pes.is_multiple_of(*width)).map(|width| [pes / width, width]);
        let all = grids.map(|grid| Self { size, grid });
        all.filter(|one| (0..2).all(|axis| share(size[axis], one.grid[axis], 0).len() <= room[axis]))
            .min_by_key(|one| one.cells_along_cuts())
    }

    /// All rows and columns.
    pub(crate) fn size(self) -> [usize; 2] {
        self.size
    }

    /// The rows and columns of a PE.
    pub(crate) fn part_of(self, pe: usize) -> [Range<usize>; 2] {
        let place = [pe / self.grid[1], pe % self.grid[1]];
        [0, 1].map(|axis| share(self.size[axis], self.grid[axis], place[axis]))
    }

    /// The PEs next to `pe`.
    pub(crate) fn neighbours_of(self, pe: usize) -> Neighbours {
        let [rows, columns] = self.part_of(pe);
        if rows.is_empty() || columns.is_empty() {
            return Neighbours::default();
        }
        Neighbours {
            above: (rows.start > 0).then(|| pe - self.grid[1]),
            below: (rows.end < self.size[0]).then(|| pe + self.grid[1]),
            left: (columns.start > 0).then(|| pe - 1),
            right: (columns.end < self.size[1]).then(|| pe + 1),
        }
    }

    fn cells_along_cuts(self) -> usize {
        let cuts = [0, 1].map(|axis| self.grid[axis].min(self.size[axis]).saturating_sub(1));
        cuts[0] * self.size[1] + cuts[1] * self.size[0]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANY: [usize; 2] = [usize::MAX; 2];

    fn cut() -> impl Strategy<Value = Cut> {
        prop_oneof![Just(Cut::Rows), Just(Cut::Blocks)]
    }

    proptest! {
        #[test]
        fn every_cell_has_one_owner_and_groups_differ_by_one(
            cut in cut(), size in [1..60_usize, 1..60_usize], pes in 1..40_usize,
        ) {
            let d = Decomposition::new(cut, size, pes, ANY).unwrap();
            let mut owners = vec![vec![0; size[1]]; size[0]];
            for [rows, columns] in (0..pes).map(|pe| d.part_of(pe)) {
                rows.for_each(|row| columns.clone().for_each(|column| owners[row][column] += 1));
            }
            prop_assert!(owners.iter().flatten().all(|owners| *owners == 1));
            for axis in 0..2 {
                let sizes = || (0..pes).map(|pe| d.part_of(pe)[axis].len());
                prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            }
        }

        #[test]
        fn neighbours_have_the_adjacent_cells(
            cut in cut(), size in [1..40_usize, 1..40_usize], pes in 1..40_usize,
        ) {
            let d = Decomposition::new(cut, size, pes, ANY).unwrap();
            let owner = |row: Option<usize>, column: Option<usize>| {
                let (row, column) = (row?, column?);
                (0..pes).find(|pe| {
                    let [rows, columns] = d.part_of(*pe);
                    rows.contains(&row) && columns.contains(&column)
                })
            };
            for pe in 0..pes {
                let [rows, columns] = d.part_of(pe);
                if rows.is_empty() || columns.is_empty() {
                    prop_assert_eq!(d.neighbours_of(pe), Neighbours::default());
                    continue;
                }
                // The first cell and the last one along each edge.
                for (row, column) in [(rows.start, columns.start), (rows.end - 1, columns.end - 1)] {
                    prop_assert_eq!(d.neighbours_of(pe), Neighbours {
                        above: owner(rows.start.checked_sub(1), Some(column)),
                        below: owner(Some(rows.end), Some(column)),
                        left: owner(Some(row), columns.start.checked_sub(1)),
                        right: owner(Some(row), Some(columns.end)),
                    });
                }
            }
        }

        #[test]
        fn cuts_are_as_short_as_they_can_be(size in [1..60_usize, 1..60_usize], pes in 1..40_usize) {
            // Pairs of adjacent cells that two PEs have.
            let cuts = |d: Decomposition| {
                let right_or_below = |pe: usize| {
                    let [rows, columns] = d.part_of(pe);
                    let next = d.neighbours_of(pe);
                    next.below.map_or(0, |_| columns.len()) + next.right.map_or(0, |_| rows.len())
                };
                (0..pes).map(right_or_below).sum::<usize>()
            };
            let chosen = cuts(Decomposition::new(Cut::Blocks, size, pes, ANY).unwrap());
            for width in (1..=pes).filter(|width| pes.is_multiple_of(*width)) {
                let other = Decomposition { size, grid: [pes / width, width] };
                prop_assert!(chosen <= cuts(other), "{:?} is better", other);
            }
        }
    }

    #[test]
    fn parts_have_room_or_there_are_none() {
        let grid = |cut, size, pes| Decomposition::new(cut, size, pes, [10, 20]).map(|d| d.grid);
        assert_eq!(grid(Cut::Blocks, [20, 20], 4), Some([2, 2]));
        assert_eq!(grid(Cut::Rows, [20, 20], 4), Some([4, 1]));
        assert_eq!(grid(Cut::Blocks, [5, 60], 3), Some([1, 3]));
        assert_eq!(grid(Cut::Rows, [5, 60], 3), None);
        assert_eq!(grid(Cut::Blocks, [5, 61], 3), None);
        // A square cut by a prime number: rows are contiguous.
        assert_eq!(grid(Cut::Blocks, [18, 18], 3), Some([3, 1]));
    }
}
