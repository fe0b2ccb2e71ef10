//! What passes between nodes in a collective of data that fit a meeting: from node to node, to first members only, and as
//! often as the formula of the algorithm says (of numbers that round, `scale` of shmem-perf counts every byte). More goes to any
//! member, through its window.

use std::collections::BTreeSet;

use shmem::Traffic;
use shmem::prelude::*;

/// The first member of the node of each PE.
fn firsts(world: &World) -> Vec<usize> {
    let mut firsts = vec![0; world.n_pes()];
    world.fcollect(&world.node_team().pe(0).unwrap().number(), &mut firsts);
    firsts
}

/// Runs a collective, and gives what all PEs have sent in it together. Every target must be the first member of
/// another node.
fn sent(world: &World, collective: impl FnOnce()) -> Traffic {
    let firsts = firsts(world);
    let own = firsts[world.my_pe()];
    let before = world.traffic().unwrap();
    collective();
    let after = world.traffic().unwrap();
    let (mut operations, mut bytes) = (0, 0);
    for (pe, (before, after)) in before.iter().zip(&after).enumerate() {
        let more = after.operations - before.operations;
        assert!(more == 0 || firsts[pe] == pe, "PE {} has sent to PE {pe}", world.my_pe());
        assert!(more == 0 || firsts[pe] != own, "PE {} has sent to its own node", world.my_pe());
        operations += more;
        bytes += after.bytes - before.bytes;
    }
    let mut sums = [operations, bytes];
    world.sum(&mut sums);
    Traffic { operations: sums[0], bytes: sums[1] }
}

/// The sizes of nodes, in any order.
fn nodes(world: &World) -> Vec<u64> {
    let firsts = firsts(world);
    let members = |node: &usize| firsts.iter().filter(|first| *first == node).count() as u64;
    firsts.iter().collect::<BTreeSet<_>>().into_iter().map(members).collect()
}

fn rounds(nodes: u64) -> u64 {
    u64::from(nodes.next_power_of_two().trailing_zeros())
}

/// Every node sends a word in each round.
fn meeting(nodes: u64) -> Traffic {
    let operations = nodes * rounds(nodes);
    Traffic { operations, bytes: operations * 8 }
}

/// Besides, the contributions of `each` bytes of each PE come to each node that has them not.
fn brought(nodes: &[u64], each: u64) -> Traffic {
    let Traffic { operations, bytes } = meeting(nodes.len() as u64);
    let pes: u64 = nodes.iter().sum();
    Traffic { operations, bytes: bytes + pes * each * (nodes.len() as u64 - 1) }
}

fn every_collective(world: &World) {
    let sizes = nodes(world);
    let count = sizes.len() as u64;
    let pes = world.n_pes();
    assert_eq!(sent(world, || world.barrier_all()), meeting(count), "barrier");
    assert_eq!(sent(world, || world.sync_all()), meeting(count), "sync");
    // Of what is exact one value of each node, or several together.
    let exact =
        |each| Traffic { bytes: meeting(count).bytes + meeting(count).operations * each, ..meeting(count) };
    assert_eq!(sent(world, || world.sum(&mut [1_u64; 2])), exact(16), "sum");
    assert_eq!(sent(world, || world.max(&mut 1_f32)), exact(4), "max");
    // Of numbers that round, partial results, or all of them where ranks of nodes do not follow each other.
    let rounding = |collective: &dyn Fn(), each| {
        let (found, least, most) = (sent(world, collective), exact(each), brought(&sizes, each));
        assert!(found.operations == least.operations && found.bytes <= most.bytes, "{found:?} of {most:?}");
    };
    rounding(&|| world.sum(&mut [1.0; 3]), 24);
    rounding(&|| world.prod(&mut 1_f32), 4);
    rounding(&|| world.sum_exscan(&mut 1.0), 8);
    rounding(&|| world.sum_inscan(&mut 1_u16), 2);
    let mut all = vec![0_u8; 100 * pes];
    assert_eq!(sent(world, || world.fcollect(&[1; 100][..], &mut all)), brought(&sizes, 100), "fcollect");

    // What the root has comes to each other node once.
    let root = world.pe(pes - 1).unwrap();
    let mut data = [world.my_pe() as u64; 20];
    let Traffic { operations, bytes } = meeting(count);
    let once = Traffic { operations, bytes: bytes + 160 * (count - 1) };
    assert_eq!(sent(world, || world.broadcast(&mut data, root)), once, "broadcast");

    // One message from each node to each other, which is the meeting.
    let pairs: u64 = sizes.iter().map(|here| here * (pes as u64 - here)).sum();
    let operations = count * (count - 1);
    let apart = Traffic { operations, bytes: operations * 8 + pairs * 16 };
    let (source, mut into) = (vec![3_u64; 2 * pes], vec![0; 2 * pes]);
    assert_eq!(sent(world, || world.alltoall(&source, &mut into)), apart, "alltoall");
    world.barrier_all();
}

macro_rules! on_nodes {
    ($($name:ident: $pes:tt as $hosts:tt;)*) => {$(
        #[shmem::test(pes = $pes, env("SHMRUN_HOSTS_AS" = $hosts, "SHMEM_STATS" = "1"))]
        fn $name(world: &mut World) {
            every_collective(world);
        }
    )*};
}

on_nodes! {
    four_nodes_of_two: 8 as "4x2";
    three_nodes_of_two: 6 as "3x2";
    four_nodes_of_several_sizes: 7 as "4,1,4,0,1,4,2";
    three_nodes_of_several_sizes_in_a_row: 7 as "0,0,0,1,1,2,2";
    five_nodes_of_one: 5 as "5x1";
}
