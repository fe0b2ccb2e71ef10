//! The PEs as a grid, and which of them has which cells.

use std::fmt;
use std::ops::Range;

use clap::ValueEnum;
use shmem::prelude::*;
use shmem_examples::share;

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

/// Where a neighbour is, in the order of the edges of a [`PeGrid`].
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

    /// The PEs of the job in this grid.
    pub(crate) fn of(self, world: &World) -> Result<PeGrid<2>> {
        Ok(world.grid(self.pes)?.periodic([self.border == Border::Periodic; 2]))
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
        fn every_cell_has_one_owner(size in [1..30_usize, 1..30_usize], pes in 1..25_usize, periodic: bool) {
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
            prop_assert!(owners.iter().flatten().all(Option::is_some));
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
