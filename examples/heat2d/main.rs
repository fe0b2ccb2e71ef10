//! Heat in a plate: a 2-D stencil on several PEs.
//!
//! The plate's border keeps its temperature; inside, heat spreads until it does not change any
//! more, or for a number of steps. Each PE relaxes a block of cells while its first and last rows and
//! columns are on their way to its neighbours; no PE waits for another one than these, but to learn how
//! much the others' cells have changed. PE 0 reads the field, shows how far things are, and writes the
//! result as a picture.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin heat2d
//! ```

mod decomposition;
mod field;
mod picture;
mod plate;
mod stencil;

use std::path::PathBuf;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use shmem::prelude::*;
use shmem_examples::{Speedup, Usage, counted, options};

use decomposition::Cut;
use field::{Field, FieldError};
use picture::PictureError;
use plate::{Memory, Plate, PlateError};
use stencil::{Limits, Progress, Serial};

/// What the plate begins as when no file is given.
const SAMPLE: &[u8] = include_bytes!("data/sample.npy");

/// Relaxes a temperature field whose border is held fixed, and draws the result.
#[derive(Debug, Parser)]
#[command(name = "heat2d", max_term_width = 100)]
struct Arguments {
    /// Initial temperatures: a 2-D NumPy array (.npy: f4, f8 or u1) or a PNG picture. Default: a
    /// sample of 256 x 256 cells.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,

    /// Most steps.
    #[arg(long, default_value_t = 200)]
    steps: u64,

    /// Stop when no cell changes by more in one step, in degrees.
    #[arg(long, default_value = "0.001", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,

    /// Where the picture of the result goes.
    #[arg(long, value_name = "FILE.png", default_value = "heat2d.png")]
    output: PathBuf,

    /// How the cells are dealt out. The result is the same, bit for bit.
    #[arg(long, value_enum, default_value_t = Cut::Blocks)]
    decomposition: Cut,

    /// Which partition the grids lie in: the program's own, or partition 1, which is what
    /// SHMEM_SYMMETRIC_PARTITION1 says.
    #[arg(long, value_enum, default_value_t)]
    partition: Memory,

    /// Solve once more on PE 0 alone, and compare bit for bit.
    #[arg(long, conflicts_with = "times")]
    serial_check: bool,

    #[command(flatten)]
    speedup: Speedup,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..f64::INFINITY).contains(&number) => Ok(number),
        _ => Err("a number of degrees, 0 or more".to_owned()),
    }
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Usage(#[from] Usage),
    #[error(transparent)]
    Input(#[from] FieldError),
    #[error(transparent)]
    Plate(#[from] PlateError),
    #[error(transparent)]
    Output(#[from] PictureError),
    #[error("the serial solution is {serial:?}, not {parallel:?}")]
    OtherEnd { serial: Progress, parallel: Progress },
    #[error("the cell in row {row}, column {column} is {parallel}, in the serial solution {serial}")]
    OtherCell { row: usize, column: usize, serial: f64, parallel: f64 },
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Failure> {
    let Some(arguments) = options::<Arguments>(world)? else { return Ok(()) };
    // An error of one PE ends the job for all, with one message.
    let field = if world.my_pe() == 0 { Some(read(&arguments)?) } else { None };
    let mut plate = Plate::deal_out(world, arguments.decomposition, arguments.partition, field.as_ref())?;

    let limits = Limits { steps: arguments.steps, tolerance: arguments.tolerance };
    if arguments.speedup.is_asked() {
        // All steps in each turn, however little changes.
        let limits = Limits { tolerance: f64::NEG_INFINITY, ..limits };
        let parallel = |world: &mut World| {
            plate.solve(world, limits, |_| ());
        };
        arguments.speedup.measure(world, parallel, || {
            let mut serial = field.as_ref().map(Serial::new);
            move || serial.as_mut().map(|serial| serial.solve(limits))
        });
        return Ok(());
    }
    let bar = progress_bar(world, limits);
    let progress = plate.solve(world, limits, |Progress { steps, residual }| {
        bar.set_position(steps);
        bar.set_message(format!("{residual:.4}"));
    });
    bar.finish_and_clear();

    if let Some(start) = field {
        let end = plate.gather(world, progress.steps);
        picture::write(&end, &arguments.output)?;
        let (rows, columns, pes) = (end.rows(), end.columns(), counted(world.n_pes()));
        let (Progress { steps, residual }, file) = (progress, arguments.output.display());
        println!(
            "{rows} x {columns} cells on {pes}: {steps} steps, residual {residual:.4}, picture in {file}"
        );
        if arguments.serial_check {
            compare(&end, progress, stencil::solve(&start, limits))?;
            println!("equal to the serial solution, bit for bit");
        }
    }
    Ok(())
}

fn read(arguments: &Arguments) -> Result<Field, FieldError> {
    match &arguments.input {
        Some(path) => Field::read(path),
        None => {
            Field::parse(SAMPLE).map_err(|source| FieldError::Contents { path: "the sample".into(), source })
        }
    }
}

/// On PE 0 and on a terminal; hidden elsewhere.
fn progress_bar(world: &World, limits: Limits) -> ProgressBar {
    if world.my_pe() != 0 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos} of at most {len} steps, residual {msg}");
    let bar = ProgressBar::new(limits.steps);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn compare(field: &Field, end: Progress, (serial, serial_end): (Field, Progress)) -> Result<(), Failure> {
    if serial_end != end {
        return Err(Failure::OtherEnd { serial: serial_end, parallel: end });
    }
    let mut cells = field.cells().iter().zip(serial.cells()).enumerate();
    match cells.find(|(_, (parallel, serial))| parallel.to_bits() != serial.to_bits()) {
        None => Ok(()),
        Some((at, (parallel, serial))) => {
            let (row, column) = (at / field.columns(), at % field.columns());
            Err(Failure::OtherCell { row, column, serial: *serial, parallel: *parallel })
        }
    }
}
