//! ISx: an integer sort in which every PE sends keys to every other one.
//!
//! Each PE begins with as many random keys, and each is to end with those of a range. A PE counts what it has for
//! whom and lays its keys bucket by bucket. Nobody knows beforehand how many come from whom: room in a bucket is
//! taken by an atomic addition at its PE, then the keys are put there. When all are there, each PE sorts its own.
//!
//! ```text
//! SHMEM_NPES=2 cargo run --release -p shmem-examples --bin isx
//! ```

use std::error::Error;
use std::ops::Range;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::{counted, mixed, options};

partitions! {
    /// Room for the bucket of a single PE. Memory is taken for what is used of it.
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
    let mut mine = Buckets::new(world, count)?;
    let keys: Vec<u32> = (count * me / pes..count * (me + 1) / pes).map(key).collect();
    let start = Instant::now();
    let sorted = mine.sort(world, &keys);
    let seconds = start.elapsed().as_secs_f64();
    // Of every key times its position.
    let mut first = sorted.len() as u64;
    world.sum_exscan(&mut first);
    let products = (first..).zip(sorted).map(|(position, key)| position * u64::from(*key));
    let mut checksum = products.fold(0, u64::wrapping_add);
    world.sum(&mut checksum);
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

/// The calling PE's bucket, and what it needs to fill those of all.
struct Buckets {
    bucket: SymBox<[u32]>,
    /// The calling PE's keys, bucket by bucket.
    dealt: Vec<u32>,
    /// Those of its bucket, in order.
    sorted: Vec<u32>,
}

impl Buckets {
    /// Room for a share of so many keys. Collective.
    fn new(world: &World, keys: usize) -> Result<Self> {
        // Keys are random: twice what comes on average, and more where that is little. What comes
        // behind the end would stop the program.
        let most = 2 * keys.div_ceil(world.n_pes()) + 64;
        let bucket = world.alloc_in::<buckets, _>(shmem::zeroed(most.min(keys)))?;
        Ok(Self { bucket, dealt: Vec::new(), sorted: Vec::new() })
    }

    /// Sorts the keys of all PEs; gives those that lie in the bucket of the calling one. Collective.
    fn sort(&mut self, world: &mut World, keys: &[u32]) -> &[u32] {
        self.send(world, keys);
        // All have come when the phase begins.
        world.local((&TAKEN, &self.bucket), |(taken, bucket)| {
            let keys = &bucket[..std::mem::take(taken.value_mut())];
            self.sorted.clear();
            self.sorted.extend_from_slice(keys);
            self.sorted.sort_unstable();
        });
        &self.sorted
    }

    /// Puts keys into the buckets that they belong to.
    fn send(&mut self, world: &World, keys: &[u32]) {
        let parts = deal(keys, world.n_pes(), &mut self.dealt);
        // Each begins with itself, lest they all wait for the first.
        let (pes, me) = (world.pes().iter(), world.my_pe());
        for pe in pes.clone().skip(me).chain(pes.take(me)) {
            let keys = &self.dealt[parts[pe.number()].clone()];
            let first = world.fetch_add(TAKEN.on(pe), keys.len());
            world.put(self.bucket.on(pe).index(first..first + keys.len()), keys);
        }
    }
}

/// The PE in whose bucket a key lies.
fn owner(key: u32, pes: usize) -> usize {
    ((u64::from(key) * pes as u64) >> u32::BITS) as usize
}

/// Lays keys bucket by bucket; gives where each bucket's lie.
fn deal(keys: &[u32], pes: usize, dealt: &mut Vec<u32>) -> Vec<Range<usize>> {
    let mut counts = vec![0; pes];
    keys.iter().for_each(|key| counts[owner(*key, pes)] += 1);
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    let mut parts: Vec<Range<usize>> =
        ends.zip(&counts).map(|(end, count)| end - count..end - count).collect();
    dealt.resize(keys.len(), 0);
    for key in keys {
        let part = &mut parts[owner(*key, pes)];
        dealt[part.end] = *key;
        part.end += 1;
    }
    parts
}
