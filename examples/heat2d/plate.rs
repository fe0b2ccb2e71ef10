//! The field in symmetric memory. Each PE has a block of the field, in a frame for copies of the neighbours' cells. All steps are
//! one exclusive phase, in which blocks are plain arrays, and halo exchanges copy the cells.

use std::error::Error;
use std::ops::Range;

use clap::ValueEnum;
use shmem::prelude::*;
use shmem::{Ghosts, OpenPhase, PeGrid};
use shmem_examples::share;

use crate::field::Field;
use crate::stencil::{Progress, relax_row};

/// Upper limit on the rows of one PE.
const ROWS: usize = 1024;

/// Upper limit on the columns of one PE.
const COLUMNS: usize = 1024;

/// The edges of a block, in the numbering of [`shmem::PeGrid::edges`].
const ABOVE: usize = 0;
const BELOW: usize = 1;
const LEFT: usize = 2;
const RIGHT: usize = 3;

partitions! {
    /// The grids. Memory bandwidth limits the program. The policy allows normal memory and small pages if there are no others.
    pub(crate) fast { id = 2, size = "24M", kind = FastMem, policy = Preferred, pgsize = "2M" }
}

/// A block of cells in a frame. Row 0 is a copy of the row above the block, and the row after the block is a copy of the row below
/// it. Columns likewise.
pub(crate) type Block = padded![f64; ROWS + 2; COLUMNS + 2];

#[symmetric(partition = "fast", pgsize = "2M")]
static EVEN: Block;

#[symmetric(partition = "fast", pgsize = "2M")]
static ODD: Block;

#[symmetric]
static DEFAULT_EVEN: Block;

#[symmetric]
static DEFAULT_ODD: Block;

/// The partition of the grids.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Memory {
    /// The program's own partition, `fast`.
    #[default]
    Fast,
    /// Partition 1, which the environment describes.
    Default,
}

impl Memory {
    /// The blocks of even steps and of odd steps.
    fn blocks(self) -> [&'static Symmetric<Block>; 2] {
        match self {
            Self::Fast => [&EVEN, &ODD],
            Self::Default => [&DEFAULT_EVEN, &DEFAULT_ODD],
        }
    }
}

/// The calling PE's part of the field.
pub(crate) struct Plate {
    /// The blocks of even steps and of odd steps.
    blocks: [&'static Symmetric<Block>; 2],
    /// Number of rows and columns of the whole field.
    size: [usize; 2],
    /// The grid of PEs, in the order of their blocks.
    grid: PeGrid<2>,
    tile: Tile,
    /// The halo exchange of the cells next to the block.
    frame: Halo<f64>,
    /// The exchange of each PE's largest change with every other PE.
    changes: Halo<f64>,
}

/// The numbers of the calling PE's cells within its block.
#[derive(Clone)]
struct Tile {
    /// Number of rows and columns of the block.
    size: [usize; 2],
    /// The cells that change: all of this PE's cells, without the border of the field.
    inner: [Range<usize>; 2],
}

impl Plate {
    /// Distributes the field, which only PE 0 has. All PEs know its rows and columns. Collective.
    pub(crate) fn deal_out(
        world: &World,
        memory: Memory,
        size: [usize; 2],
        field: Option<&Field>,
    ) -> Result<Self, Box<dyn Error>> {
        let (blocks, grid) = (memory.blocks(), world.cubic_grid());
        let largest = range_of(&grid, size, 0).map(|range| range.len());
        if largest[0] > ROWS || largest[1] > COLUMNS {
            let ([rows, columns], pes) = (size, world.n_pes());
            return Err(format!(
                "the field has {rows} rows and {columns} columns, and each of {pes} PEs holds at most {ROWS} rows of \
                 {COLUMNS} columns: take more PEs, or raise ROWS and COLUMNS in plate.rs"
            )
            .into());
        }
        if let Some(field) = field {
            for pe in world.pes() {
                let [rows, columns] = range_of(&grid, size, pe.number());
                for (at, row) in rows.enumerate() {
                    let row = &field.row(row)[columns.clone()];
                    // In both blocks, because the border is never written again.
                    for block in blocks {
                        world.put(block.on(pe).index(1 + at).index(1..=row.len()), row);
                    }
                }
            }
        }

        let me = world.my_pe();
        let mine = range_of(&grid, size, me);
        let inner = [0, 1].map(|axis| inner(&mine[axis], size[axis]));
        let tile = Tile { size: mine.map(|range| range.len()), inner };
        let [rows, columns] = tile.size;
        let frame = world.halo(&grid.edges([columns, rows]))?;
        // An edge to every other PE is enough for few PEs. Many PEs would need a tree.
        let to = |pe: Pe| if pe == world.me() { Edge::BORDER } else { Edge::new(pe, me, 1) };
        let changes = world.halo(&world.pes().iter().map(to).collect::<Vec<_>>())?;
        Ok(Self { blocks, size, grid, tile, frame, changes })
    }

