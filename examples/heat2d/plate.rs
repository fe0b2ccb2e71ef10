//! The field in symmetric memory: each PE has a block of it, inside a frame of copies of the cells next
//! to it, which their owners put there.

use std::ops::Range;

use clap::ValueEnum;
use shmem::prelude::*;

use crate::decomposition::{Cut, Decomposition};
use crate::field::Field;
use crate::stencil::relax_row;

/// Most rows of one PE.
const ROWS: usize = 1024;

/// Most columns of one PE.
const COLUMNS: usize = 1024;

partitions! {
    /// The grids: their speed is the bandwidth of memory, and they profit from large pages. On a
    /// machine that has neither fast memory nor large pages they lie in what it has.
    pub(crate) fast { id = 2, size = "24M", kind = FastMem, policy = Preferred, pgsize = "2M" }
}

/// A block of cells. Row 0 is a copy of the row above it, and the row behind the last is one of the
/// row below it; likewise the columns on its left and right.
pub(crate) type Block = padded![f64; ROWS + 2; COLUMNS + 2];

#[symmetric(partition = "fast", pgsize = "2M")]
static EVEN: Block;

#[symmetric(partition = "fast", pgsize = "2M")]
static ODD: Block;

#[symmetric]
static DEFAULT_EVEN: Block;

#[symmetric]
static DEFAULT_ODD: Block;

/// Which partition the grids lie in.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Memory {
    /// The program's own, `fast`.
    #[default]
    Fast,
    /// Partition 1, of which the environment says what it is.
    Default,
}

impl Memory {
    /// The blocks of even and of odd steps.
    fn blocks(self) -> [&'static Symmetric<Block>; 2] {
        match self {
            Self::Fast => [&EVEN, &ODD],
            Self::Default => [&DEFAULT_EVEN, &DEFAULT_ODD],
        }
    }
}

/// A field that is larger than the blocks.
#[derive(Debug, thiserror::Error)]
#[error(
    "the field has {rows} rows and {columns} columns, and each of {pes} PEs holds at most {ROWS} rows of \
     {COLUMNS} columns{}: take more PEs, or raise ROWS and COLUMNS in plate.rs",
    if *cut == Cut::Rows { "; `--decomposition rows` cuts no row" } else { "" }
)]
pub(crate) struct TooLarge {
    cut: Cut,
    rows: usize,
    columns: usize,
    pes: usize,
}

/// The calling PE's part of the field.
pub(crate) struct Plate {
    /// The blocks of even and of odd steps.
    blocks: [&'static Symmetric<Block>; 2],
    decomposition: Decomposition,
    /// Rows and columns of the block.
    size: [usize; 2],
    /// The cells of the block that change: all of this PE's, without the border of the field.
    inner: [Range<usize>; 2],
    edges: Vec<Edge>,
}

/// Cells of this PE that a neighbour needs.
struct Edge {
    to: Pe,
    line: Line,
    /// The row or column in this PE's block.
    from: usize,
    /// The row or column in the neighbour's block.
    into: usize,
}

/// What an edge is.
enum Line {
    Row,
    Column,
}

impl Plate {
    /// Deals out the field of PE 0, the only one that has it. Collective.
    pub(crate) fn deal_out(
        world: &World,
        cut: Cut,
        memory: Memory,
        field: Option<&Field>,
    ) -> Result<Self, TooLarge> {
        let blocks = memory.blocks();
        let mut size = field.map_or([0; 2], |field| [field.rows(), field.columns()]);
        let first = world.team().members()[0];
        world.broadcast(&mut size, first);
        let ([rows, columns], pes) = (size, world.n_pes());
        let Some(decomposition) = Decomposition::new(cut, size, pes, [ROWS, COLUMNS]) else {
            return Err(TooLarge { cut, rows, columns, pes });
        };
        if let Some(field) = field {
            for pe in world.pes() {
                let [rows, columns] = decomposition.part_of(pe.number());
                for (at, row) in rows.enumerate() {
                    let row = &field.row(row)[columns.clone()];
                    // In both: the border is never written again.
                    for block in blocks {
                        world.put(block.on(pe).index(1 + at).index(1..=row.len()), row);
                    }
                }
            }
        }
        world.barrier_all();

        let me = world.my_pe();
        let mine = decomposition.part_of(me);
        let inner = [0, 1].map(|axis| inner(&mine[axis], size[axis]));
        let edges = edges(decomposition, me, world.team().members());
        Ok(Self { blocks, decomposition, size: mine.map(|part| part.len()), inner, edges })
    }

