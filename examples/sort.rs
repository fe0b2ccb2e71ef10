//! Sorts keys that lie scattered over the PEs, as the benchmark ISx does: each PE gets a range of keys, and sends
//! every other PE the keys of its range.
//!
//! Nobody knows beforehand how many keys come from whom. Room for them is taken by an atomic addition, keys and
//! the news of them travel together, and a PE waits until as many are there as all PEs together have sent it.

use shmem::prelude::*;

/// Keys on all PEs.
const KEYS: usize = 1 << 18;

/// Keys are below this.
const BOUND: u64 = 1 << 27;

/// Keys for which room was taken in this PE's bucket.
#[symmetric]
static TAKEN: Atomic<usize>;

/// Keys that have come into it.
#[symmetric]
static ARRIVED: Signal;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let mut keys: Vec<u32> = (me * KEYS / pes..(me + 1) * KEYS / pes).map(key).collect();
    // Twice what comes on average. An index behind the end would stop the program.
    let bucket = world.alloc(shmem::zeroed::<u32>(2 * KEYS.div_ceil(pes)))?;

    keys.sort_unstable_by_key(|key| owner(*key, pes));
    let mut sent = vec![0; pes];
    for keys in keys.chunk_by(|a, b| owner(*a, pes) == owner(*b, pes)) {
        let to = world.pe(owner(keys[0], pes))?;
        let room = world.fetch_add(TAKEN.on(to), keys.len());
        let place = bucket.on(to).index(room..room + keys.len());
        world.put_signal(place, keys, ARRIVED.on(to), SignalOp::Add(keys.len() as u64));
        sent[to.number()] = keys.len() as u64;
    }

    // What all have sent to each PE, and where the keys of this one stand among all.
    world.sum(&mut sent[..]);
    let count = sent[me];
    let mut first = count;
    world.sum_exscan(&mut first);
    ARRIVED.wait_until(world, eq(count));

    let mut checksum = world.local(&bucket, |keys| {
        let keys = &mut keys[..count as usize];
        keys.sort_unstable();
        println!("PE {me}: keys {first}..{}, from {} to {}", first + count, keys[0], keys[keys.len() - 1]);
        (first..).zip(keys).map(|(position, key)| position * u64::from(*key)).fold(0, u64::wrapping_add)
    });
    world.sum(&mut checksum);
    if me == 0 {
        println!("checksum {checksum:x}");
    }
    Ok(())
}

/// The PE in whose range a key lies.
fn owner(key: u32, pes: usize) -> usize {
    (u64::from(key) * pes as u64 / BOUND) as usize
}

/// The key with a number: a random one, the same in every run.
fn key(number: usize) -> u32 {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed >> 33) % BOUND) as u32
}
