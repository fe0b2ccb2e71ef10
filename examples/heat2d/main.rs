//! Heat in a plate: a 2-D stencil on several PEs.
//!
//! The border of the plate keeps its temperature. Inside, heat spreads until temperatures are stationary, or for a number of steps.
//! Each PE relaxes a block of cells while it exchanges its outer rows and columns with its neighbours. PE 0 distributes a sample,
//! and writes the result as a picture.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin heat2d
//! ```

mod field;
mod picture;
mod plate;
mod stencil;

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::{checksum, counted, options};

use field::Field;
use plate::{Memory, Plate};
use stencil::Progress;

/// Relaxes a temperature field whose border is held fixed, and draws the result.
#[derive(Debug, Parser)]
#[command(name = "heat2d", max_term_width = 100)]
struct Arguments {
    /// Number of rows of the plate. Its initial temperatures are a sample of 256 x 256 cells, which is repeated.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    rows: u32,

    /// Number of columns of the plate.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    columns: u32,

    /// Upper limit on the number of steps.
    #[arg(long, default_value_t = 200)]
    steps: u64,

    /// Stop when no cell changes by more than this in one step, in degrees.
    #[arg(long, default_value = "0.001", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,

    /// File for the picture of the result.
    #[arg(long, value_name = "FILE.png", default_value = "heat2d.png")]
    output: PathBuf,

    /// Partition of the grids: the program's own, or partition 1, which
    /// SHMEM_SYMMETRIC_PARTITION1 describes.
    #[arg(long, value_enum, default_value_t)]
    partition: Memory,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..f64::INFINITY).contains(&number) => Ok(number),
        _ => Err("a number of degrees, 0 or more".to_owned()),
    }
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(arguments) = options::<Arguments>(world)? else { return Ok(()) };
    let [rows, columns] = [arguments.rows, arguments.columns].map(|count| count as usize);
    let field = (world.my_pe() == 0).then(|| Field::sample(rows, columns));
    let mut plate = Plate::deal_out(world, arguments.partition, [rows, columns], field.as_ref())?;

    let progress = plate.solve(world, arguments.steps, arguments.tolerance);
    if field.is_some() {
        let end = plate.gather(world, progress.steps);
        // An error on one PE ends the job on all PEs, with one error text.
        picture::write(&end, &arguments.output)?;
        let (Progress { steps, residual }, file) = (progress, arguments.output.display());
        let pes = counted(world.n_pes());
        println!(
            "{rows} x {columns} cells on {pes}: {steps} steps, residual {residual:.4}, picture in {file}"
        );
        println!("checksum {:x}", checksum(end.cells().iter().copied().enumerate()));
    }
    Ok(())
}
