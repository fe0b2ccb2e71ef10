//! Tests on invented machines.

mod classify;
#[cfg(all(feature = "numa", not(miri)))]
mod hwloc;
#[cfg(not(miri))]
mod sysfs;
mod topology;

use super::{NumaNode, Speed};

pub(super) fn speed(bandwidth: u64, latency: u64) -> Speed {
    Speed { bandwidth: Some(bandwidth), latency: Some(latency) }
}

/// DRAM with two CPUs.
pub(super) fn dram(number: u32) -> NumaNode {
    let cpus = vec![2 * number as usize, 2 * number as usize + 1];
    NumaNode { memory: 64 << 30, cpus, speed: speed(100_000, 80), ..NumaNode::new(number) }
}

/// HBM apart from CPUs.
pub(super) fn hbm(number: u32) -> NumaNode {
    NumaNode { memory: 16 << 30, speed: speed(400_000, 110), ..NumaNode::new(number) }
}

/// Memory behind CXL.
pub(super) fn cxl(number: u32) -> NumaNode {
    NumaNode { memory: 256 << 30, speed: speed(24_000, 250), ..NumaNode::new(number) }
}

/// CPUs without memory.
pub(super) fn bare(number: u32) -> NumaNode {
    NumaNode { memory: 0, speed: Speed::default(), ..dram(number) }
}

/// The same machine without what an HMAT tells.
pub(super) fn untold(nodes: Vec<NumaNode>) -> Vec<NumaNode> {
    nodes.into_iter().map(|node| NumaNode { speed: Speed::default(), ..node }).collect()
}
