//! The PEs as a grid, and which of them has which cells.

use std::fmt;

use clap::ValueEnum;
use shmem::prelude::*;
use shmem_examples::Blocks;

/// What lies beyond the edges of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Border {
    /// The opposite edge: every PE has four neighbours, among which it may be itself.
    Periodic,
    /// Cells that never change.
    Fixed,
}

/// Which PE has which block of the field, each with at least one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: Blocks,
    pub(crate) border: Border,
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
        let fits = |blocks: &Blocks| blocks.pes.iter().zip(size).all(|(pes, cells)| *pes <= cells);
        let best = Blocks::all(size, pes).rev().filter(fits).min_by_key(Blocks::cells_along_cuts);
        best.map(|blocks| Self { blocks, border }).ok_or(NoGrid { size, pes })
    }

    /// The PEs of the job in this grid.
    pub(crate) fn of(self, world: &World) -> Result<PeGrid<2>> {
        Ok(world.grid(self.blocks.pes)?.periodic([self.border == Border::Periodic; 2]))
    }
}

/// `2 x 2 blocks, periodic border`
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let border = if self.border == Border::Periodic { "periodic" } else { "fixed" };
        write!(f, "{} x {} blocks, {border} border", self.blocks.pes[0], self.blocks.pes[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_square_as_they_can_be() {
        let grid = |size, pes| Grid::new(size, pes, Border::Fixed).map(|grid| grid.blocks.pes);
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
