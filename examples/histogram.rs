//! A histogram with too many bins for one PE: atomic additions to words of other PEs.
//!
//! The bins are dealt out to the PEs. Each PE draws samples, and adds one to the bin of each sample on its owner. Additions are
//! atomic: the owner takes no part, and no addition is lost. (With few bins, each PE would count locally, and `world.sum` would
//! add the counts.)
//!
//! Each call adds to a list of bins (`add_each`). Between nodes this is many times faster than single additions
//! (`world.add(all.locate(bin), 1)`).
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin histogram
//! ```

use std::error::Error;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::{mixed, options, share};

/// Counts how often a random number falls into each of many bins.
#[derive(Parser)]
#[command(name = "histogram", max_term_width = 100)]
struct Options {
    /// Number of bins, of all PEs together.
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..))]
    bins: u32,

    /// Number of samples, of all PEs together.
    #[arg(long, default_value_t = 1 << 22)]
    samples: u32,
}

/// Samples in one list: many for each PE, and few enough to stay in a cache.
const LIST: usize = 1 << 16;

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::<Options>(world)? else { return Ok(()) };
    let (me, bins) = (world.my_pe(), options.bins as usize);
    // The allocation has equal length on all PEs, though the last PEs may have fewer bins.
    let counts = world.alloc(shmem::zeroed::<Atomic<u64>>(bins.div_ceil(world.n_pes())))?;
    count(world, &counts, &options);
    world.barrier_all();
    let all = counts.over(world.team(), Block::of(bins));
    let first = all.owned(me).next().unwrap_or(bins);
    let mine = first..first + all.owned(me).count();

    // The phase begins after all additions, and in the phase the counts are plain memory.
    let counts: Vec<u64> =
        world.local(&counts, |counts| counts[..mine.len()].iter().map(Atomic::value).collect());
    let mut fullest = counts.iter().copied().max().unwrap_or(0);
    world.max(&mut fullest);
    // The sum of every count times its bin number.
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

/// Adds this PE's samples to the bins.
fn count(world: &World, counts: &SymBox<[Atomic<u64>]>, options: &Options) {
    let bins = options.bins as usize;
    let all = counts.over(world.team(), Block::of(bins));
    let mut numbers = share(options.samples as usize, world.n_pes(), world.my_pe());
    let mut list = Vec::with_capacity(LIST);
    while !numbers.is_empty() {
        list.clear();
        list.extend(numbers.by_ref().take(LIST).map(|number| bin(number, bins)));
        world.add_each(all.at(&list), 1);
    }
}

/// Returns the bin of sample `number`.
fn bin(number: usize, bins: usize) -> u32 {
    (sample(number) * bins as f64) as u32
}

/// Returns sample `number`, at least 0 and less than 1. Values in the middle are the most frequent.
fn sample(number: usize) -> f64 {
    let mixed = mixed(number as u64);
    let [one, other] = [mixed >> 32, mixed & 0xFFFF_FFFF];
    (one + other) as f64 / (1_u64 << 33) as f64
}
