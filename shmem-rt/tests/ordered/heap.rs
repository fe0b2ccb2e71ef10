//! Symmetric heaps: partitions of the environment, pages, and refused calls. (Allocation, growth and freeing: conformance programs
//! in C.)

use shmem::prelude::*;

use crate::panics::{refused, said};

#[shmem::test(pes = 2, env("SHMEM_SYMMETRIC_PARTITION23" = "size=1M", "SHMEM_SYMMETRIC_SIZE" = " 8MB"))]
fn partitions_of_the_environment_are_reached_by_number(world: &mut World) {
    let heap = world.partition(23).unwrap();
    assert_eq!((heap.id(), heap.name()), (23, "partition23"));
    let one = heap.alloc([5_i32; 4]).unwrap();
    let two = heap.align(4096, 10).unwrap();
    assert!(two.as_ptr().addr().is_multiple_of(4096));
    let first = world.partition(1).unwrap();
    assert!(first.align(2 << 20, 10).unwrap().as_ptr().addr().is_multiple_of(2 << 20));
    let (_, east) = world.ring_neighbours();
    world.p(one.on(east).index(3), 6);
    world.barrier_all();
    assert_eq!(one.here(world).index(3).load(), 6);
    assert!(heap.alloc(zeroed::<u8>(1 << 20)).is_err(), "1M is its size");
    assert!(world.alloc(zeroed::<u8>(1 << 20)).is_ok(), "8M is that of partition 1, statics included");
    let (block, _behind) = (heap.malloc(16).unwrap(), heap.malloc(16).unwrap());
    world.putmem(block, &[7; 16], world.me());
    let (moved, mut kept) = (world.realloc(block, 4096).unwrap(), [0; 16]);
    world.getmem(&mut kept, moved, world.me());
    assert!(moved != block && kept == [7; 16], "a block that is moved keeps its contents");
    refused! {
        world.partition(24).unwrap() => "24";
        world.partition(24).unwrap() => "23";
        first.align(4 << 20, 8).unwrap() => "4194304 is not an alignment: give a power of two, at most 2M";
    }
}

#[shmem::test(pes = 2)]
fn a_full_heap_says_how_to_make_it_larger(world: &mut World) {
    let full = said(|| world.alloc(zeroed::<u8>(80 << 20)).unwrap());
    for part in ["; give the partition at least 8", "SHMEM_SYMMETRIC_SIZE=8"] {
        assert!(full.contains(part), "{full}");
    }
}

#[shmem::test(pes = 2)]
fn pages_are_counted_once_they_exist_whoever_touched_them(world: &mut World) {
    let pages = |world: &World| -> u64 {
        let nodes = world.partition(1).unwrap().pages_per_node().unwrap();
        assert!(
            nodes.is_sorted_by(|a, b| a.0 < b.0) && nodes.iter().all(|(_, pages)| *pages > 0),
            "{nodes:?}"
        );
        nodes.iter().map(|(_, pages)| pages).sum()
    };
    let size = world.partitions()[0].grants[world.my_pe()].pgsize;
    let before = pages(world);
    let block = world.malloc(8 << 20).unwrap();
    assert_eq!(pages(world), before, "nobody has touched it");
    world.barrier_all();
    let (_, east) = world.ring_neighbours();
    world.putmem(block, &[1; 4 << 20], east);
    world.barrier_all();
    // The system may use larger pages than those that were touched.
    let more = pages(world) - before;
    assert!(more >= (4 << 20) / size && more <= (8 << 20) / size + 1, "{more} pages of {size}");
    world.free(block).unwrap();
}

#[shmem::test(pes = 1)]
fn what_has_no_bytes_is_written_at_once(world: &mut World) {
    let many = world.alloc(shmem::filled([0_u64; 0], usize::MAX)).unwrap();
    assert_eq!(many.len(), usize::MAX);
    many.here(world).fill([]);
    let there = many.on(world.me());
    assert_eq!(there.index(usize::MAX - 1..).len(), 1);
    // Transfers of the largest number of elements, which have no bytes.
    let none = vec![[0_u64; 0]; usize::MAX];
    world.put(there, &none);
    world.iput(there, &none, 1, 1, usize::MAX);
    let mut back = none.clone();
    world.get(&mut back[..], there);
    world.ibget(&mut back, there, 2, 2, 2, usize::MAX / 2);
    many.here(world).copy_from(&none);
    many.here(world).copy_to(&mut back);
}
