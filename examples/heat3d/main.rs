//! Heat in a box: a 7-point stencil in three dimensions, whose faces are exchanged in one of two ways.
//!
//! Each PE has a cube of cells in a frame of ghost cells. By `strided!` ([`by_strided`]) PEs put the faces of their cubes
//! into the frames of their neighbours, and a phase lies around each step: the shorter program. By a halo
//! ([`by_halo`]) the cube is the program's own memory, the inner cells are computed while the faces travel, and a
//! PE waits for its neighbours only. Both lead to the same cells, bit for bit.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin heat3d
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin heat3d -- --exchange halo
//! ```

mod by_halo;
mod by_strided;
mod cube;
mod grid;

use std::error::Error;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use shmem::prelude::*;
use shmem_examples::options;

use cube::N;
use grid::Grid;

/// Lets heat spread in a box with cold walls.
#[derive(Parser)]
#[command(name = "heat3d", max_term_width = 100)]
struct Options {
    /// How faces get to the neighbours.
    #[arg(long, value_enum, default_value_t = Exchange::Strided)]
    exchange: Exchange,

    /// How often every cell becomes the mean of the six around it.
    #[arg(long, default_value_t = 100)]
    steps: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Exchange {
    /// Put into the frames of neighbours.
    Strided,
    /// Sent over the edges of a halo.
    Halo,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let grid = Grid::new(world.n_pes());
    let start = Instant::now();
    let mut sums = match options.exchange {
        Exchange::Strided => by_strided::solve(world, grid, options.steps),
        Exchange::Halo => by_halo::solve(world, grid, options.steps)?,
    };
    world.sum(&mut sums.heat);
    world.sum(&mut sums.checksum);
    if world.my_pe() == 0 {
        let [a, b, c] = grid.pes().map(|pes| pes * N);
        let seconds = start.elapsed().as_secs_f64();
        println!("{a} x {b} x {c} cells, {} steps in {seconds:.3} s: {:.6} left", options.steps, sums.heat);
        println!("checksum {:x}", sums.checksum);
    }
    Ok(())
}
