//! The field in symmetric memory: each PE has a block of it, inside a frame of copies of the cells next
//! to it, which their owners put there.

use std::ops::Range;

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

/// The block that holds the field after so many steps. The next step writes the other one.
fn block_after(steps: u64) -> &'static Symmetric<Block> {
    if steps.is_multiple_of(2) { &EVEN } else { &ODD }
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
    decomposition: Decomposition,
    /// The cells of the block that change: all of this PE's, without the border of the field.
    inner: [Range<usize>; 2],
    edges: Vec<Edge>,
}

/// Cells of this PE that a neighbour needs: a row or a column.
struct Edge {
    to: Pe,
    /// In this PE's block.
    from: Line,
    /// In the neighbour's block.
    into: Line,
}

/// Cells of a block.
enum Line {
    Row(usize, Range<usize>),
    Column(Range<usize>, usize),
}

impl Plate {
    /// Deals out the field of PE 0, the only one that has it. Collective.
    pub(crate) fn deal_out(world: &World, cut: Cut, field: Option<&Field>) -> Result<Self, TooLarge> {
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
                    world.put(EVEN.on(pe).index(1 + at).index(1..=row.len()), row);
                    world.put(ODD.on(pe).index(1 + at).index(1..=row.len()), row);
                }
            }
        }
        world.barrier_all();

        let me = world.my_pe();
        let mine = decomposition.part_of(me);
        let inner = [0, 1].map(|axis| inner(&mine[axis], size[axis]));
        let edges = edges(decomposition, me, world.team().members());
        Ok(Self { decomposition, inner, edges })
    }

    /// One more step; gives the largest change of a cell anywhere. Collective.
    pub(crate) fn relax(&self, world: &mut World, steps: u64) -> f64 {
        let (old, new) = (block_after(steps), block_after(steps + 1));
        self.edges.iter().for_each(|edge| edge.send(world, old));
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
                let place = block_after(steps).on(pe).index(1 + at).index(1..=columns.len());
                world.get(&mut field.row_mut(row)[columns.clone()], place);
            }
        }
        field
    }
}

impl Edge {
    /// Puts the cells where the neighbour expects them.
    fn send(&self, world: &World, block: &'static Symmetric<Block>) {
        let (mine, theirs) = (block.here(world), block.on(self.to));
        for (from, into) in self.from.cells().zip(self.into.cells()) {
            let cell = mine.index(from.0).index(from.1).load();
            world.p(theirs.index(into.0).index(into.1), cell);
        }
    }
}

impl Line {
    fn cells(&self) -> Box<dyn Iterator<Item = (usize, usize)> + '_> {
        match self {
            Self::Row(row, columns) => Box::new(columns.clone().map(|column| (*row, column))),
            Self::Column(rows, column) => Box::new(rows.clone().map(|row| (row, *column))),
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
    let row = |pe: usize, from, into| {
        let row = |row| Line::Row(row, 1..columns + 1);
        Edge { to: pes[pe], from: row(from), into: row(into) }
    };
    let column = |pe: usize, from, into| {
        let column = |column| Line::Column(1..rows + 1, column);
        Edge { to: pes[pe], from: column(from), into: column(into) }
    };
    let above = next.above.map(|pe| row(pe, 1, sizes(pe)[0] + 1));
    let below = next.below.map(|pe| row(pe, rows, 0));
    let left = next.left.map(|pe| column(pe, 1, sizes(pe)[1] + 1));
    let right = next.right.map(|pe| column(pe, columns, 0));
    [above, below, left, right].into_iter().flatten().collect()
}
