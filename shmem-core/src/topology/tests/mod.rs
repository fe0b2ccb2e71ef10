//! Tests on invented machines.

mod classify;
#[cfg(not(miri))]
mod sysfs;

use shmem_grammar::Kind::{FastMem, LargeMem, NormalMem};

use super::{NumaNode, Speed, Topology};

fn speed(bandwidth: u64, latency: u64) -> Speed {
    Speed { bandwidth: Some(bandwidth), latency: Some(latency) }
}

/// DRAM with two CPUs.
pub(crate) fn dram(number: u32) -> NumaNode {
    let cpus = vec![2 * number as usize, 2 * number as usize + 1];
    NumaNode { memory: 64 << 30, cpus, speed: speed(100_000, 80), ..NumaNode::new(number) }
}

/// HBM apart from CPUs.
pub(crate) fn hbm(number: u32) -> NumaNode {
    NumaNode { memory: 16 << 30, speed: speed(400_000, 110), ..NumaNode::new(number) }
}

/// Memory behind CXL.
fn cxl(number: u32) -> NumaNode {
    NumaNode { memory: 256 << 30, speed: speed(24_000, 250), ..NumaNode::new(number) }
}

/// CPUs without memory.
fn bare(number: u32) -> NumaNode {
    NumaNode { memory: 0, speed: Speed::default(), ..dram(number) }
}

/// The same machine without what an HMAT tells.
fn untold(nodes: Vec<NumaNode>) -> Vec<NumaNode> {
    nodes.into_iter().map(|node| NumaNode { speed: Speed::default(), ..node }).collect()
}

/// Two sockets with HBM of their own, and memory behind CXL.
pub(crate) fn sockets() -> Vec<NumaNode> {
    let distances = [
        [10, 21, 13, 23, 17],
        [21, 10, 23, 13, 28],
        [13, 23, 10, 23, 28],
        [23, 13, 23, 10, 28],
        [17, 28, 28, 28, 10],
    ];
    let nodes = [dram(0), dram(1), hbm(2), hbm(3), cxl(4)];
    nodes.into_iter().zip(distances).map(|(node, row)| NumaNode { distances: row.into(), ..node }).collect()
}

#[test]
fn nodes_of_a_kind_are_given_the_fastest_and_nearest_first() {
    let mut nodes = sockets();
    let given =
        |nodes: &[NumaNode], kind, home| Topology::of(nodes.into(), vec![0], None).of_kind(kind, home);
    assert_eq!([0, 1].map(|home| given(&nodes, FastMem, home)), [[2, 3], [3, 2]]);
    assert_eq!((given(&nodes, NormalMem, 1), given(&nodes, LargeMem, 1)), (vec![1, 0], vec![4]));
    nodes[3].speed = speed(900_000, 200);
    assert_eq!(given(&nodes, FastMem, 0), [3, 2]);
    nodes[2].allowed = false;
    assert_eq!(given(&nodes, FastMem, 0), [3]);
    assert_eq!(Topology::of(nodes, vec![0], None).forbidden(FastMem), [2]);
}

#[test]
fn home_is_where_the_process_runs_or_may_run() {
    let topology = |cpus: &[usize], running| Topology::of(sockets(), cpus.into(), running);
    assert_eq!(topology(&[0, 1, 2, 3], Some(1)).home(), Some(1));
    assert_eq!(topology(&[0, 1, 2, 3], None).home(), Some(0));
    assert_eq!(topology(&[2], Some(0)).home(), Some(1), "bound since");
    assert_eq!(topology(&[0, 2], None).homes(), [0, 1]);
    assert_eq!(topology(&[], None).home(), None);
    assert_eq!(topology(&[2, 9], None).cpus_of(1), [2]);
}

#[test]
fn nodes_and_guesses_are_said() {
    let topology = Topology::of(untold(sockets()), vec![], None);
    assert_eq!(topology.guessed(FastMem), [2, 3]);
    assert_eq!(
        topology.guess(FastMem),
        "nodes 2-3 are taken for FASTMEM by a guess from size, since the bandwidth is not known (no HMAT)"
    );
    let nodes = vec![dram(0), NumaNode { subtype: Some("CXL"), allowed: false, ..cxl(1) }, bare(2)];
    assert_eq!(
        Topology::of(nodes, vec![], None).inventory(),
        "there are node 0 NORMALMEM 64G 97 GiB/s 80 ns, node 1 LARGEMEM 256G 23 GiB/s 250 ns CXL (forbidden by a cpuset)"
    );
    assert_eq!(Topology::default().inventory(), "the kernel tells of no memory nodes");
}
