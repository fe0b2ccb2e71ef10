//! What passes between nodes in a collective of data that fit a meeting: from node to node, to first members only, and as
//! often as the formula of the algorithm says. More goes to any member, through its window.

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

/// The node of each PE, in the order of their first members.
fn node_of_each(world: &World) -> Vec<usize> {
    let firsts = firsts(world);
    let all: Vec<usize> = firsts.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    firsts.iter().map(|first| all.binary_search(first).unwrap()).collect()
}

/// How many vertices of the tree over ranks make up those of them that are in a set.
fn cover(set: &[bool], first: usize, width: usize) -> u64 {
    let inside = &set[first.min(set.len())..(first + width).min(set.len())];
    match (inside.iter().any(|is_in| *is_in), inside.iter().all(|is_in| *is_in)) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => cover(set, first, width / 2) + cover(set, first + width / 2, width / 2),
    }
}

/// Each node sends, in each round, what covers the contributions of those that it has heard of, of so many bytes each. What
/// is for higher ranks only does not go to a node before.
fn summed(node_of: &[usize], each: u64, scans: bool) -> Traffic {
    let nodes = node_of.iter().max().unwrap() + 1;
    let Traffic { operations, mut bytes } = meeting(nodes as u64);
    let mut known = 0;
    for bit in (0..rounds(nodes as u64)).rev() {
        let with_own = (nodes - 1) >> bit & 1;
        let distance = known + with_own;
        for node in 0..nodes {
            let is_sent = |of: &usize| {
                let back = (node + nodes - of) % nodes;
                (1 - with_own..=known).contains(&back) && !(scans && *of > node)
            };
            let set: Vec<bool> = node_of.iter().map(is_sent).collect();
            if !scans || node + distance < nodes {
                bytes += each * cover(&set, 0, set.len().next_power_of_two());
            }
        }
        known += distance;
    }
    Traffic { operations, bytes }
}

fn every_collective(world: &World) {
    let (sizes, node_of) = (nodes(world), node_of_each(world));
    let count = sizes.len() as u64;
    let pes = world.n_pes();
    assert_eq!(sent(world, || world.barrier_all()), meeting(count), "barrier");
    assert_eq!(sent(world, || world.sync_all()), meeting(count), "sync");
    // Of what is exact one value of each node, or several together.
    let exact =
        |each| Traffic { bytes: meeting(count).bytes + meeting(count).operations * each, ..meeting(count) };
    assert_eq!(sent(world, || world.sum(&mut [1_u64; 2])), exact(16), "sum");
    assert_eq!(sent(world, || world.max(&mut 1_f32)), exact(4), "max");
    // Where ranks of nodes do not follow each other, numbers that round go everywhere as they are.
    let rounding = |each, scans| match node_of.is_sorted() {
        true => summed(&node_of, each, scans),
        false => brought(&sizes, each),
    };
    assert_eq!(sent(world, || world.sum(&mut [1.0; 3])), rounding(24, false), "sum of f64");
    assert_eq!(sent(world, || world.prod(&mut 1_f32)), rounding(4, false), "product of f32");
    assert_eq!(sent(world, || world.sum_exscan(&mut 1.0)), rounding(8, true), "scan");
    assert_eq!(sent(world, || world.sum_inscan(&mut 1_u16)), rounding(2, true), "scan of u16");
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

#[shmem::test(pes = 2)]
fn nothing_is_counted_unless_it_is_asked_for(world: &mut World) {
    assert_eq!(world.traffic(), None);
}
