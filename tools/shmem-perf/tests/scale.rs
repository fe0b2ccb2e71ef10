//! How start-up and collectives grow: what is counted is what the formulas of docs/scale.md say.

use shmem::prelude::*;
use shmem_perf::scale::{Collective, Cost, Shape, Start};

/// Counts one collective, on all PEs together.
fn counted(world: &mut World, collective: impl FnOnce(&World)) -> (u64, u64) {
    let traffic = |world: &World| {
        let to = world.traffic().expect("SHMEM_STATS counts");
        to.iter().fold((0, 0), |all, to| (all.0 + to.operations, all.1 + to.bytes))
    };
    let before = traffic(world);
    collective(world);
    let now = traffic(world);
    let mut all = [now.0 - before.0, now.1 - before.1];
    world.sum(&mut all);
    (all[0], all[1])
}

/// Every collective, of sizes that fit one step and that do not.
fn as_the_formula_says(world: &mut World, per_node: usize) {
    let (pes, root) = (world.n_pes(), world.pe(0).unwrap());
    let shape = Shape { nodes: pes / per_node, per_node };
    let expect = |collective, (messages, bytes)| {
        let cost = Cost::of(collective, shape);
        assert_eq!((messages, bytes), (cost.messages, cost.bytes), "{collective:?} of {shape:?}");
    };
    expect(Collective::Barrier, counted(world, World::barrier_all));
    for items in [1, 5, 300, 3000] {
        let bytes = 8 * items;
        let mut data = vec![1_u64; items];
        expect(Collective::Broadcast(bytes), counted(world, |world| world.broadcast(&mut data[..], root)));
        if items < 3000 || pes <= 16 {
            expect(Collective::Sum(bytes), counted(world, |world| world.sum(&mut data[..])));
            assert_eq!(data[0], pes as u64);
            let mut all = vec![0; items * pes];
            expect(Collective::Fcollect(bytes), counted(world, |world| world.fcollect(&data[..], &mut all)));
        }
        if items < 300 || pes <= 8 {
            let (source, mut into) = (vec![1_u64; items * pes], vec![0; items * pes]);
            expect(Collective::Alltoall(bytes), counted(world, |world| world.alltoall(&source, &mut into)));
        }
    }
}

macro_rules! shapes {
    ($($name:ident: $pes:literal, $pattern:literal, $per_node:literal;)*) => {$(
        #[shmem::test(pes = $pes, env("SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = $pattern, "SHMEM_STATS" = "1"))]
        fn $name(world: &mut World) {
            as_the_formula_says(world, $per_node);
        }
    )*};
}
shapes! {
    two_nodes: 2, "*x1", 1;
    two_nodes_of_two: 4, "*x2", 2;
    three_nodes: 3, "*x1", 1;
    four_nodes_of_two: 8, "*x2", 2;
    five_nodes_of_three: 15, "*x3", 3;
    sixteen_nodes: 16, "*x1", 1;
    eight_nodes_of_four: 32, "*x4", 4;
    thirty_two_nodes_of_two: 64, "*x2", 2;
    sixty_four_nodes: 64, "*x1", 1;
}

/// Times that PEs wait for each other before the program begins, whatever their number.
const ROUNDS: u64 = 4;

/// Bytes that a PE offers at most: what it offers does not grow with the PEs.
const BYTES: u64 = 800;

/// A start has as many rounds for any number of PEs, and each PE takes what each offers, once.
fn starts_as_the_formula_says(world: &mut World, rounds: u64) {
    let (start, exchanged) = Start::counted(world);
    let mut bytes_of_all = start.bytes;
    world.sum(&mut bytes_of_all);
    assert_eq!(exchanged, start.exchanged(world.n_pes(), bytes_of_all));
    assert_eq!(start.rounds, rounds, "{start:?}");
    assert!(start.bytes <= BYTES, "{start:?}");
}

macro_rules! starts {
    ($($name:ident: $pes:literal;)*) => {$(
        #[shmem::test(pes = $pes, env("SHMEM_TRANSPORT" = "shm"))]
        fn $name(world: &mut World) {
            starts_as_the_formula_says(world, ROUNDS);
        }
    )*};
}
starts! {
    a_start_of_2: 2;
    a_start_of_3: 3;
    a_start_of_8: 8;
    a_start_of_16: 16;
    a_start_of_64: 64;
}
