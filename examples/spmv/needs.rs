//! What a PE needs of the vector, and who has it.

use std::collections::BTreeSet;
use std::ops::Range;

use shmem::prelude::*;
use shmem_examples::shares::{owner, share};

use crate::matrix::Rows;

/// Runs of elements of other PEs, in the order in which they are kept.
pub(crate) struct Needs {
    runs: Vec<Run>,
}

/// Consecutive elements of one PE.
struct Run {
    pe: Pe,
    /// Counted from the first that the PE has.
    elements: Range<usize>,
}

impl Needs {
    /// What the calling PE's rows need of a vector with `n` elements. Their columns become places in what it knows of the
    /// vector: its own elements, and behind them what it gets.
    pub(crate) fn of(world: &World, rows: &mut Rows, n: usize) -> Self {
        let (pes, mine) = (world.n_pes(), share(n, world.n_pes(), world.my_pe()));
        let needed: BTreeSet<usize> =
            rows.columns().map(|column| *column).filter(|column| !mine.contains(column)).collect();
        let needed: Vec<usize> = needed.into_iter().collect();
        for column in rows.columns() {
            *column = match needed.binary_search(column) {
                Ok(place) => mine.len() + place,
                Err(_) => *column - mine.start,
            };
        }

        let pe_of = |element: usize| owner(n, pes, element);
        let runs = needed.chunk_by(|a, b| a + 1 == *b && pe_of(*a) == pe_of(*b)).map(|run| {
            let pe = pe_of(run[0]);
            let start = run[0] - share(n, pes, pe).start;
            Run { pe: world.pes()[pe], elements: start..start + run.len() }
        });
        Self { runs: runs.collect() }
    }

    /// How many elements there are.
    pub(crate) fn elements(&self) -> usize {
        self.runs.iter().map(|run| run.elements.len()).sum()
    }

    /// Gets all of them. They are there on return.
    pub(crate) fn get(&self, world: &World, vector: &SymBox<[f64]>, mut into: &mut [f64]) {
        world.scope(move |s| {
            for Run { pe, elements } in &self.runs {
                let run = into.split_off_mut(..elements.len()).expect("room for all runs");
                s.get(run, vector.on(*pe).index(elements.clone()));
            }
        });
    }
}
