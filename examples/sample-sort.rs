//! Sample sort: keys of any distribution, where `isx` knows theirs.
//!
//! Each PE sorts its keys and gives some of them, from which all find the same limits between the PEs. Then it sends each PE what lies
//! between its limits. Both ways to send what nobody knows the size of are here: `alltoallv`, which brings parts in the order of the
//! PEs, and an exchange (`--by exchange`), which needs memory for no more than what comes.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin sample-sort
//! ```

use std::error::Error;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::share;

/// Sorts keys that lie scattered over the PEs, and are not distributed evenly.
#[derive(Parser)]
#[command(name = "sample-sort", max_term_width = 100)]
struct Options {
    /// Keys of 8 bytes, of all PEs together.
    #[arg(long, default_value_t = 1 << 20)]
    keys: u32,

    /// How keys come to their PEs.
    #[arg(long, value_enum, default_value_t = Way::Alltoallv)]
    by: Way,

    /// Say how long it takes.
    #[arg(long)]
    time: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    Alltoallv,
    Exchange,
}

/// Keys that each PE gives to find the limits.
const SAMPLES: usize = 64;

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (me, pes, count) = (world.my_pe(), world.n_pes(), options.keys as usize);
    let mut keys: Vec<u64> = share(count, pes, me).map(key).collect();
    let mut exchange = world.exchange::<u64>(ExchangeOptions::default())?;

    world.barrier_all();
    let begun = Instant::now();
    keys.sort_unstable();
    let limits = limits(world, &keys);
    // Where the part of each PE ends.
    let ends: Vec<usize> =
        limits.iter().map(|limit| keys.partition_point(|key| key < limit)).chain([keys.len()]).collect();
    let mut sorted = Vec::new();
    match options.by {
        Way::Alltoallv => {
            let starts = [0].into_iter().chain(ends.iter().copied());
            let counts: Vec<usize> = ends.iter().zip(starts).map(|(end, start)| end - start).collect();
            world.alltoallv(&keys, &counts, &mut sorted);
        }
        Way::Exchange => {
            let pes: Vec<Pe> = world.pes().iter().collect();
            let items =
                keys.iter().enumerate().map(|(at, key)| (pes[ends.partition_point(|end| *end <= at)], *key));
            exchange.run(world, items, |_from, key| sorted.push(key));
        }
    }
    // Runs that are sorted already, which this sort merges.
    sorted.sort();
    world.barrier_all();
    let taken = begun.elapsed();

    // Of every key times its position.
    let mut first = sorted.len() as u64;
    world.sum_exscan(&mut first);
    let products = (first..).zip(&sorted).map(|(position, key)| key.wrapping_mul(position));
    let sums = [products.fold(0, u64::wrapping_add), sorted.len() as u64];
    let [checksum, all] = world.sum(sums);
    let most = world.max(sorted.len());
    if me == 0 {
        println!("{all} keys, checksum {checksum:x}");
        if options.time {
            println!("{:.3} s, at most {most} keys with a PE", taken.as_secs_f64());
        }
    }
    Ok(())
}

/// The limits between the PEs: keys that divide those which all PEs give into equal parts. Collective.
fn limits(world: &World, keys: &[u64]) -> Vec<u64> {
    let samples: Vec<u64> =
        (0..SAMPLES.min(keys.len())).map(|k| keys[k * keys.len() / SAMPLES.min(keys.len())]).collect();
    let mut samples = world.collect(&samples);
    samples.sort_unstable();
    let pes = world.n_pes();
    (1..pes).map(|pe| samples.get(pe * samples.len() / pes).copied().unwrap_or(u64::MAX)).collect()
}

/// The key with a number: small ones are the most frequent.
fn key(number: usize) -> u64 {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let half = mixed >> 32;
    half * half / (1 << 20)
}
