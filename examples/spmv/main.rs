//! A sparse matrix times a vector, again and again: gets of what other PEs have of the vector.
//!
//! Rows of the matrix and elements of the vector are dealt out to the PEs. Which elements of other PEs a PE needs follows
//! from its rows, and does not change. So it looks once ([`needs`]), and gets the same places in each step: all of
//! them are under way at a time.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin spmv
//! ```

mod matrix;
mod needs;

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::share;

use matrix::Rows;
use needs::Needs;

/// Multiplies a vector by a sparse matrix, and the result by it, and so on.
#[derive(Parser)]
#[command(name = "spmv", max_term_width = 100)]
struct Options {
    /// Rows and columns of the matrix.
    #[arg(long, default_value_t = 1 << 18, value_parser = clap::value_parser!(u32).range(1..))]
    size: u32,

    /// How often the vector is multiplied.
    #[arg(long, default_value_t = 20)]
    steps: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (me, pes, n) = (world.my_pe(), world.n_pes(), options.size as usize);
    let mine = share(n, pes, me);
    let mut rows = Rows::of(mine.clone(), n);
    // Of the same length everywhere, though the last PEs may have one element less.
    let vector = world.alloc(shmem::zeroed::<f64>(n.div_ceil(pes)))?;
    let needs = Needs::of(world, &mut rows, n);
    // The own elements first, then those of other PEs.
    let mut known: Vec<f64> = mine.clone().map(|i| (i % 97) as f64 + 1.0).collect();
    known.resize(mine.len() + needs.elements(), 0.0);

    let start = Instant::now();
    for _ in 0..options.steps {
        // All have got the elements of the step before where the phase begins, and all have given theirs where it ends.
        world.local(&vector, |elements| elements[..mine.len()].copy_from_slice(&known[..mine.len()]));
        needs.get(world, &vector, &mut known[mine.len()..]);
        let product = rows.times(&known);
        known[..mine.len()].copy_from_slice(&product);
    }
    let seconds = start.elapsed().as_secs_f64();

    // Of the bits of every element times its number.
    let products = mine.zip(&known).map(|(i, element)| element.to_bits().wrapping_mul(i as u64 + 1));
    let mut sums = [products.fold(0, u64::wrapping_add), rows.entries() as u64, needs.elements() as u64];
    world.sum(&mut sums);
    if me == 0 {
        let [checksum, entries, gotten] = sums;
        println!(
            "{n} rows of {entries} entries, {} steps in {seconds:.3} s; {gotten} elements got in each",
            options.steps
        );
        println!("checksum {checksum:x}");
    }
    Ok(())
}
