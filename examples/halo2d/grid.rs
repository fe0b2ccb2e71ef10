//! The PEs as a grid, and which of them has which cells.

use std::fmt;
use std::ops::Range;

use clap::ValueEnum;
use shmem_examples::shares::share;

/// What lies beyond the edges of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Border {
    /// The opposite edge: every PE has four neighbours, among which it may be itself.
    Periodic,
    /// Cells that never change.
    Fixed,
}

/// Rows and columns of PEs, numbered row by row. Each has a block of the field; the blocks of a row, and
/// of a column, differ by at most one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    size: [usize; 2],
    pes: [usize; 2],
    border: Border,
}

/// Where a neighbour is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    North,
    South,
    West,
    East,
}

/// There are too many PEs for the field.
#[derive(Debug, thiserror::Error)]
#[error("{} x {} cells cannot be dealt out to {pes} PEs in blocks of at least one cell", size[0], size[1])]
pub(crate) struct NoGrid {
    size: [usize; 2],
    pes: usize,
}

impl Grid {
    /// The grid whose blocks have the shortest edges; of two such, the one with more columns of PEs.
    pub(crate) fn new(size: [usize; 2], pes: usize, border: Border) -> Result<Self, NoGrid> {
        let heights = (1..=pes).filter(|height| pes.is_multiple_of(*height));
        let all = heights.map(|height| Self { size, pes: [height, pes / height], border });
        let fits = |grid: &Self| (0..2).all(|axis| grid.pes[axis] <= size[axis]);
        let edges = |grid: &Self| grid.pes[0] * size[1] + grid.pes[1] * size[0];
        all.filter(fits).min_by_key(edges).ok_or(NoGrid { size, pes })
    }

    /// Rows and columns of the field.
    pub(crate) fn size(self) -> [usize; 2] {
        self.size
    }

    pub(crate) fn border(self) -> Border {
        self.border
    }

    /// The rows and columns that a PE has.
    pub(crate) fn part_of(self, pe: usize) -> [Range<usize>; 2] {
        let place = [pe / self.pes[1], pe % self.pes[1]];
        [0, 1].map(|axis| share(self.size[axis], self.pes[axis], place[axis]))
    }

    /// The PE on a side of `pe`.
    pub(crate) fn neighbour(self, pe: usize, side: Side) -> Option<usize> {
        let [height, width] = self.pes;
        let (row, column) = (pe / width, pe % width);
        let (inside, row, column) = match side {
            Side::North => (row > 0, row + height - 1, column),
            Side::South => (row + 1 < height, row + 1, column),
            Side::West => (column > 0, row, column + width - 1),
            Side::East => (column + 1 < width, row, column + 1),
        };
        (inside || self.border == Border::Periodic).then(|| row % height * width + column % width)
    }
}

/// `2 x 2 blocks, periodic border`
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let border = if self.border == Border::Periodic { "periodic" } else { "fixed" };
        write!(f, "{} x {} blocks, {border} border", self.pes[0], self.pes[1])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_cell_has_one_owner_and_its_neighbours_are_theirs(
            size in [1..30_usize, 1..30_usize], pes in 1..25_usize, periodic: bool,
        ) {
            let border = if periodic { Border::Periodic } else { Border::Fixed };
            let Ok(grid) = Grid::new(size, pes, border) else { return Ok(()) };
            let mut owners = vec![vec![None; size[1]]; size[0]];
            for pe in 0..pes {
                let [rows, columns] = grid.part_of(pe);
                for row in rows {
                    for column in columns.clone() {
                        prop_assert_eq!(owners[row][column].replace(pe), None);
                    }
                }
            }
            let owner = |row: usize, column: usize| owners[row % size[0]][column % size[1]].unwrap();
            for pe in 0..pes {
                let [rows, columns] = grid.part_of(pe);
                for (side, inside, there) in [
                    (Side::North, rows.start > 0, owner(rows.start + size[0] - 1, columns.start)),
                    (Side::South, rows.end < size[0], owner(rows.end, columns.end - 1)),
                    (Side::West, columns.start > 0, owner(rows.end - 1, columns.start + size[1] - 1)),
                    (Side::East, columns.end < size[1], owner(rows.start, columns.end)),
                ] {
                    prop_assert_eq!(grid.neighbour(pe, side), (inside || periodic).then_some(there));
                }
            }
        }
    }

    #[test]
    fn blocks_are_as_square_as_they_can_be() {
        let grid = |size, pes| Grid::new(size, pes, Border::Fixed).map(|grid| grid.pes);
        assert_eq!(grid([64, 64], 4).unwrap(), [2, 2]);
        assert_eq!(grid([64, 64], 2).unwrap(), [1, 2]);
        assert_eq!(grid([128, 64], 6).unwrap(), [3, 2]);
        assert_eq!(grid([3, 64], 8).unwrap(), [1, 8]);
        assert_eq!(
            grid([2, 2], 5).unwrap_err().to_string(),
            "2 x 2 cells cannot be dealt out to 5 PEs in blocks of at least one cell"
        );
    }
}
