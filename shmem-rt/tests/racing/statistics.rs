//! Statistics: each operation of the table is counted.

use shmem::prelude::*;
use shmem::{DomainHints, Family, HintScope};

use crate::calls::{FIELD, Used, every_operation};

#[shmem::test(env("SHMEM_STATS" = "1"))]
fn every_operation_of_the_table_is_counted(world: &mut World) {
    macro_rules! called {
        ($($operation:expr;)*) => {$(
            _ = $operation;
        )*};
    }
    let mut used = Used::new(world);
    every_operation!(called, world, &mut used);
    drop(used);
    world.domain_config(DomainHints::default(), HintScope::Global).unwrap();
    let statistics = world.statistics().unwrap();
    let missing: Vec<_> = Family::ALL.iter().filter(|family| statistics.of(**family).calls == 0).collect();
    assert!(missing.is_empty(), "never called, or not counted: {missing:?}");
    let put = statistics.of(Family::Put);
    assert_eq!((put.calls, put.bytes), (1, 800));
    let gather = statistics.of(Family::Gather);
    assert_eq!((gather.calls, gather.bytes), (1, 24));
    let locks = [Family::Lock, Family::TryLock, Family::ClearLock];
    assert_eq!(locks.map(|family| statistics.of(family).calls), [2, 1, 3]);
    assert_eq!(statistics.of(Family::AtomicSwap).calls, 1, "what a lock is made of is not counted");
    let moved = [Family::StridedGet, Family::Iget, Family::Ibget, Family::Igetmem, Family::AtomicFetchXor];
    assert_eq!(moved.map(|family| statistics.of(family).bytes), [32, 48, 96, 24, 8]);
}

#[shmem::test(pes = 3, env("SHMEM_STATS" = "1"))]
fn of_collectives_the_bytes_are_counted_that_a_pe_gives(world: &mut World) {
    let (me, pes, first) = (world.my_pe(), world.n_pes(), world.pe(0).unwrap());
    world.sum(&mut [1_u32; 5]);
    let _ = world.sum(vec![1_u64; 3000]);
    world.sum(&FIELD);
    world.broadcast(&mut [1_u8; 7], first);
    world.fcollect(&[1_u16; 3][..], &mut vec![0; 3 * pes]);
    let _ = world.collect(&vec![1_u64; me]);
    world.alltoall(&vec![1_u32; 2 * pes], &mut vec![0; 2 * pes]);
    world.alltoalls(&vec![1_u64; 4 * pes], 2, &mut vec![0; 2 * pes], 1, 2);
    let _ = world.reduce([1_u8; 9], |a, _| a);
    let _ = world.collect_to(&vec![1_u64; me], first);
    let _ = world.reduce_scatter(&vec![1_u32; pes], 0, |a, b| a + b);
    let _ = world.alltoallv(&vec![1_u8; 2 * pes], &vec![2; pes], &mut Vec::new());
    world.barrier_all();
    let statistics = world.statistics().unwrap();
    let bytes = |family| statistics.of(family).bytes;
    let field = size_of::<[u64; 4096]>() as u64;
    assert_eq!(bytes(Family::Sum), 20 + 24_000 + field);
    assert_eq!([bytes(Family::Broadcast), bytes(Family::Fcollect), bytes(Family::TeamBarrier)], [7, 6, 0]);
    assert_eq!(bytes(Family::Collect), 8 * me as u64);
    assert_eq!([Family::Alltoall, Family::Alltoalls].map(bytes), [8, 16].map(|of_each| of_each * pes as u64));
    let new = [Family::Reduce, Family::CollectTo].map(bytes);
    assert_eq!(new, [9, 8 * me as u64]);
    let parts = [Family::ReduceScatter, Family::Alltoallv].map(bytes);
    assert_eq!(parts, [4, 2].map(|of_each| of_each * pes as u64));
    // `sum(&FIELD)` loads and stores this PE's own copy.
    assert_eq!([Family::HereLoad, Family::HereStore].map(bytes), [field; 2]);
}

#[shmem::test]
fn nothing_is_counted_unless_it_is_asked_for(world: &mut World) {
    world.p(FIELD.on(world.me()).index(0), 1);
    assert_eq!((world.statistics(), world.traffic()), (None, None));
}