    /// Takes at most `most` steps, until no cell changes by more than `tolerance`. Collective.
    pub(crate) fn solve(&mut self, world: &mut World, most: u64, tolerance: f64) -> Progress {
        let Self { blocks: [even, odd], tile, frame, changes, .. } = self;
        world.local_with_exchanges((*even, *odd), |(even, odd), phase| {
            let (mut old, mut new) = (even, odd);
            let mut progress = Progress::START;
            while progress.steps < most && progress.residual > tolerance {
                let change = tile.step(frame, phase, old, new);
                progress = Progress { steps: progress.steps + 1, residual: largest(changes, phase, change) };
                std::mem::swap(&mut old, &mut new);
            }
            progress
        })
    }

    /// Returns the whole field after `steps` steps, collected from all PEs.
    pub(crate) fn gather(&self, world: &World, steps: u64) -> Field {
        let [rows, columns] = self.size;
        let block = self.blocks[usize::from(!steps.is_multiple_of(2))];
        let mut field = Field::zeroed(rows, columns);
        for pe in world.pes() {
            let [rows, columns] = range_of(&self.grid, self.size, pe.number());
            for (at, row) in rows.enumerate() {
                let place = block.on(pe).index(1 + at).index(1..=columns.len());
                world.get(&mut field.row_mut(row)[columns.clone()], place);
            }
        }
        field
    }
}

impl Tile {
    /// Takes one step, from the old cells to the new ones. Returns the largest change of a cell.
    fn step(&self, frame: &mut Halo<f64>, phase: &OpenPhase<'_>, old: &mut Block, new: &mut Block) -> f64 {
        let ([rows, columns], [down, right]) = (self.size, self.inner.clone());
        let mut exchange = frame.begin(phase);
        exchange.send(ABOVE, &old[1][1..=columns]);
        exchange.send(BELOW, &old[rows][1..=columns]);
        exchange.send_iter(LEFT, (1..=rows).map(|row| old[row][1]));
        exchange.send_iter(RIGHT, (1..=rows).map(|row| old[row][columns]));

        // Inner cells first, during the halo exchange, then cells that touch the frame.
        let (near, far) = (without_rim(&down, rows), without_rim(&right, columns));
        let mut change = relax(old, new, near.clone(), far.clone());
        keep(old, self.size, exchange.finish());
        for rim in [down.start..near.start, near.end..down.end] {
            change = change.max(relax(old, new, rim, right.clone()));
        }
        for rim in [right.start..far.start, far.end..right.end] {
            change = change.max(relax(old, new, near.clone(), rim));
        }
        change
    }
}

/// Returns the range of field rows and columns of a PE.
fn range_of(grid: &PeGrid<2>, size: [usize; 2], pe: usize) -> [Range<usize>; 2] {
    let (place, pes) = (grid.coordinates_of(pe), grid.shape());
    [0, 1].map(|axis| share(size[axis], pes[axis], place[axis]))
}

/// Returns the numbers of rows or columns that change and do not touch the frame.
fn without_rim(inner: &Range<usize>, size: usize) -> Range<usize> {
    let start = inner.start.max(2).min(inner.end);
    start..inner.end.min(size).max(start)
}

/// Relaxes a rectangle of cells. Returns the largest change of a cell.
fn relax(old: &Block, new: &mut Block, rows: Range<usize>, columns: Range<usize>) -> f64 {
    if columns.is_empty() {
        return 0.0;
    }
    let columns = columns.start - 1..columns.end + 1;
    let change = rows.map(|row| {
        let [above, here, below] = [row - 1, row, row + 1].map(|row| &old[row][columns.clone()]);
        relax_row(above, here, below, &mut new[row][columns.clone()])
    });
    change.fold(0.0, f64::max)
}

/// Copies cells of the neighbours into the frame.
fn keep(block: &mut Block, [rows, columns]: [usize; 2], ghosts: Ghosts<'_, f64>) {
    for (edge, row) in [(ABOVE, 0), (BELOW, rows + 1)] {
        let cells = &ghosts[edge];
        block[row][1..=cells.len()].copy_from_slice(cells);
    }
    for (edge, column) in [(LEFT, 0), (RIGHT, columns + 1)] {
        for (row, cell) in (1..).zip(&ghosts[edge]) {
            block[row][column] = *cell;
        }
    }
}

/// Returns the largest change of a cell on all PEs. The argument is this PE's largest change.
fn largest(changes: &mut Halo<f64>, phase: &OpenPhase<'_>, change: f64) -> f64 {
    let all = 0..changes.edges();
    let mut exchange = changes.begin(phase);
    all.for_each(|edge| exchange.send(edge, &[change]));
    exchange.finish().iter().fold(change, |most, (_, there)| most.max(there[0]))
}

/// Returns the numbers of a block's rows or columns that are not on the border of the field.
fn inner(mine: &Range<usize>, all: usize) -> Range<usize> {
    let (start, end) = (mine.start.max(1), mine.end.min(all - 1));
    if start < end { 1 + start - mine.start..1 + end - mine.start } else { 1..1 }
}
