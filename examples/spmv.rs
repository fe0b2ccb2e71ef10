//! Products of a sparse matrix and a vector: a plan fetches elements of the vector from other PEs.
//!
//! Rows of the matrix and elements of the vector are distributed over the PEs. The columns of a PE's rows determine the elements
//! that the PE needs, the same in every step. So all PEs plan once. In each step, every PE sends the elements that others need,
//! without indices, and a PE waits only for the PEs that it needs elements of.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin spmv
//! ```

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::{checksum, options};

/// Multiplies a vector by a sparse matrix several times.
#[derive(Parser)]
#[command(name = "spmv", max_term_width = 100)]
struct Options {
    /// Number of rows, and of columns, of the matrix.
    #[arg(long, default_value_t = 1 << 18, value_parser = clap::value_parser!(u32).range(1..))]
    size: u32,

    /// Number of multiplications.
    #[arg(long, default_value_t = 20)]
    steps: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::<Options>(world)? else { return Ok(()) };
    let (me, n, distribution) = (world.my_pe(), options.size as usize, Block::of(options.size as usize));
    let vector = world.alloc(shmem::zeroed::<f64>(n.div_ceil(world.n_pes())))?;
    let mine: Vec<usize> = vector.over(world.team(), distribution).owned(me).collect();
    let mut known: Vec<f64> = mine.iter().map(|i| (i % 97) as f64 + 1.0).collect();
    let rows = rows_of(&mine, n);

    let start = Instant::now();
    let mut plan = world.plan(vector.over(world.team(), distribution).at(&rows.columns))?;
    let places: Vec<u32> = plan.places().to_vec();
    for _ in 0..options.steps {
        known = rows.times(&places, plan.bring_from(world, &known));
    }
    let seconds = start.elapsed().as_secs_f64();

    let mine = checksum(mine.into_iter().zip(known));
    let [checksum, entries, brought] = world.sum([mine, rows.columns.len() as u64, plan.elements() as u64]);
    if me == 0 {
        println!(
            "{n} rows of {entries} entries, {} steps in {seconds:.3} s; {brought} elements read in each",
            options.steps
        );
        println!("checksum {checksum:x}");
    }
    Ok(())
}

/// Returns some rows of a matrix with `n` columns. A row has entries at the diagonal, beside it, and in two distant columns. The
/// entries of a row sum to 1.
fn rows_of(numbers: &[usize], n: usize) -> Rows {
    let mut rows = Rows::default();
    for row in numbers {
        let columns = [*row, (row + 1) % n, (row + n - 1) % n, row * 7 % n, (row * row + 3) % n];
        rows.push(columns.into_iter().zip([4.0, 2.0, 2.0, 1.0, 1.0].map(|weight| weight / 10.0)));
    }
    rows
}

/// Rows in compressed sparse row format: the entries of all rows in one list.
#[derive(Default)]
struct Rows {
    /// End of each row in the list of entries.
    ends: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Rows {
    /// Appends a row: the columns and values of its entries.
    fn push(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, value) in entries {
            self.columns.push(column);
            self.values.push(value);
        }
        self.ends.push(self.columns.len());
    }

    /// Returns the rows times a vector. `places` has the position of each entry's vector element. Entries are added in their order,
    /// so the result is the same for any number of PEs.
    fn times(&self, places: &[u32], vector: &[f64]) -> Vec<f64> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let rows = starts.zip(&self.ends).map(|(start, end)| start..*end);
        rows.map(|row| {
            let entries = self.values[row.clone()].iter().zip(&places[row]);
            entries.map(|(value, place)| value * vector[*place as usize]).sum()
        })
        .collect()
    }
}
