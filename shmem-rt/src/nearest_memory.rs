//! Finds the NUMA nodes whose memory a PE uses.

use shmem_core::partition::Kind;
use shmem_core::topology::Topology;

/// Returns the node whose memory a thread on node `home` uses: the nearest of `kind`, or else the nearest with memory.
pub(crate) fn memory_near(topology: &Topology, home: u32, kind: Option<Kind>) -> Option<u32> {
    if let Some(node) = kind.and_then(|kind| topology.of_kind(kind, home).first().copied()) {
        return Some(node);
    }
    let from = topology.nodes().iter().position(|node| node.number == home);
    let usable = topology.nodes().iter().filter(|node| node.memory > 0 && node.allowed);
    let distance = |to: &&shmem_core::topology::NumaNode| {
        let far = from.and_then(|from| to.distances.get(from)).copied().unwrap_or(u32::MAX);
        (to.number != home, far, to.number)
    };
    usable.min_by_key(distance).map(|node| node.number)
}

/// Returns whether a PE on `cpus` (empty: unknown) might request memory of `nodes`, when all PEs request the nearest of a kind.
pub(crate) fn may_ask(topology: &Topology, cpus: &[usize], nodes: &[u32], kind: Option<Kind>) -> bool {
    let [node] = nodes else { return true };
    let mut homes = topology.nodes().iter().filter(|home| home.cpus.iter().any(|cpu| cpus.contains(cpu)));
    cpus.is_empty() || homes.any(|home| memory_near(topology, home.number, kind) == Some(*node))
}

pub(crate) fn several(topology: &Topology) -> bool {
    topology.nodes().iter().filter(|node| node.memory > 0 && node.allowed).count() > 1
}

#[cfg(test)]
mod tests {
    use shmem_core::topology::NumaNode;

    use super::*;

    #[test]
    fn a_node_is_asked_by_those_next_to_it() {
        let near = |number: u32, cpu| NumaNode { memory: 1 << 30, cpus: vec![cpu], ..NumaNode::new(number) };
        let fast = NumaNode { memory: 1 << 28, subtype: Some("HBM"), ..NumaNode::new(2) };
        let topology = Topology::of(vec![near(0, 0), near(1, 1), fast], vec![0, 1], None);
        let ask = |cpus: &[usize], nodes: &[u32], kind| may_ask(&topology, cpus, nodes, kind);
        assert!(ask(&[0], &[0], None) && ask(&[0, 1], &[1], None) && ask(&[], &[1], None));
        assert!(!ask(&[0], &[1], None) && !ask(&[1], &[0], Some(Kind::NormalMem)));
        assert!(ask(&[0], &[0, 1], None), "of several nodes");
        assert!(ask(&[0], &[2], Some(Kind::FastMem)) && ask(&[1], &[2], Some(Kind::FastMem)), "next to both");
    }
}
