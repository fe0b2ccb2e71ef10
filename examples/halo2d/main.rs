//! Halo exchange in two dimensions: the benchmark of "Extending Strided Communication Interface in
//! OpenSHMEM" (2015), with 128 MiB of data.
//!
//! A field is dealt out in blocks to a grid of PEs. In each step every PE puts the outermost rows and
//! columns of its block into the frames of its four neighbours' blocks, and relaxes its own. Rows are
//! contiguous, columns are not: how their cells are moved is what the algorithms differ in. The last way is a
//! halo, which needs no barrier around it: its time is that of the whole exchange, the wait for the neighbours
//! and the copies into the frame included. The ways take turns, so that they meet the same machine, and any of
//! them leads to the same field.
//!
//! ```text
//! SHMEM_NPES=2 cargo run --release -p shmem-examples --bin halo2d
//! ```
//!
//! Large pages make it faster than any algorithm does, as each cell of a long column lies on another page:
//! `SHMEM_SYMMETRIC_PARTITION_GRIDS=size=136M:pgsize=2M`.

mod grid;
mod halo;
mod relaxation;
mod timing;

use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::{Speedup, Usage, options};

use grid::{Border, Grid, NoGrid};
use halo::Block;
use relaxation::Serial;
use timing::{Times, Way};

/// Exchanges the edges of blocks by each algorithm and by a halo, in turn, and compares their times.
#[derive(Debug, Parser)]
#[command(name = "halo2d", max_term_width = 100)]
struct Arguments {
    /// Rows of the field, of all PEs together.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,

    /// Columns of the field.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    columns: u32,

    /// How often each way has its turn; with --times, steps, all of them by a halo.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// What lies beyond the edges of the field.
    #[arg(long, value_enum, default_value_t = Border::Periodic)]
    border: Border,

    /// Exchange only: the edges stay in the caches, where otherwise a relaxation of the whole block
    /// comes in between.
    #[arg(long, conflicts_with_all = ["serial_check", "times"])]
    exchange_only: bool,

    /// Solve once more on PE 0 alone, and compare bit for bit.
    #[arg(long, conflicts_with = "times")]
    serial_check: bool,

    #[command(flatten)]
    speedup: Speedup,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Usage(#[from] Usage),
    #[error(transparent)]
    NoGrid(#[from] NoGrid),
    #[error(transparent)]
    Start(#[from] shmem::Error),
    #[error("the cell in row {row}, column {column} is {parallel}, in the serial solution {serial}")]
    OtherCell { row: usize, column: usize, serial: f64, parallel: f64 },
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Failure> {
    let Some(arguments) = options::<Arguments>(world)? else { return Ok(()) };
    let size = [arguments.rows as usize, arguments.columns as usize];
    let grid = Grid::new(size, world.n_pes(), arguments.border)?;
    let mut block = Block::fill(world, grid)?;
    if arguments.speedup.is_asked() {
        let parallel = |world: &mut World| {
            for _ in 0..arguments.rounds {
                block.exchange_by_halo(world);
                block.relax(world);
            }
        };
        arguments.speedup.measure(world, parallel, || {
            let mut serial = Serial::new(grid);
            move || (0..arguments.rounds).for_each(|_| serial.step())
        });
        return Ok(());
    }

    let mut times = Times::default();
    for round in 0..arguments.rounds as usize {
        let mut taken = [0.0; Way::ALL.len()];
        for turn in 0..taken.len() {
            // Another one begins in each round.
            let which = (round + turn) % taken.len();
            world.barrier_all();
            taken[which] = match Way::ALL[which] {
                Way::Algorithm(algorithm) => {
                    let start = Instant::now();
                    block.exchange(world, algorithm);
                    world.quiet();
                    start.elapsed().as_secs_f64()
                }
                Way::Halo => block.exchange_by_halo(world).as_secs_f64(),
            };
            if !arguments.exchange_only {
                block.relax(world);
            }
        }
        // An exchange takes as long as it takes the slowest PE.
        world.max(&mut taken[..]);
        times.push(taken);
    }

    if world.my_pe() == 0 {
        let [rows, columns] = size;
        let (mib, pes) = ((rows * columns * 8) as f64 / f64::from(1 << 20), world.n_pes());
        let plural = if pes == 1 { "" } else { "s" };
        println!("{rows} x {columns} cells ({mib:.1} MiB) on {pes} PE{plural}, {grid}");
        print!("{times}");
        if arguments.serial_check {
            let steps = arguments.rounds as usize * Way::ALL.len();
            compare(world, &block, grid, &relaxation::solve(grid, steps))?;
            println!("equal to the serial solution, bit for bit");
        }
    }
    Ok(())
}

fn compare(world: &World, block: &Block, grid: Grid, serial: &[Vec<f64>]) -> Result<(), Failure> {
    for pe in world.pes() {
        let [rows, columns] = grid.blocks.part_of(pe.number());
        for (at, row) in rows.enumerate() {
            let serial = &serial[1 + row][1 + columns.start..1 + columns.end];
            let parallel = block.row_of(world, pe, at, columns.len());
            let mut cells = parallel.iter().zip(serial).enumerate();
            if let Some((at, (parallel, serial))) = cells.find(|(_, (a, b))| a.to_bits() != b.to_bits()) {
                let column = columns.start + at;
                return Err(Failure::OtherCell { row, column, serial: *serial, parallel: *parallel });
            }
        }
    }
    Ok(())
}
