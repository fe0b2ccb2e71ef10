//! The blocks in symmetric memory, and the exchange of their edges.

use std::time::{Duration, Instant};

use shmem::padded::pitch;
use shmem::prelude::*;
use shmem::strided::Algorithm;

use crate::grid::{Grid, Side};
use crate::relaxation::{initial, relax};

partitions! {
    /// Room for the block of a single PE. Memory is taken for what is used of it.
    grids { size = "136M" }
}

/// The calling PE's block.
pub(crate) struct Block {
    /// Rows of the block inside a frame, which belongs to the neighbours: they put their edges there. The
    /// largest block says how far apart rows are, so that all PEs have the same places.
    cells: SymBox<[f64]>,
    /// Cells from one row to the next. Padded: at a distance of a power of two, the cells of a column would
    /// be in each other's way.
    pitch: usize,
    rows: usize,
    columns: usize,
    neighbours: Neighbours,
    /// The same neighbours: edges in the order of [`Side`].
    halo: Halo<f64>,
}

/// The PEs around, and the row or column of their frame that this PE's edge goes to.
#[derive(Clone, Copy)]
struct Neighbours {
    north: Option<(Pe, usize)>,
    south: Option<(Pe, usize)>,
    west: Option<(Pe, usize)>,
    east: Option<(Pe, usize)>,
}

/// The transfers of [`Block::exchange`], by an algorithm that is written in the program.
macro_rules! exchange {
    ($block:ident, $world:ident, algorithm = $algorithm:tt) => {{
        let Block { ref cells, pitch, rows, columns, neighbours, .. } = *$block;
        let Neighbours { north, south, west, east } = neighbours;
        for (edge, to) in [(1, north), (rows, south)] {
            let Some((pe, into)) = to else { continue };
            let [from, into] = [edge, into].map(|row| row * pitch + 1..row * pitch + 1 + columns);
            strided!($world, algorithm = $algorithm;
                cells@pe[dyn into.start..into.end] = cells[dyn from.start..from.end]);
        }
        for (edge, to) in [(1, west), (columns, east)] {
            let Some((pe, into)) = to else { continue };
            let [from, into] = [edge, into].map(|column| pitch + column..(rows + 1) * pitch);
            strided!($world, algorithm = $algorithm;
                cells@pe[dyn into.start..into.end; dyn pitch] = cells[dyn from.start..from.end; dyn pitch]);
        }
    }};
}

impl Block {
    /// Sets the cells to what they are at the beginning, frame included. Collective.
    pub(crate) fn fill(world: &mut World, grid: Grid) -> Result<Self> {
        let me = world.my_pe();
        let [most_rows, most_columns] = grid.blocks.part_of(0).map(|part| part.len());
        let pitch = pitch::<f64>(most_columns + 2);
        let cells = world.alloc_in::<grids, _>(shmem::zeroed((most_rows + 2) * pitch))?;
        let [rows, columns] = grid.blocks.part_of(me);
        world.local(&cells, |cells| {
            // From one before the first row of the block to one behind the last, counted from the frame of
            // the field.
            for (row, cells) in (rows.start..rows.end + 2).zip(cells.chunks_exact_mut(pitch)) {
                for (column, cell) in (columns.start..columns.end + 2).zip(cells) {
                    *cell = initial(grid, row, column);
                }
            }
        });
        let pes = grid.of(world)?;
        let last = |pe: Pe, axis: usize| grid.blocks.part_of(pe.number())[axis].len() + 1;
        let neighbours = Neighbours {
            north: pes.neighbour(0, -1).map(|pe| (pe, last(pe, 0))),
            south: pes.neighbour(0, 1).map(|pe| (pe, 0)),
            west: pes.neighbour(1, -1).map(|pe| (pe, last(pe, 1))),
            east: pes.neighbour(1, 1).map(|pe| (pe, 0)),
        };
        let (rows, columns) = (rows.len(), columns.len());
        let halo = world.halo(&pes.edges([columns, rows]))?;
        Ok(Self { cells, pitch, rows, columns, neighbours, halo })
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

    /// Exchanges the edges through the halo, and copies what comes into the own frame. Gives the time it took.
    /// Collective.
    pub(crate) fn exchange_by_halo(&mut self, world: &mut World) -> Duration {
        let Self { cells, pitch, rows, columns, halo, .. } = self;
        let (pitch, rows, columns) = (*pitch, *rows, *columns);
        world.local_with_halos(&*cells, |cells, phase| {
            let start = Instant::now();
            let mut flight = halo.begin(phase);
            for (side, row) in [(Side::North, 1), (Side::South, rows)] {
                flight.send(side as usize, &cells[row * pitch + 1..][..columns]);
            }
            for (side, column) in [(Side::West, 1), (Side::East, columns)] {
                flight.send_strided(side as usize, &cells[pitch + column..], pitch);
            }
            let ghosts = flight.finish();
            for (side, row) in [(Side::North, 0), (Side::South, rows + 1)] {
                let ghosts = &ghosts[side as usize];
                cells[row * pitch + 1..][..ghosts.len()].copy_from_slice(ghosts);
            }
            for (side, column) in [(Side::West, 0), (Side::East, columns + 1)] {
                for (row, ghost) in (1..).zip(&ghosts[side as usize]) {
                    cells[row * pitch + column] = *ghost;
                }
            }
            start.elapsed()
        })
    }

    /// One step. Collective: all edges have arrived when it begins.
    pub(crate) fn relax(&self, world: &mut World) {
        world.local(&self.cells, |cells| {
            let mut rows: Vec<&mut [f64]> = cells.chunks_exact_mut(self.pitch).take(self.rows + 2).collect();
            relax(&mut rows, self.columns);
        });
    }

    /// A row of the block of `pe`, which has so many columns.
    pub(crate) fn row_of(&self, world: &World, pe: Pe, row: usize, columns: usize) -> Vec<f64> {
        let mut cells = vec![0.0; columns];
        let first = (1 + row) * self.pitch + 1;
        world.get(&mut cells[..], self.cells.on(pe).index(first..first + columns));
        cells
    }
}
