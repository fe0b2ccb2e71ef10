//! ISx: an integer sort in which every PE sends keys to every other PE.
//!
//! Each PE begins with an equal number of random keys, and ends with the keys of one range, its bucket. No PE knows in advance
//! how many keys each sender has for it. So a sender reserves space in a bucket by an atomic addition, and then puts its keys
//! there. After a barrier each PE sorts its bucket.
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
    /// Space for the bucket of a PE. Unused pages take no memory.
    buckets { size = "1G" }
}

/// Number of keys for which senders have reserved space in this PE's bucket.
#[symmetric]
static TAKEN: Atomic<usize>;

/// Sorts random keys that are distributed over the PEs.
#[derive(Debug, Parser)]
#[command(name = "isx", max_term_width = 100)]
struct Arguments {
    /// Number of 4-byte keys, of all PEs together.
    #[arg(long, default_value_t = 1 << 22, value_parser = clap::value_parser!(u32).range(1..))]
    keys: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(arguments) = options::<Arguments>(world)? else { return Ok(()) };
    let (me, pes, count) = (world.my_pe(), world.n_pes(), arguments.keys as usize);
    // Keys are random, so a bucket has space for twice the mean, and for more if the mean is small. A put beyond the end would stop
    // the program.
    let most = 2 * count.div_ceil(pes) + 64;
    let bucket = world.alloc_in::<buckets, _>(shmem::zeroed(most.min(count)))?;
    let keys: Vec<u32> = share(count, pes, me).map(key).collect();
    let start = Instant::now();
    send(world, &bucket, &keys);
    // All keys have arrived when the phase begins.
    let mut sorted = world
        .local((&TAKEN, &bucket), |(taken, bucket)| bucket[..std::mem::take(taken.value_mut())].to_vec());
    sorted.sort_unstable();
    let seconds = start.elapsed().as_secs_f64();
    // The sum of every key times its position.
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

/// Returns key `number`: a random key, the same in every run.
fn key(number: usize) -> u32 {
    (mixed(number as u64) >> 32) as u32
}

/// Puts each key into its bucket.
fn send(world: &World, bucket: &SymBox<[u32]>, keys: &[u32]) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let mut parts = vec![Vec::new(); pes];
    for key in keys {
        parts[((u64::from(*key) * pes as u64) >> u32::BITS) as usize].push(*key);
    }
    // Each PE begins with its own bucket, so that senders do not all start with the same PE.
    for pe in world.pes().iter().cycle().skip(me).take(pes) {
        let keys = &parts[pe.number()];
        let first = world.fetch_add(TAKEN.on(pe), keys.len());
        world.put(bucket.on(pe).index(first..first + keys.len()), keys);
    }
}
