//! Where the chunks of arrays live: the nodes of a PE's CPUs, and the memory near each of them.

use shmem_core::partition::Kind;
use shmem_core::topology::Topology;

/// The homes of the chunks on the calling PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Homes {
    /// The nodes of this PE's CPUs; empty: the machine does not tell of nodes.
    own: Vec<u32>,
    /// The most nodes that any PE has: on how many nodes an array is laid out.
    most: usize,
}

impl Homes {
    pub(super) fn new(own: Vec<u32>, most: usize) -> Self {
        Self { own, most: most.max(1) }
    }

    /// On how many nodes arrays are laid out, the same on every PE.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Which of the [`most`](Self::most) nodes a chunk belongs to, the same on every PE.
    pub(super) fn class(&self, chunk: usize) -> usize {
        chunk % self.most
    }

    /// The node of a class of chunks on this PE; a PE with fewer nodes has several classes on one.
    pub(super) fn of_class(&self, class: usize) -> Option<u32> {
        self.own.get(class % self.own.len().max(1)).copied()
    }

    /// The node of each chunk on this PE; empty: not known.
    pub(super) fn of_chunks(&self, chunks: usize) -> Vec<u32> {
        (0..chunks).map_while(|chunk| self.of_class(self.class(chunk))).collect()
    }
}

/// The node whose memory a thread on `home` uses: of a kind, the nearest; of none, its own, or the nearest
/// where it has none or may not have it.
pub(super) fn memory_near(topology: &Topology, home: u32, kind: Option<Kind>) -> Option<u32> {
    if let Some(node) = kind.and_then(|kind| topology.of_kind(kind, home).first().copied()) {
        return Some(node);
    }
    let from = topology.nodes().iter().position(|node| node.number == home);
    let usable = topology.nodes().iter().filter(|node| node.memory > 0 && node.allowed);
    let distance = |to: &&shmem_core::topology::Node| {
        let far = from.and_then(|from| to.distances.get(from)).copied().unwrap_or(u32::MAX);
        (to.number != home, far, to.number)
    };
    usable.min_by_key(distance).map(|node| node.number)
}

/// Whether a PE on these CPUs may ask for memory of these nodes, where all PEs ask for memory of a kind next to
/// them: of several nodes it does in any case, of one if it is next to it. CPUs that are not known may be any.
pub(crate) fn may_ask(topology: &Topology, cpus: &[usize], nodes: &[u32], kind: Option<Kind>) -> bool {
    let [node] = nodes else { return true };
    let mut homes = topology.nodes().iter().filter(|home| home.cpus.iter().any(|cpu| cpus.contains(cpu)));
    cpus.is_empty() || homes.any(|home| memory_near(topology, home.number, kind) == Some(*node))
}

/// Whether it matters from which node memory comes.
pub(super) fn several(topology: &Topology) -> bool {
    topology.nodes().iter().filter(|node| node.memory > 0 && node.allowed).count() > 1
}

#[cfg(test)]
mod tests {
    use shmem_core::topology::Node;

    use super::*;

    #[test]
    fn a_node_is_asked_by_those_next_to_it() {
        let near = |number: u32, cpu| Node { memory: 1 << 30, cpus: vec![cpu], ..Node::new(number) };
        let fast = Node { memory: 1 << 28, subtype: Some("HBM".to_owned()), ..Node::new(2) };
        let topology = Topology::of(vec![near(0, 0), near(1, 1), fast], vec![0, 1], None);
        let ask = |cpus: &[usize], nodes: &[u32], kind| may_ask(&topology, cpus, nodes, kind);
        assert!(ask(&[0], &[0], None) && ask(&[0, 1], &[1], None) && ask(&[], &[1], None));
        assert!(!ask(&[0], &[1], None) && !ask(&[1], &[0], Some(Kind::NormalMem)));
        assert!(ask(&[0], &[0, 1], None), "of several nodes");
        assert!(ask(&[0], &[2], Some(Kind::FastMem)) && ask(&[1], &[2], Some(Kind::FastMem)), "next to both");
    }

    #[test]
    fn chunks_go_round_the_nodes() {
        let homes = Homes::new(vec![0, 2], 2);
        assert_eq!(homes.of_chunks(5), [0, 2, 0, 2, 0]);
        // Another PE has four nodes: chunk 2 is that of class 2 everywhere.
        let homes = Homes::new(vec![5, 7], 4);
        assert_eq!(homes.of_chunks(6), [5, 7, 5, 7, 5, 7]);
        assert_eq!((homes.class(6), homes.of_class(3)), (2, Some(7)));
        assert_eq!(Homes::new(Vec::new(), 0).of_chunks(3), [0; 0]);
        assert_eq!(Homes::new(Vec::new(), 0).most(), 1);
    }
}
