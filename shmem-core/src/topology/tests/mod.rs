//! Tests on invented machines.

mod classify;
#[cfg(all(feature = "numa", not(miri)))]
mod hwloc;
#[cfg(not(miri))]
mod sysfs;
mod topology;

use super::{Node, Speed};

pub(super) fn speed(bandwidth: u64, latency: u64) -> Speed {
    Speed { bandwidth: Some(bandwidth), latency: Some(latency) }
}

/// DRAM with two CPUs.
pub(super) fn dram(number: u32) -> Node {
    let cpus = vec![2 * number as usize, 2 * number as usize + 1];
    Node { memory: 64 << 30, cpus, speed: speed(100_000, 80), ..Node::new(number) }
}

/// HBM apart from CPUs.
pub(super) fn hbm(number: u32) -> Node {
    Node { memory: 16 << 30, speed: speed(400_000, 110), ..Node::new(number) }
}

/// Memory behind CXL.
pub(super) fn cxl(number: u32) -> Node {
    Node { memory: 256 << 30, speed: speed(24_000, 250), ..Node::new(number) }
}

/// CPUs without memory.
pub(super) fn bare(number: u32) -> Node {
    Node { memory: 0, speed: Speed::default(), ..dram(number) }
}

/// The same machine without what an HMAT tells.
pub(super) fn untold(nodes: Vec<Node>) -> Vec<Node> {
    nodes.into_iter().map(|node| Node { speed: Speed::default(), ..node }).collect()
}
