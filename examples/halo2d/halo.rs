//! The blocks in symmetric memory, and the exchange of their edges.

use shmem::prelude::*;
use shmem::strided::Algorithm;

use crate::grid::{Grid, Side};
use crate::relaxation::{initial, relax};

/// Most rows, and most columns, of a block: all of 128 MiB.
const SIDE: usize = 4096;

/// [`SIDE`].
pub(crate) const ROOM: usize = SIDE;

partitions! {
    /// Address space for the largest block. Memory is taken for what is used of it.
    grids { size = "136M" }
}

/// A block of cells inside a frame, which belongs to the neighbours: they put their edges there. Rows
/// are padded: at a distance of a power of two, the cells of a column would be in each other's way.
type Cells = padded![f64; SIDE + 2; SIDE + 2];

#[symmetric(partition = "grids")]
static CELLS: Cells;

/// The calling PE's block.
pub(crate) struct Block {
    rows: usize,
    columns: usize,
    neighbours: Neighbours,
}

/// The PEs around, and the row or column of their frame that this PE's edge goes to.
struct Neighbours {
    north: Option<(Pe, usize)>,
    south: Option<(Pe, usize)>,
    west: Option<(Pe, usize)>,
    east: Option<(Pe, usize)>,
}

/// The transfers of [`Block::exchange`], by an algorithm that is written in the program.
macro_rules! exchange {
    ($block:ident, $world:ident, algorithm = $algorithm:tt) => {{
        let Block { rows, columns, neighbours: Neighbours { north, south, west, east } } = *$block;
        for (edge, to) in [(1, north), (rows, south)] {
            let Some((pe, into)) = to else { continue };
            strided!($world, algorithm = $algorithm; CELLS@pe[dyn into, dyn 1..=columns] = CELLS[dyn edge, dyn 1..=columns]);
        }
        for (edge, to) in [(1, west), (columns, east)] {
            let Some((pe, into)) = to else { continue };
            strided!($world, algorithm = $algorithm; CELLS@pe[dyn 1..=rows, dyn into] = CELLS[dyn 1..=rows, dyn edge]);
        }
    }};
}

impl Block {
    /// Sets the cells to what they are at the beginning, frame included. Collective.
    pub(crate) fn fill(world: &mut World, grid: Grid) -> Self {
        let me = world.my_pe();
        let [rows, columns] = grid.part_of(me);
        world.local(&CELLS, |cells| {
            // From one behind the last row or column of the field to the last but one, as it were.
            for (at, row) in (rows.start..rows.end + 2).enumerate() {
                for (at_column, column) in (columns.start..columns.end + 2).enumerate() {
                    cells[at][at_column] = initial(grid, row, column);
                }
            }
        });
        let neighbour = |side: Side| grid.neighbour(me, side).map(|pe| (world.team().members()[pe], pe));
        let last = |pe: usize, axis: usize| grid.part_of(pe)[axis].len() + 1;
        let neighbours = Neighbours {
            north: neighbour(Side::North).map(|(at, pe)| (at, last(pe, 0))),
            south: neighbour(Side::South).map(|(at, _)| (at, 0)),
            west: neighbour(Side::West).map(|(at, pe)| (at, last(pe, 1))),
            east: neighbour(Side::East).map(|(at, _)| (at, 0)),
        };
        Self { rows: rows.len(), columns: columns.len(), neighbours }
    }

    /// Puts the edges into the frames of the neighbours.
    pub(crate) fn exchange(&self, world: &World, algorithm: Algorithm) {
        match algorithm {
            Algorithm::One => exchange!(self, world, algorithm = 1),
            Algorithm::Two => exchange!(self, world, algorithm = 2),
            Algorithm::Three => exchange!(self, world, algorithm = 3),
            Algorithm::Auto => exchange!(self, world, algorithm = auto),
        }
    }

    /// One step. Collective: all edges have arrived when it begins.
    pub(crate) fn relax(&self, world: &mut World) {
        world.local(&CELLS, |cells| relax(&mut cells[..self.rows + 2], self.columns));
    }

    /// A row of the block of `pe`, which has so many columns.
    pub(crate) fn row_of(&self, world: &World, pe: Pe, row: usize, columns: usize) -> Vec<f64> {
        let mut cells = vec![0.0; columns];
        world.get(&mut cells[..], CELLS.on(pe).index(1 + row).index(1..=columns));
        cells
    }
}
