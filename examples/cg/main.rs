//! Poisson's equation by conjugate gradients: dot products by `sum`, the operator by a halo, or as a sparse matrix by a plan.
//!
//! The grid is dealt out in bands of rows, in the PEs' own memory. Applying the operator takes the last row of the band
//! above and the first row of the band below; a dot product is a sum over the band, and then over all PEs. `world.sum`
//! adds in the order of PEs, and gives every PE the same bits: so all of them stop in the same step.
//!
//! `--by plan` has the operator as a sparse matrix, as any other one would be: which elements of a vector come from where
//! follows from its columns, and is planned once. `--by single` reads them one by one. All come to the same bits.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin cg
//! ```

mod laplacian;
mod sparse;

use std::error::Error;
use std::f64::consts::PI;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::share;

use laplacian::Laplacian;
use sparse::Sparse;

/// Solves Poisson's equation on a square, where the solution is known.
#[derive(Parser)]
#[command(name = "cg", max_term_width = 100)]
struct Options {
    /// Inner points along each side of the square.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    size: u16,

    /// By how many digits the residual is to become smaller.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=14))]
    digits: u8,

    /// Most steps.
    #[arg(long, default_value_t = 10_000)]
    steps: u32,

    /// How the operator brings what other PEs have.
    #[arg(long, value_enum, default_value_t = Way::Halo)]
    by: Way,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    /// Rows of the grid, from neighbours.
    Halo,
    /// Elements of a sparse matrix's columns, each once, sent by who has it.
    Plan,
    /// The same for each entry, one by one.
    Single,
}

enum Operator {
    Grid(Laplacian),
    Matrix(Box<Sparse>),
}

impl Operator {
    fn times(&mut self, world: &mut World, band: &[f64]) -> Vec<f64> {
        match self {
            Self::Grid(laplacian) => laplacian.times(world, band),
            Self::Matrix(sparse) => sparse.times(world, band),
        }
    }
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (n, start) = (usize::from(options.size), Instant::now());
    let mine = share(n, world.n_pes(), world.my_pe());
    let mut operator = match options.by {
        Way::Halo => Operator::Grid(Laplacian::new(world, n)?),
        way => Operator::Matrix(Box::new(Sparse::new(world, n, matches!(way, Way::Plan))?)),
    };
    // The operator makes the right side from the solution that is to be found.
    let points = mine.flat_map(|i| (0..n).map(move |j| [i, j].map(|at| (at + 1) as f64 / (n + 1) as f64)));
    let expected: Vec<f64> = points.map(|[y, x]| (PI * x).sin() * (2.0 * PI * y).sin() + x * y).collect();
    let mut residual = operator.times(world, &expected);

    let mut solution = vec![0.0; expected.len()];
    let mut direction = residual.clone();
    let mut square = dot(world, &residual, &residual);
    let enough = square * 0.01_f64.powi(options.digits.into());
    let mut steps = 0;
    while square > enough && steps < options.steps {
        let image = operator.times(world, &direction);
        let length = square / dot(world, &direction, &image);
        add(&mut solution, length, &direction);
        add(&mut residual, -length, &image);
        let before = std::mem::replace(&mut square, dot(world, &residual, &residual));
        for (direction, residual) in direction.iter_mut().zip(&residual) {
            *direction = residual + square / before * *direction;
        }
        steps += 1;
    }

    let differences = solution.iter().zip(&expected).map(|(solution, expected)| (solution - expected).abs());
    let mut error = differences.fold(0.0, f64::max);
    world.max(&mut error);
    if world.my_pe() == 0 {
        let seconds = start.elapsed().as_secs_f64();
        println!("{n} x {n} points: {steps} steps in {seconds:.3} s, at most {error:e} from the solution");
    }
    Ok(())
}

/// The dot product of two vectors of all PEs, on all of them. Collective.
fn dot(world: &World, a: &[f64], b: &[f64]) -> f64 {
    let mut sum = a.iter().zip(b).map(|(a, b)| a * b).sum();
    world.sum(&mut sum);
    sum
}

/// Adds a multiple of a vector to another one.
fn add(to: &mut [f64], factor: f64, vector: &[f64]) {
    to.iter_mut().zip(vector).for_each(|(to, element)| *to += factor * element);
}
