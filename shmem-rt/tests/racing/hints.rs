//! MemoryHints of allocations: kept with the block, and taken from the type where there is one.

use shmem::prelude::*;
use shmem::{MemoryHints, filled, zeroed};

#[shmem::test(pes = 2)]
fn a_block_keeps_its_hints_when_it_grows_and_moves(world: &mut World) {
    let both = MemoryHints::ATOMICS_REMOTE | MemoryHints::SIGNAL_REMOTE;
    let block = world.malloc_with_hints(64, both).unwrap();
    let plain = world.malloc(64).unwrap();
    world.putmem(block, &[7; 64], world.me());
    assert_eq!(world.hints(block.add(63)), Some(both));
    assert_eq!(world.hints(plain), Some(MemoryHints::NONE));
    let moved = world.realloc(block, 10_000).unwrap();
    assert_ne!(moved, block, "the next block stands in the way");
    assert_eq!(world.hints(moved.add(9_999)), Some(both));
    let mut kept = [0; 64];
    world.getmem(&mut kept, moved, world.me());
    assert_eq!(kept, [7; 64]);
    world.free(moved).unwrap();
    world.free(plain).unwrap();
    assert_eq!(world.hints(moved), None, "what is free has none");
}

#[shmem::test(pes = 2)]
fn the_type_of_an_object_is_its_hint(world: &mut World) {
    let atomics = world.alloc(zeroed::<Atomic<u64>>(8)).unwrap();
    let signals = world.alloc(zeroed::<[Signal; 2]>(4)).unwrap();
    let numbers = world.alloc(filled(1.0, 8)).unwrap();
    assert_eq!(world.hints(atomics.here(world).addr()), Some(MemoryHints::ATOMICS_REMOTE));
    assert_eq!(world.hints(signals.here(world).addr()), Some(MemoryHints::SIGNAL_REMOTE));
    assert_eq!(world.hints(numbers.here(world).addr()), Some(MemoryHints::NONE));
}

#[test]
fn hints_are_named() {
    let both = MemoryHints::ATOMICS_REMOTE | MemoryHints::SIGNAL_REMOTE;
    assert_eq!(both.to_string(), "atomics_remote|signal_remote");
    assert_eq!(MemoryHints::SIGNAL_REMOTE.to_string(), "signal_remote");
    assert_eq!(MemoryHints::default().to_string(), "none");
    assert!(both.contains(MemoryHints::SIGNAL_REMOTE) && !MemoryHints::SIGNAL_REMOTE.contains(both));
}
