//! Keys of memory. Each partition has a key of its own on every PE, also a partition that is created after the start.

use std::time::Duration;

use shmem::SymAddr;
use shmem::partition::{MAX_PARTITIONS, NewPartition};
use shmem::prelude::*;
use shmem::thread::Single;

use crate::scenario::{self, assert_says};

/// Each PE writes to the memory of all PEs in a partition, and reads what all PEs have written to its own.
fn exchange(world: &World, id: u32, words: SymAddr) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let value = |from: usize, to: usize| (u64::from(id) * 64 + (from * n + to) as u64).to_ne_bytes();
    for pe in world.pes() {
        world.putmem(words.add(8 * me), &value(me, pe.number()), pe);
    }
    world.barrier_all();
    let mut seen = vec![0; 8 * n];
    world.getmem(&mut seen, words, world.me());
    let expected: Vec<u8> = (0..n).flat_map(|from| value(from, me)).collect();
    assert_eq!(seen, expected, "partition {id}");
}

/// Exchanges in all partitions after memory was allocated in all, so that a shared key would be noticed.
fn exchange_in(world: &World, ids: impl Iterator<Item = u32>) -> usize {
    let blocks: Vec<(u32, SymAddr)> =
        ids.map(|id| (id, world.partition(id).unwrap().malloc(64).unwrap())).collect();
    blocks.iter().for_each(|(id, block)| exchange(world, *id, *block));
    blocks.len()
}

#[shmem::test(pes = 2)]
fn partitions_made_later_have_keys_of_their_own(world: &mut World) {
    let before = world.registrations();
    let ids: Vec<u32> =
        (0..40).map(|_| world.create_partition(NewPartition::new(1 << 20)).unwrap().id()).collect();
    assert_eq!(exchange_in(world, ids.into_iter()), 40);
    assert_eq!(world.registrations() - before, 40);
}

/// The program of the PEs, and no test by itself.
#[test]
fn scenario() {
    if scenario::named().is_some() {
        let world = shmem::init::<Single>().unwrap();
        eprintln!("PE {} has used {}", world.my_pe(), exchange_in(&world, 1..=MAX_PARTITIONS as u32));
    }
}

#[test]
fn as_many_partitions_as_there_may_be_are_known_to_all() {
    let mut job = scenario::job("keys", "all", 2).env("SHMEM_INFO", "1").timeout(Duration::from_secs(120));
    let transport = std::env::var("SHMEM_TRANSPORT").unwrap_or_default();
    if !["", "loopback"].contains(&&*transport) {
        job = job.env("SHMEM_TRANSPORT", &transport);
    }
    for id in 1..=MAX_PARTITIONS {
        // Partition 1 has the statics of all tests of this program.
        let size = if id == 1 { 1024 } else { 64 + id };
        job = job.env(format!("SHMEM_SYMMETRIC_PARTITION{id}"), format!("SIZE={size}K"));
    }
    let said = scenario::said(&scenario::succeeds(job));
    for pe in 0..2 {
        assert_says(&said, &[&format!("PE {pe} has used {MAX_PARTITIONS}")]);
    }
    // `SHMEM_INFO` prints how many segments are registered.
    let registered = format!("{} segments of together ", MAX_PARTITIONS + 1);
    assert_eq!(said.contains(&registered), transport == "ofi", "{said}");
}
