//! Traffic between nodes of different sizes, in collectives of short data. Only the first member of a node may receive, as often as
//! the algorithm says. (Nodes of one size: `scale` of shmem-perf.)

use std::collections::BTreeSet;

use shmem::Traffic;
use shmem::prelude::*;

fn firsts(world: &World) -> Vec<usize> {
    let mut firsts = vec![0; world.n_pes()];
    world.fcollect(&world.node_team().pe(0).unwrap().number(), &mut firsts);
    firsts
}

/// Runs a collective and returns the traffic of all PEs. Only the first members of other nodes may be targets.
fn sent(world: &World, collective: impl FnOnce()) -> Traffic {
    let firsts = firsts(world);
    let own = firsts[world.my_pe()];
    let before = world.traffic().unwrap();
    collective();
    let after = world.traffic().unwrap();
    let (mut operations, mut bytes) = (0, 0);
    for (pe, (before, after)) in before.iter().zip(&after).enumerate() {
        let more = after.operations - before.operations;
        let is_other = firsts[pe] == pe && firsts[pe] != own;
        assert!(more == 0 || is_other, "PE {} has sent to PE {pe}", world.my_pe());
        operations += more;
        bytes += after.bytes - before.bytes;
    }
    let [operations, bytes] = world.sum([operations, bytes]);
    Traffic { operations, bytes }
}

#[shmem::test(pes = 7, env("SHMRUN_HOSTS_AS" = "4,1,4,0,1,4,2", "SHMEM_STATS" = "1"))]
fn nodes_of_several_sizes(world: &mut World) {
    every_collective(world);
}

#[shmem::test(pes = 7, env("SHMRUN_HOSTS_AS" = "0,0,0,1,1,2,2", "SHMEM_STATS" = "1"))]
fn nodes_of_several_sizes_in_a_row(world: &mut World) {
    every_collective(world);
}

fn every_collective(world: &World) {
    let (all, pes) = (firsts(world), world.n_pes() as u64);
    let members = |node| all.iter().filter(|first| **first == node).count() as u64;
    let sizes: Vec<u64> = BTreeSet::from_iter(all.iter().copied()).into_iter().map(members).collect();
    let nodes = sizes.len() as u64;
    // Each node sends a word and `each` bytes in each round, and receives `others` bytes in all.
    let rounds = u64::from(nodes.next_power_of_two().trailing_zeros());
    let barrier = |each: u64, others: u64| {
        let operations = nodes * rounds;
        Traffic { operations, bytes: operations * (8 + each) + others * (nodes - 1) }
    };
    assert_eq!(sent(world, || world.barrier_all()), barrier(0, 0), "barrier");
    // Exact reductions send one value from each node.
    assert_eq!(sent(world, || world.sum(&mut [1_u64; 2])), barrier(16, 0), "sum");
    assert_eq!(sent(world, || world.max(&mut 1_f32)), barrier(4, 0), "max");
    // Rounded sums send partial results, or all values if a node's ranks are not consecutive.
    let rounding = |collective: &dyn Fn(), each| {
        let (found, most) = (sent(world, collective), barrier(0, pes * each));
        assert!(found.operations == most.operations && found.bytes <= most.bytes, "{found:?} of {most:?}");
    };
    rounding(&|| world.sum(&mut [1.0; 3]), 24);
    rounding(&|| world.sum_exscan(&mut 1.0), 8);
    rounding(&|| world.sum_inscan(&mut 1_u16), 2);
    let mut into = vec![0_u8; 100 * pes as usize];
    let fcollect = sent(world, || world.fcollect(&[1; 100][..], &mut into));
    assert_eq!(fcollect, barrier(0, pes * 100), "fcollect");
    // Each other node receives the data of the root once.
    let (root, mut data) = (world.pe(world.n_pes() - 1).unwrap(), [world.my_pe() as u64; 20]);
    assert_eq!(sent(world, || world.broadcast(&mut data, root)), barrier(0, 160), "broadcast");
    // One message from each node to each other node.
    let pairs: u64 = sizes.iter().map(|here| here * (pes - here)).sum();
    let operations = nodes * (nodes - 1);
    let apart = Traffic { operations, bytes: operations * 8 + pairs * 16 };
    let (source, mut into) = (vec![3_u64; 2 * world.n_pes()], vec![0; 2 * world.n_pes()]);
    assert_eq!(sent(world, || world.alltoall(&source, &mut into)), apart, "alltoall");
    world.barrier_all();
}
