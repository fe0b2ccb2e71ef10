//! The properties of one NUMA node, and their text in reports.

use core::fmt;

use shmem_grammar::{Kind, round_size};

use crate::cpu_list;

/// A NUMA node: CPUs, memory, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaNode {
    /// The number of the node.
    pub number: u32,
    /// The kind of the memory; `None`: there is no memory, or it is not [classified](super::classify) yet.
    pub kind: Option<Kind>,
    /// The evidence for the memory's kind.
    pub evidence: Option<Evidence>,
    /// Bytes of the node's memory; 0: the node has CPUs only.
    pub memory: u64,
    /// Bytes of the node's memory that are free.
    pub free: u64,
    /// The node's CPUs; empty: the node has memory only.
    pub cpus: Vec<usize>,
    /// Distances to all nodes, in the order of [`Topology::nodes`](super::Topology::nodes); the node itself has 10. Empty: unknown.
    pub distances: Vec<u32>,
    /// The speed of the memory as seen from the nearest CPUs.
    pub speed: Speed,
    /// The type of the memory, as the kernel's drivers tell: `NVM`, `CXL` or `SPM`; `None`: not known.
    pub subtype: Option<&'static str>,
    /// Whether control groups allow this process to use the node's memory.
    pub allowed: bool,
}

impl NumaNode {
    /// A node with this number, without known properties.
    pub fn new(number: u32) -> Self {
        Self { number, allowed: true, ..Self::default() }
    }
}

/// Speed of the nearest CPUs' accesses to a node's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Bandwidth in MiB/s: the mean of reading and writing, or the one that is known; `None`: not known.
    pub bandwidth: Option<u64>,
    /// Latency in nanoseconds: the mean of reading and writing, or the one that is known; `None`: not known.
    pub latency: Option<u64>,
}

/// Evidence for the kind of a node's memory, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The memory is primary memory (of a node with CPUs).
    Primary,
    /// Bandwidth and latency of the memory, compared with those of primary memory.
    Speed,
    /// The type of the memory.
    Subtype,
    /// Only the size of the memory, from which its kind is guessed.
    Guess,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Primary => "CPUs",
            Self::Speed => "speed",
            Self::Subtype => "type",
            Self::Guess => "size",
        })
    }
}

/// Shows `87 GiB/s 80 ns`, without unknown parts.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bandwidth = self.bandwidth.map(|mebibytes| match mebibytes {
            0..10_240 => format!("{mebibytes} MiB/s"),
            more => format!("{} GiB/s", more / 1024),
        });
        let latency = self.latency.map(|latency| format!("{latency} ns"));
        f.pad(&[bandwidth, latency].into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

/// Shows `node 3 LARGEMEM 256G 23 GiB/s 250 ns CXL`.
impl fmt::Display for NumaNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(kind) = self.kind else { return write!(f, "node {} no memory", self.number) };
        write!(f, "node {} {kind} {}", self.number, round_size(self.memory))?;
        let forbidden = (!self.allowed).then_some("(forbidden by a cpuset)");
        let more = [Some(&*self.speed.to_string()), self.subtype, forbidden];
        let mut more = more.into_iter().flatten().filter(|more| !more.is_empty());
        more.try_for_each(|more| write!(f, " {more}"))
    }
}

/// Returns a text such as `node 2` or `nodes 2-3`.
pub(crate) fn numbers(nodes: &[u32]) -> String {
    let mut numbers: Vec<usize> = nodes.iter().map(|&number| number as usize).collect();
    numbers.sort_unstable();
    format!("node{} {}", if numbers.len() == 1 { "" } else { "s" }, cpu_list::show(&numbers))
}
