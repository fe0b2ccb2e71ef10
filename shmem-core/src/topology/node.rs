//! What is known of one NUMA node.

use shmem_grammar::Kind;

/// A NUMA node: CPUs, memory, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaNode {
    /// Its number.
    pub number: u32,
    /// Which kind of memory it has; `None`: it has no memory, or nobody has looked yet
    /// ([`classify`](super::classify)).
    pub kind: Option<Kind>,
    /// What its kind was found by.
    pub evidence: Option<Evidence>,
    /// Bytes of memory; 0: CPUs only.
    pub memory: u64,
    /// Bytes of memory that are free.
    pub free: u64,
    /// The CPUs that it consists of; none: memory only.
    pub cpus: Vec<usize>,
    /// Distances to the nodes, in the order of [`Topology::nodes`](super::Topology::nodes); 10 is the node
    /// itself. Empty: not known.
    pub distances: Vec<u32>,
    /// The speed of its memory as seen from the nearest CPUs.
    pub speed: Speed,
    /// The nodes whose CPUs see this speed; empty: not known.
    pub initiators: Vec<u32>,
    /// The speed as seen from this process's CPUs. The firmware's tables often tell of the nearest CPUs only.
    pub here: Speed,
    /// What the kernel's drivers or hwloc call the memory: `HBM`, `NVM`.
    pub subtype: Option<String>,
    /// Which of the kernel's memory tiers it is in; lower numbers are faster.
    pub tier: Option<u32>,
    /// Whether this process may have memory of it: control groups can forbid it.
    pub allowed: bool,
}

impl NumaNode {
    /// A node of which only the number is known.
    pub fn new(number: u32) -> Self {
        Self {
            number,
            kind: None,
            evidence: None,
            memory: 0,
            free: 0,
            cpus: Vec::new(),
            distances: Vec::new(),
            speed: Speed::default(),
            initiators: Vec::new(),
            here: Speed::default(),
            subtype: None,
            tier: None,
            allowed: true,
        }
    }
}

/// How fast CPUs reach memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Bandwidth in MiB/s, the mean of reading and writing; `None`: not known.
    pub bandwidth: Option<u64>,
    /// Latency in nanoseconds, the mean of reading and writing; `None`: not known.
    pub latency: Option<u64>,
}

/// What a kind was found by, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// It is what the CPUs have by themselves.
    Primary,
    /// Its bandwidth and latency, compared with those of what the CPUs have by themselves.
    Speed,
    /// What it is called.
    Subtype,
    /// The kernel's memory tiers.
    Tier,
    /// Its size and distance: a guess.
    Guess,
}
