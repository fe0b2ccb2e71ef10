//! NUMA nodes: memory, its kind, and its distance from this PE's CPUs.
//!
//! The kind of a node's memory follows from its properties, never from the node's number. Memory of nodes with CPUs is the
//! reference. Other memory is compared with it by bandwidth and latency as seen from the nearest CPUs; if these are unknown, the
//! type of the memory decides; otherwise its size, which is a guess ([`Topology::guessed`]).
//!
//! ```text
//! sysfs      properties from /sys and /proc
//! classify   computes the kinds of all nodes from their properties
//! node       the properties of a node, and their text in reports
//! ```

mod classify;
mod node;
mod sysfs;
#[cfg(test)]
pub(crate) mod tests;

use shmem_grammar::Kind;

use crate::proc_sys::Root;

pub use classify::classify;
pub(crate) use node::numbers;
pub use node::{Evidence, NumaNode, Speed};

/// The NUMA nodes of a machine, as this process sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<NumaNode>,
    cpus: Vec<usize>,
    running: Option<u32>,
}

impl Topology {
    /// Reads the machine whose `proc` and `sys` are in `root`.
    pub fn read(root: &Root) -> Self {
        let (nodes, cpus) = sysfs::read(root);
        if *root != Root::default() {
            return Self::of(nodes, cpus, None);
        }
        let cpu = rustix::thread::sched_getcpu();
        let running = nodes.iter().find(|node| node.cpus.contains(&cpu)).map(|node| node.number);
        Self::of(nodes, cpus, running)
    }

    /// Builds the topology of a machine with these NUMA nodes, and classifies each. The process may run on `cpus`, and
    /// runs on node `running` now.
    ///
    /// ```
    /// use shmem_core::partition::Kind;
    /// use shmem_core::topology::{NumaNode, Speed, Topology};
    ///
    /// let speed = |bandwidth, latency| Speed { bandwidth: Some(bandwidth), latency: Some(latency) };
    /// let near = NumaNode { memory: 64 << 30, cpus: vec![0, 1], speed: speed(100_000, 80), ..NumaNode::new(0) };
    /// let fast = NumaNode { memory: 16 << 30, speed: speed(400_000, 110), ..NumaNode::new(1) };
    /// let topology = Topology::of(vec![near, fast], vec![0, 1], None);
    /// assert_eq!(topology.of_kind(Kind::FastMem, 0), [1]);
    /// ```
    pub fn of(mut nodes: Vec<NumaNode>, cpus: Vec<usize>, running: Option<u32>) -> Self {
        classify(&mut nodes);
        Self { nodes, cpus, running }
    }

    /// The nodes in the order of their numbers; none if the kernel has no NUMA nodes.
    pub fn nodes(&self) -> &[NumaNode] {
        &self.nodes
    }

    /// The CPUs on which this process may run; none: not known.
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// The nodes on whose CPUs this process may run, in the order of their numbers.
    pub fn homes(&self) -> Vec<u32> {
        let ours = |node: &&NumaNode| node.cpus.iter().any(|cpu| self.cpus.contains(cpu));
        self.nodes.iter().filter(ours).map(|node| node.number).collect()
    }

    /// The NUMA node of this process: the node where it runs or, if that is unknown, the first node where it may run.
    pub fn home(&self) -> Option<u32> {
        let homes = self.homes();
        self.running.filter(|running| homes.contains(running)).or(homes.first().copied())
    }

    /// The CPUs of node `node` on which this process may run.
    pub fn cpus_of(&self, node: u32) -> Vec<usize> {
        let node = self.nodes.iter().find(|one| one.number == node);
        let cpus = node.into_iter().flat_map(|node| node.cpus.iter().copied());
        cpus.filter(|cpu| self.cpus.contains(cpu)).collect()
    }

    /// The allowed nodes with memory of a kind, the nearest to `home` first. Of nodes with fast memory, clearly slower ones come
    /// last.
    pub fn of_kind(&self, kind: Kind, home: u32) -> Vec<u32> {
        let from = self.nodes.iter().position(|node| node.number == home);
        let distance =
            |node: &NumaNode| from.and_then(|from| node.distances.get(from)).copied().unwrap_or(10);
        let mut nodes: Vec<_> = self.having(kind).filter(|node| node.allowed).collect();
        let highest = nodes.iter().filter_map(|node| node.speed.bandwidth).max().unwrap_or(0);
        nodes.sort_by_key(|node| {
            let second = kind == Kind::FastMem && classify::second_to(highest, node);
            (second, node.number != home, distance(node), node.number)
        });
        nodes.into_iter().map(|node| node.number).collect()
    }

    /// The nodes that have memory of this kind and are forbidden to this process by a cpuset.
    pub fn forbidden(&self, kind: Kind) -> Vec<u32> {
        self.having(kind).filter(|node| !node.allowed).map(|node| node.number).collect()
    }

    /// The nodes whose memory is of this kind by a guess from its size.
    pub fn guessed(&self, kind: Kind) -> Vec<u32> {
        let guessed = |node: &&NumaNode| node.evidence == Some(Evidence::Guess);
        self.having(kind).filter(guessed).map(|node| node.number).collect()
    }

    /// All nodes with memory, in words, for error texts.
    pub fn inventory(&self) -> String {
        let with_memory = self.nodes.iter().filter(|node| node.kind.is_some());
        match with_memory.map(ToString::to_string).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "the kernel tells of no memory nodes".to_owned(),
            all => format!("there are {all}"),
        }
    }

    /// The report of the nodes that have this kind of memory by a guess.
    pub fn guess(&self, kind: Kind) -> String {
        let guessed = self.guessed(kind);
        format!(
            "{} {} taken for {kind} by a guess from size, since the bandwidth is not known (no HMAT)",
            numbers(&guessed),
            if guessed.len() == 1 { "is" } else { "are" }
        )
    }

    fn having(&self, kind: Kind) -> impl Iterator<Item = &NumaNode> {
        self.nodes.iter().filter(move |node| node.kind == Some(kind))
    }
}
