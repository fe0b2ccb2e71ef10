//! The choice of NUMA nodes for the memory of a partition.
//!
//! There are three cases. Without a request, the PE's own node comes first, then normal memory of other nodes. With SYSDEFAULT as
//! kind or policy, no placement call is made, so numactl and the process's policy apply. With a requested kind, the nodes are
//! those of the kind. If the kind is missing, the job ends under MANDATORY; otherwise normal memory is used, and this is reported.
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017). Decided here: POLICY without KIND concerns the page size only, but
//! INTERLEAVED spreads pages over the nodes with normal memory. INTERLEAVED without nodes of the kind acts as PREFERRED.

use core::fmt;

use shmem_grammar::Kind;

use super::error::MemoryError;
use crate::partition::PartitionSpec;
use crate::topology::Topology;

/// The NUMA nodes for a partition's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The granted kind of memory; `None`: no kind is requested, or none is granted.
    pub kind: Option<Kind>,
    /// The nodes for pages, the nearest to this PE first. Empty with [`Spread::System`].
    pub nodes: Vec<u32>,
    /// The distribution of pages over these nodes.
    pub spread: Spread,
    /// The wish that is not granted, or granted on a guess, in words: an entry of [`Grant::downgrades`](crate::partition::Grant).
    pub downgrade: Option<String>,
}

/// The distribution of pages over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// The system decides: no placement call is made.
    System,
    /// Pages on the first node while it has memory, then on the others (from Linux 5.15 on), then on any node.
    Preferred,
    /// Pages on these nodes only, on the first one before the others.
    Bound,
    /// Pages alternating over these nodes.
    Interleaved,
}

impl Placement {
    /// The placement that leaves the choice of nodes to the system.
    pub fn system() -> Self {
        Self { kind: None, nodes: Vec::new(), spread: Spread::System, downgrade: None }
    }
}

/// Shows `node 0, then any`, `only nodes 2,3`, `over nodes 2,3` or `as the system likes`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let nodes = format!("node{} {all}", if self.nodes.len() == 1 { "" } else { "s" });
        f.pad(&match (self.spread, self.nodes.first()) {
            (Spread::System, _) | (_, None) => "as the system likes".to_owned(),
            (Spread::Preferred, Some(first)) => format!("node {first}, then any"),
            (Spread::Bound, _) => format!("only {nodes}"),
            (Spread::Interleaved, _) => format!("over {nodes}"),
        })
    }
}

/// The spread for an available kind under each policy, in the order: none, mandatory, preferred, interleaved, the system's.
const fn spreads(kind: Option<Kind>) -> [Spread; 5] {
    use Spread::{Bound, Interleaved, Preferred, System};
    match kind {
        None => [Preferred, Preferred, Preferred, Interleaved, System],
        // Memory in files is on no NUMA node.
        Some(Kind::SysDefault | Kind::Pmem) => [System, System, System, System, System],
        Some(Kind::NormalMem | Kind::FastMem | Kind::LargeMem) => {
            [Preferred, Bound, Preferred, Interleaved, System]
        }
    }
}

/// Chooses the nodes of a partition's memory.
/// Fails if a mandatory kind is missing on this machine, or forbidden to this process.
pub fn placement(spec: &PartitionSpec, topology: &Topology) -> Result<Placement, MemoryError> {
    let kind = spec.traits.kind;
    if spec.is_in_file() {
        return Ok(Placement { kind, ..Placement::system() });
    }
    let spread = spreads(kind)[spec.traits.policy.map_or(0, |policy| policy as usize)];
    let asked = kind.unwrap_or(Kind::NormalMem);
    if spread == Spread::System {
        return Ok(left_to_the_system(kind));
    }
    // The node of this PE. If it is unknown, all nodes count as equally near.
    let home = topology.home().unwrap_or(u32::MAX);
    let nodes = topology.of_kind(asked, home);
    if nodes.is_empty() && kind.is_some() && !is_all_there_is(asked, topology) {
        return missing(spec, asked, spread, topology, home);
    }
    let mut placement = match kind {
        None if spread == Spread::Preferred => among(own_first(nodes, topology), spread, topology),
        _ => among(nodes, spread, topology),
    };
    placement.kind = kind;
    let guessed = topology.guessed(asked);
    if kind.is_some_and(Kind::is_special) && placement.nodes.iter().any(|node| guessed.contains(node)) {
        placement.downgrade = Some(format!("KIND={asked}: {}", topology.guess(asked)));
    }
    Ok(placement)
}

fn left_to_the_system(kind: Option<Kind>) -> Placement {
    let ignored = kind.filter(|kind| kind.is_special()).map(|kind| {
        format!("KIND={kind}: POLICY=SYSDEFAULT leaves the placement to the system, no {kind} is looked for")
    });
    let kind = kind.filter(|&kind| kind == Kind::SysDefault);
    Placement { kind, downgrade: ignored, ..Placement::system() }
}

/// Whether all memory counts as `kind`, because the kind is normal memory and the kernel reports no nodes.
fn is_all_there_is(kind: Kind, topology: &Topology) -> bool {
    kind == Kind::NormalMem && topology.nodes().iter().all(|node| node.memory == 0)
}

/// Puts this PE's node in front, even if its memory is fast memory, because no kind is requested.
fn own_first(mut nodes: Vec<u32>, topology: &Topology) -> Vec<u32> {
    let home = topology.nodes().iter().find(|node| Some(node.number) == topology.home());
    if let Some(home) = home.filter(|home| home.memory > 0 && home.allowed) {
        nodes.retain(|&node| node != home.number);
        nodes.insert(0, home.number);
    }
    nodes
}

/// A placement on nodes. If one node has all memory, the system decides, because containers may forbid calls that place memory.
fn among(nodes: Vec<u32>, spread: Spread, topology: &Topology) -> Placement {
    let choice = topology.nodes().iter().filter(|node| node.memory > 0).count() > 1;
    if nodes.is_empty() || !choice {
        return Placement::system();
    }
    Placement { nodes, spread, ..Placement::system() }
}

/// The placement for a kind that is missing, or forbidden to this process.
fn missing(
    spec: &PartitionSpec,
    kind: Kind,
    spread: Spread,
    topology: &Topology,
    home: u32,
) -> Result<Placement, MemoryError> {
    let forbidden = topology.forbidden(kind);
    let (why, remedy) = if forbidden.is_empty() {
        let what = format!("this machine has none: {}", topology.inventory());
        (what, "use POLICY=PREFERRED to run in normal memory, or a kind that is there")
    } else {
        (
            format!("a cpuset forbids this process the memory that is {kind}: {}", topology.inventory()),
            "have the launcher or batch system allow these nodes (cpuset.mems), or use POLICY=PREFERRED",
        )
    };
    if spread == Spread::Bound {
        return Err(MemoryError::new(format!(
            "{} must have KIND={kind} under POLICY=MANDATORY (from {}), and {why}; {remedy}",
            spec.title(),
            spec.origin
        )));
    }
    let nodes = topology.of_kind(Kind::NormalMem, home);
    let normal = !nodes.is_empty() || is_all_there_is(Kind::NormalMem, topology);
    let instead = if normal { "normal memory is used" } else { "the system decides" };
    let placement = among(nodes, Spread::Preferred, topology);
    Ok(Placement {
        kind: normal.then_some(Kind::NormalMem),
        downgrade: Some(format!("KIND={kind}: {why}; {instead}")),
        ..placement
    })
}