    /// The block that holds the field after so many steps. The next step writes the other one.
    fn block_after(&self, steps: u64) -> &'static Symmetric<Block> {
        self.blocks[usize::from(!steps.is_multiple_of(2))]
    }

    /// One more step; gives the largest change of a cell anywhere. Collective.
    pub(crate) fn relax(&self, world: &mut World, steps: u64) -> f64 {
        let (old, new) = (self.block_after(steps), self.block_after(steps + 1));
        self.edges.iter().for_each(|edge| self.send(world, old, edge));
        // All neighbours have put their edges when `local` begins, and read ours when it ends.
        let mut change = world.local((old, new), |(old, new)| {
            let [rows, columns] = self.inner.clone();
            if columns.is_empty() {
                return 0.0;
            }
            let columns = columns.start - 1..columns.end + 1;
            let change = rows.map(|row| {
                let [above, here, below] = [row - 1, row, row + 1].map(|row| &old[row][columns.clone()]);
                relax_row(above, here, below, &mut new[row][columns.clone()])
            });
            change.fold(0.0, f64::max)
        });
        world.max(&mut change);
        change
    }

    /// The whole field as it is after so many steps, from all PEs.
    pub(crate) fn gather(&self, world: &World, steps: u64) -> Field {
        let [rows, columns] = self.decomposition.size();
        let mut field = Field::zeroed(rows, columns);
        for pe in world.pes() {
            let [rows, columns] = self.decomposition.part_of(pe.number());
            for (at, row) in rows.enumerate() {
                let place = self.block_after(steps).on(pe).index(1 + at).index(1..=columns.len());
                world.get(&mut field.row_mut(row)[columns.clone()], place);
            }
        }
        field
    }

    /// Puts an edge where the neighbour expects it.
    fn send(&self, world: &World, block: &'static Symmetric<Block>, edge: &Edge) {
        let ([rows, columns], Edge { to, from, into, .. }) = (self.size, edge);
        let (to, from, into) = (*to, *from, *into);
        match edge.line {
            Line::Row => {
                strided!(world, block@to[dyn into, dyn 1..=columns] = block[dyn from, dyn 1..=columns])
            }
            Line::Column => strided!(world, block@to[dyn 1..=rows, dyn into] = block[dyn 1..=rows, dyn from]),
        }
    }
}

/// The rows or columns of a block that are not on the border of the field.
fn inner(mine: &Range<usize>, all: usize) -> Range<usize> {
    let (start, end) = (mine.start.max(1), mine.end.min(all - 1));
    if start < end { 1 + start - mine.start..1 + end - mine.start } else { 1..1 }
}

/// What PE `me` has to send.
fn edges(decomposition: Decomposition, me: usize, pes: &[Pe]) -> Vec<Edge> {
    let sizes = |pe| decomposition.part_of(pe).map(|part| part.len());
    let [rows, columns] = sizes(me);
    let next = decomposition.neighbours_of(me);
    let edge = |line, to: usize, from, into| Edge { to: pes[to], line, from, into };
    let above = next.above.map(|pe| edge(Line::Row, pe, 1, sizes(pe)[0] + 1));
    let below = next.below.map(|pe| edge(Line::Row, pe, rows, 0));
    let left = next.left.map(|pe| edge(Line::Column, pe, 1, sizes(pe)[1] + 1));
    let right = next.right.map(|pe| edge(Line::Column, pe, columns, 0));
    [above, below, left, right].into_iter().flatten().collect()
}
