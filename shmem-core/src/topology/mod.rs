//! NUMA nodes: what memory there is, of which kind, and how near it is to this PE's CPUs.
//!
//! Which kind of memory a node has follows from what it can do, never from its number: bandwidth and
//! latency as seen from the CPUs near it, where the machine tells of them; otherwise guesses, which are
//! told as such ([`Topology::basis`]).

mod sysfs;

use std::path::Path;

use crate::partition::Kind;

/// A NUMA node: CPUs, memory, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub number: u32,
    /// Which kind of memory it has; `None`: it has no memory.
    pub kind: Option<Kind>,
    /// Bytes of memory; 0: CPUs only.
    pub memory: u64,
    /// Bytes of memory that are free.
    pub free: u64,
    /// The CPUs that it consists of; none: memory only.
    pub cpus: Vec<usize>,
    /// Distances to the nodes, in the order of [`Topology::nodes`]; 10 is the node itself. Empty: not
    /// known.
    pub distances: Vec<u32>,
    /// Bandwidth in MiB/s as seen from the nearest CPUs; `None`: not known.
    pub bandwidth: Option<u64>,
    /// Latency in nanoseconds as seen from the nearest CPUs; `None`: not known.
    pub latency: Option<u64>,
    /// What the firmware or hwloc calls the memory: `HBM`, `NVM`.
    pub subtype: Option<String>,
    /// Whether this process may have memory of it: control groups can forbid it.
    pub allowed: bool,
}

/// The NUMA nodes of a machine, as seen by this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
    cpus: Vec<usize>,
    running: Option<u32>,
    basis: String,
}

impl Topology {
    /// Reads the machine whose `proc` and `sys` are in `root`.
    pub fn read(root: &Path) -> Self {
        sysfs::read(root)
    }

    /// The nodes in the order of their numbers; none if the kernel does not know of nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How the kinds were found, in words, for reports.
    pub fn basis(&self) -> &str {
        &self.basis
    }

    /// The nodes on whose CPUs this process may run, in the order of their numbers.
    pub fn homes(&self) -> Vec<u32> {
        let ours = |node: &&Node| node.cpus.iter().any(|cpu| self.cpus.contains(cpu));
        self.nodes.iter().filter(ours).map(|node| node.number).collect()
    }

    /// The node of this process: the only one on which it may run, or else the one on which it runs now.
    pub fn home(&self) -> Option<u32> {
        let homes = self.homes();
        self.running.filter(|running| homes.contains(running)).or(homes.first().copied())
    }

    /// The CPUs of a node on which this process may run.
    pub fn cpus_of(&self, node: u32) -> Vec<usize> {
        let node = self.nodes.iter().find(|one| one.number == node);
        let cpus = node.into_iter().flat_map(|node| node.cpus.iter().copied());
        cpus.filter(|cpu| self.cpus.contains(cpu)).collect()
    }

    /// The nodes with memory of a kind that this process may have, the nearest to `home` first.
    pub fn of_kind(&self, kind: Kind, home: u32) -> Vec<u32> {
        let from = self.nodes.iter().position(|node| node.number == home);
        let distance = |node: &&Node| from.and_then(|from| node.distances.get(from)).copied().unwrap_or(10);
        let mut nodes: Vec<_> =
            self.nodes.iter().filter(|node| node.kind == Some(kind) && node.allowed).collect();
        nodes.sort_by_key(|node| (node.number != home, distance(node), node.number));
        nodes.into_iter().map(|node| node.number).collect()
    }
}
