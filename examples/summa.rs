//! A product of matrices on a grid of PEs: SUMMA, on teams.
//!
//! Each PE stores a block of `A`, of `B` and of the product `C`. The PEs of each row of the grid form a team, and so do the
//! PEs of each column. In each step, a panel of columns of `A` is broadcast along the rows of the grid, and a panel of rows of
//! `B` along the columns. Each PE adds the product of the two panels to its block of `C`. No PE ever stores more than its blocks
//! and two panels.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin summa
//! ```

use std::error::Error;
use std::ops::Range;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem::{Team, TeamConfig};
use shmem_examples::{checksum, options, owner, share};

/// Multiplies two square matrices.
#[derive(Parser)]
#[command(name = "summa", max_term_width = 100)]
struct Options {
    /// Number of rows, and of columns, of the matrices.
    #[arg(long, default_value_t = 768, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    size: u32,

    /// Upper limit on the columns of a panel.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    panel: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::<Options>(world)? else { return Ok(()) };
    let n = options.size as usize;
    // The largest width that divides the number of PEs and is at most the height.
    let pes = world.n_pes();
    let width =
        (1..=pes).filter(|width| pes.is_multiple_of(*width) && width * width <= pes).max().unwrap_or(1);
    let config = TeamConfig::default();
    let (row, column) = world.team().split_2d(world, width, &config, &config)?;

    // A PE's rank in its column team is its grid row, and its rank in its row team is its grid column.
    let rows = share(n, column.size(), column.rank());
    let columns = share(n, row.size(), row.rank());
    let a = Block::from_fn(&rows, &columns, |i, j| ((i * 31 + j * 17) % 101) as f64 / 7.0);
    let b = Block::from_fn(&rows, &columns, |i, j| ((i * 13 + j * 29) % 103) as f64 / 9.0);
    let mut c = Block::from_fn(&rows, &columns, |_, _| 0.0);
    world.barrier_all();
    let start = Instant::now();
    let mut k = 0;
    while k < n {
        // The next panels. One PE of each grid row has the columns, and one PE of each grid column has the rows.
        let (in_row, in_column) = (owner(n, row.size(), k), owner(n, column.size(), k));
        let end = share(n, row.size(), in_row).end.min(share(n, column.size(), in_column).end);
        let panel = k..end.min(k + options.panel as usize);
        let left = from_one(world, &row, in_row, rows.len() * panel.len(), || a.part(&rows, &panel));
        let right =
            from_one(world, &column, in_column, panel.len() * columns.len(), || b.part(&panel, &columns));
        c.add_product(&left, &right, panel.len());
        k = panel.end;
    }
    world.barrier_all();
    let seconds = start.elapsed().as_secs_f64();

    let numbers = rows.flat_map(|i| columns.clone().map(move |j| i * n + j));
    let checksum = world.sum(checksum(numbers.zip(c.elements)));
    if world.my_pe() == 0 {
        let (height, rate) = (pes / width, 2.0 * (n as f64).powi(3) / seconds / 1e9);
        println!("{n} x {n} by {height} x {width} PEs: {seconds:.3} s, {rate:.2} GFLOP/s");
        println!("checksum {checksum:x}");
    }
    Ok(())
}

/// Returns on all members the value of `mine` on the member with rank `root`.
fn from_one(world: &World, team: &Team, root: usize, length: usize, mine: impl Fn() -> Vec<f64>) -> Vec<f64> {
    let mut panel = if team.rank() == root { mine() } else { vec![0.0; length] };
    team.broadcast(world, &mut panel[..], team.pes()[root]);
    panel
}

/// The calling PE's part of a matrix.
struct Block {
    /// The rows and columns of this part, by their numbers in the matrix.
    rows: Range<usize>,
    columns: Range<usize>,
    /// Elements, row by row.
    elements: Vec<f64>,
}

impl Block {
    fn from_fn(rows: &Range<usize>, columns: &Range<usize>, element: impl Fn(usize, usize) -> f64) -> Self {
        let elements =
            rows.clone().flat_map(|i| columns.clone().map(|j| element(i, j)).collect::<Vec<_>>()).collect();
        Self { rows: rows.clone(), columns: columns.clone(), elements }
    }

    /// Returns some rows and columns of this part, row by row.
    fn part(&self, rows: &Range<usize>, columns: &Range<usize>) -> Vec<f64> {
        let width = self.columns.len();
        let rows = rows.start - self.rows.start..rows.end - self.rows.start;
        let columns = columns.start - self.columns.start..columns.end - self.columns.start;
        rows.flat_map(|row| &self.elements[row * width..][columns.clone()]).copied().collect()
    }

    /// Adds the product of two panels: one of `depth` columns, and one of `depth` rows.
    fn add_product(&mut self, left: &[f64], right: &[f64], depth: usize) {
        let width = self.columns.len().max(1);
        for (row, left) in self.elements.chunks_exact_mut(width).zip(left.chunks_exact(depth)) {
            for (factor, right) in left.iter().zip(right.chunks_exact(width)) {
                row.iter_mut().zip(right).for_each(|(sum, element)| *sum += factor * element);
            }
        }
    }
}
