//! The field in symmetric memory: each PE has a block of rows, between copies of the rows next to
//! it, which their owners put there.

use std::ops::Range;

use shmem::prelude::*;

use crate::decomposition::Decomposition;
use crate::field::Field;
use crate::stencil::relax_row;

/// Most rows of one PE.
const ROWS: usize = 1024;

/// Most columns.
const COLUMNS: usize = 1024;

partitions! {
    /// The grids: their speed is the bandwidth of memory, and they profit from large pages. On a
    /// machine that has neither fast memory nor large pages they lie in what it has.
    pub(crate) fast { id = 2, size = "24M", kind = FastMem, policy = Preferred, pgsize = "2M" }
}

/// A block of rows. Row 0 is a copy of the row above it, and the row behind the last is one of the
/// row below it.
pub(crate) type Block = [[f64; COLUMNS]; ROWS + 2];

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
    "the field has {rows} rows and {columns} columns; {pes} PEs hold {} rows of {COLUMNS} columns: take \
     more PEs for more rows, and raise COLUMNS in plate.rs for more columns",
    pes * ROWS
)]
pub(crate) struct TooLarge {
    rows: usize,
    columns: usize,
    pes: usize,
}

/// The calling PE's part of the field.
pub(crate) struct Plate {
    decomposition: Decomposition,
    columns: usize,
    /// The rows of the block that change: all of this PE's, without the border of the field.
    inner: Range<usize>,
    edges: Vec<Edge>,
}

/// A row of this PE that a neighbour needs.
struct Edge {
    /// The row in this PE's block.
    from: usize,
    to: Pe,
    /// The row in the neighbour's block.
    into: usize,
}

impl Plate {
    /// Deals out the field of PE 0, the only one that has it. Collective.
    pub(crate) fn deal_out(world: &World, field: Option<&Field>) -> Result<Self, TooLarge> {
        let mut size = field.map_or([0; 2], |field| [field.rows(), field.columns()]);
        let first = world.team().members()[0];
        world.broadcast(&mut size, first);
        let [rows, columns] = size;
        let pes = world.n_pes();
        let decomposition = Decomposition::new(rows, pes);
        if columns > COLUMNS || decomposition.largest() > ROWS {
            return Err(TooLarge { rows, columns, pes });
        }
        if let Some(field) = field {
            for pe in world.pes() {
                for (at, row) in decomposition.rows_of(pe.number()).enumerate() {
                    // In both: the border is never written again.
                    world.put(EVEN.on(pe).index(1 + at).index(..columns), field.row(row));
                    world.put(ODD.on(pe).index(1 + at).index(..columns), field.row(row));
                }
            }
        }
        world.barrier_all();

        let me = world.my_pe();
        let mine = decomposition.rows_of(me);
        let inner = mine.start.max(1)..mine.end.min(rows.saturating_sub(1));
        let inner = 1 + inner.start - mine.start..(1 + inner.end).saturating_sub(mine.start);
        let above = decomposition.above(me).map(|pe| (1, pe, decomposition.rows_of(pe).len() + 1));
        let below = decomposition.below(me).map(|pe| (mine.len(), pe, 0));
        let edge = |(from, pe, into)| Edge { from, to: world.team().members()[pe], into };
        let edges = [above, below].into_iter().flatten().map(edge).collect();
        Ok(Self { decomposition, columns, inner, edges })
    }

    /// One more step; gives the largest change of a cell anywhere. Collective.
    pub(crate) fn relax(&self, world: &mut World, steps: u64) -> f64 {
        let (old, new) = (block_after(steps), block_after(steps + 1));
        let columns = ..self.columns;
        let mut edge = vec![0.0; self.columns];
        for Edge { from, to, into } in &self.edges {
            old.here(world).index(*from).index(columns).copy_to(&mut edge);
            world.put(old.on(*to).index(*into).index(columns), &edge[..]);
        }
        // All neighbours have put their edges when `local` begins, and read ours when it ends.
        let mut change = world.local((old, new), |(old, new)| {
            let rows = self.inner.clone();
            let change = rows.map(|row| {
                let [above, here, below] = [row - 1, row, row + 1].map(|row| &old[row][columns]);
                relax_row(above, here, below, &mut new[row][columns])
            });
            change.fold(0.0, f64::max)
        });
        world.max(&mut change);
        change
    }

    /// The whole field as it is after so many steps, from all PEs.
    pub(crate) fn gather(&self, world: &World, steps: u64) -> Field {
        let mut field = Field::zeroed(self.decomposition.rows(), self.columns);
        for pe in world.pes() {
            for (at, row) in self.decomposition.rows_of(pe.number()).enumerate() {
                let place = block_after(steps).on(pe).index(1 + at).index(..self.columns);
                world.get(field.row_mut(row), place);
            }
        }
        field
    }
}
