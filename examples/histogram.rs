//! A histogram with too many bins for one PE: atomic additions to words of other PEs.
//!
//! The bins are dealt out to the PEs. Each PE draws samples, and adds one to the bin of each, wherever that lies. Nobody
//! receives anything, and no addition is lost, however many PEs come to a bin at a time. (With few bins, each
//! PE would count for itself, and `world.sum` add up the counts.)
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin histogram
//! ```

use std::error::Error;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::{owner, share};

/// Counts how often a random number falls into each of many bins.
#[derive(Parser)]
#[command(name = "histogram", max_term_width = 100)]
struct Options {
    /// Bins, of all PEs together.
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..))]
    bins: u32,

    /// Samples, of all PEs together.
    #[arg(long, default_value_t = 1 << 22)]
    samples: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (me, pes, bins) = (world.my_pe(), world.n_pes(), options.bins as usize);
    // Of the same length everywhere, though the last PEs may have one bin less.
    let counts = world.alloc(shmem::zeroed::<Atomic<u64>>(bins.div_ceil(pes)))?;

    for number in share(options.samples as usize, pes, me) {
        let bin = (sample(number) * bins as f64) as usize;
        let pe = owner(bins, pes, bin);
        world.add(counts.on(world.pes()[pe]).index(bin - share(bins, pes, pe).start), 1);
    }

    // All additions are there where the phase begins, and the counts are plain memory in it.
    let mine = share(bins, pes, me);
    let counts: Vec<u64> =
        world.local(&counts, |counts| counts[..mine.len()].iter().map(Atomic::value).collect());
    let mut fullest = counts.iter().copied().max().unwrap_or(0);
    world.max(&mut fullest);
    // Of every count times its number.
    let checksum =
        mine.zip(&counts).fold(0, |sum: u64, (bin, count)| sum.wrapping_add(count * (bin as u64 + 1)));
    let mut sums = [counts.iter().sum(), checksum];
    world.sum(&mut sums);
    if me == 0 {
        let [all, checksum] = sums;
        println!("{all} samples in {bins} bins, at most {fullest} in one");
        println!("checksum {checksum:x}");
    }
    Ok(())
}

/// The sample with a number, at least 0 and less than 1: those in the middle are the most frequent.
fn sample(number: usize) -> f64 {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let [one, other] = [mixed >> 32, mixed & 0xFFFF_FFFF];
    (one + other) as f64 / (1_u64 << 33) as f64
}
