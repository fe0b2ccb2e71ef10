//! ISx: an integer sort in which every PE sends keys to every other one.
//!
//! Each PE begins with as many random keys, and ends with the keys of a range: its bucket. Nobody knows beforehand how many
//! keys come from which PE. So a sender takes room in a bucket by an atomic addition, and then puts its keys there. When all
//! keys are there, each PE sorts its own.
//!
//! ```text
//! SHMEM_NPES=2 cargo run --release -p shmem-examples --bin isx
//! ```

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::{counted, mixed, options, share};

partitions! {
    /// Room for the bucket of a PE. Unused pages take no memory.
    buckets { size = "1G" }
}

/// Keys for which room was taken in this PE's bucket since it was emptied.
#[symmetric]
static TAKEN: Atomic<usize>;

/// Sorts random keys that lie scattered over the PEs.
#[derive(Debug, Parser)]
#[command(name = "isx", max_term_width = 100)]
struct Arguments {
    /// Keys of 4 bytes, of all PEs together.
    #[arg(long, default_value_t = 1 << 22, value_parser = clap::value_parser!(u32).range(1..))]
    keys: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(arguments) = options::<Arguments>(world)? else { return Ok(()) };
    let (me, pes, count) = (world.my_pe(), world.n_pes(), arguments.keys as usize);
    // Keys are random: twice what comes on average, and more where that is little. What comes behind the end would stop the
    // program.
    let most = 2 * count.div_ceil(pes) + 64;
    let bucket = world.alloc_in::<buckets, _>(shmem::zeroed(most.min(count)))?;
    let keys: Vec<u32> = share(count, pes, me).map(key).collect();
    let start = Instant::now();
    send(world, &bucket, &keys);
    // All have come when the phase begins.
    let mut sorted = world
        .local((&TAKEN, &bucket), |(taken, bucket)| bucket[..std::mem::take(taken.value_mut())].to_vec());
    sorted.sort_unstable();
    let seconds = start.elapsed().as_secs_f64();
    // Of every key times its position.
    let first = world.sum_exscan(sorted.len() as u64);
    let products = (first..).zip(sorted).map(|(position, key)| position * u64::from(key));
    let checksum = world.sum(products.fold(0, u64::wrapping_add));
    if me == 0 {
        let (pes, rate) = (counted(pes), count as f64 / seconds / 1e6);
        println!("{count} keys on {pes}: sorted in {seconds:.3} s, {rate:.1} million a second");
        println!("checksum {checksum:x}");
    }
    Ok(())
}

/// The key with a number: a random one, the same in every run.
fn key(number: usize) -> u32 {
    (mixed(number as u64) >> 32) as u32
}

/// Puts keys into the buckets that they belong to.
fn send(world: &World, bucket: &SymBox<[u32]>, keys: &[u32]) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let mut parts = vec![Vec::new(); pes];
    for key in keys {
        parts[((u64::from(*key) * pes as u64) >> u32::BITS) as usize].push(*key);
    }
    // Each begins with itself, lest they all wait for the first.
    for pe in world.pes().iter().cycle().skip(me).take(pes) {
        let keys = &parts[pe.number()];
        let first = world.fetch_add(TAKEN.on(pe), keys.len());
        world.put(bucket.on(pe).index(first..first + keys.len()), keys);
    }
}
