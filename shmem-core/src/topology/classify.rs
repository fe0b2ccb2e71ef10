//! Classification of NUMA nodes by their properties.
//!
//! The reference is *primary* memory: that of nodes with CPUs. It is NORMALMEM, of any technology. Memory of nodes without CPUs is
//! FASTMEM with clearly higher bandwidth, LARGEMEM with clearly lower bandwidth or clearly higher latency, and otherwise NORMALMEM.
//!
//! If nodes with CPUs differ, their lowest bandwidth and lowest latency are the reference. A node with CPUs and far higher
//! bandwidth is FASTMEM (a socket that has HBM and no DIMMs). "Far" is a larger factor than "clearly", because sockets may have
//! different numbers of DIMMs. Primary memory of clearly higher latency than other primary memory does not count for the lowest
//! bandwidth. If no node with CPUs has memory, the memory nearest to each of these nodes is primary. If speeds are unknown, the
//! type of the memory decides; without a type, its size ([`Evidence`]).

use shmem_grammar::Kind;

use super::node::{Evidence, NumaNode};

/// A ratio above which one number is clearly more than another.
#[derive(Clone, Copy)]
struct Factor(u64, u64);

/// Factor between other memory and primary memory, because HBM has 3 to 5 times the bandwidth of DRAM, and CXL twice the latency.
const APART: Factor = Factor(3, 2);

/// Factor among primary memory, because half the DIMMs give half the bandwidth, but are still DRAM.
const AMONG_CPUS: Factor = Factor(2, 1);

/// Factor between sizes of memory, if nothing else is known.
const SIZE: Factor = Factor(2, 1);

impl Factor {
    fn exceeds(self, more: u64, less: u64) -> bool {
        u128::from(more) * u128::from(self.1) > u128::from(less) * u128::from(self.0)
    }

    /// Returns `more` if `own` is clearly above the reference `measure`, `less` if it is clearly below.
    fn judge(self, own: u64, measure: u64, [more, less]: [Kind; 2]) -> Option<Kind> {
        let less = self.exceeds(measure, own).then_some(less);
        if self.exceeds(own, measure) { Some(more) } else { less }
    }
}

/// Sets `kind` and `evidence` of all nodes, including nodes forbidden to this process.
pub fn classify(nodes: &mut [NumaNode]) {
    let measure = Measure::new(nodes);
    let found: Vec<_> = (0..nodes.len()).map(|index| measure.judge(nodes, index)).collect();
    for (node, found) in nodes.iter_mut().zip(found) {
        node.kind = found.map(|(kind, _)| kind);
        node.evidence = found.map(|(_, evidence)| evidence);
    }
}

/// Whether the bandwidth of a node is clearly lower than `highest`, that of the fastest node.
pub(super) fn second_to(highest: u64, node: &NumaNode) -> bool {
    node.speed.bandwidth.is_some_and(|bandwidth| APART.exceeds(highest, bandwidth))
}

/// The reference with which the memory of nodes is compared.
struct Measure {
    /// The nodes with primary memory, by index.
    primary: Vec<usize>,
    /// The lowest bandwidth of primary memory, leaving out memory of clearly higher latency.
    bandwidth: Option<u64>,
    /// The lowest latency of primary memory.
    latency: Option<u64>,
}

impl Measure {
    fn new(nodes: &[NumaNode]) -> Self {
        let primary = primary(nodes);
        let of = |&index: &usize| &nodes[index].speed;
        let latency = primary.iter().filter_map(|index| of(index).latency).min();
        let slow = |of: u64| latency.is_some_and(|least| APART.exceeds(of, least));
        let usual = primary.iter().map(of).filter(|speed| !speed.latency.is_some_and(slow));
        let bandwidth = usual.filter_map(|speed| speed.bandwidth).min();
        Self { primary, bandwidth, latency }
    }

    fn judge(&self, nodes: &[NumaNode], index: usize) -> Option<(Kind, Evidence)> {
        let node = &nodes[index];
        if node.memory == 0 {
            return None;
        }
        if self.primary.contains(&index) {
            return Some(self.among_cpus(node));
        }
        let by_speed = || Some((self.by_speed(node)?, Evidence::Speed));
        let found = by_speed().or_else(|| Some((by_subtype(node)?, Evidence::Subtype)));
        Some(found.unwrap_or_else(|| (self.guess(nodes, index), Evidence::Guess)))
    }

    /// The kind of a node with primary memory: fast if its bandwidth is far above that of the reference.
    fn among_cpus(&self, node: &NumaNode) -> (Kind, Evidence) {
        match (node.speed.bandwidth, self.bandwidth) {
            (Some(own), Some(measure)) if AMONG_CPUS.exceeds(own, measure) => {
                (Kind::FastMem, Evidence::Speed)
            }
            _ => (Kind::NormalMem, Evidence::Primary),
        }
    }

    fn by_speed(&self, node: &NumaNode) -> Option<Kind> {
        let (own, measure) = (node.speed.bandwidth?, self.bandwidth?);
        let later =
            node.speed.latency.zip(self.latency).is_some_and(|(own, least)| APART.exceeds(own, least));
        let about_the_same = if later { Kind::LargeMem } else { Kind::NormalMem };
        Some(APART.judge(own, measure, [Kind::FastMem, Kind::LargeMem]).unwrap_or(about_the_same))
    }

    /// Guesses a node's kind from its size: FASTMEM if clearly smaller than the nearest primary memory, LARGEMEM if clearly larger.
    fn guess(&self, nodes: &[NumaNode], index: usize) -> Kind {
        let nearest = self.primary.iter().min_by_key(|&&one| (distance(nodes, index, one), one));
        let size = |&one: &usize| nodes[one].memory;
        let kind =
            nearest.and_then(|one| SIZE.judge(size(&index), size(one), [Kind::LargeMem, Kind::FastMem]));
        kind.unwrap_or(Kind::NormalMem)
    }
}

/// Indices of the nodes with primary memory: the nodes with CPUs and memory; if there are none, the nodes with memory nearest to
/// each node with CPUs; if no node has CPUs, all nodes with memory.
fn primary(nodes: &[NumaNode]) -> Vec<usize> {
    let memory = || (0..nodes.len()).filter(|&index| nodes[index].memory > 0);
    let mut primary: Vec<usize> = memory().filter(|&index| !nodes[index].cpus.is_empty()).collect();
    if primary.is_empty() {
        let cpus = (0..nodes.len()).filter(|&index| !nodes[index].cpus.is_empty());
        primary = cpus
            .flat_map(|cpus| {
                let least = memory().filter_map(|index| distance(nodes, index, cpus)).min();
                memory().filter(move |&index| distance(nodes, index, cpus) == least)
            })
            .collect();
        primary.sort_unstable();
        primary.dedup();
    }
    if primary.is_empty() {
        primary = memory().collect();
    }
    primary
}

fn distance(nodes: &[NumaNode], from: usize, to: usize) -> Option<u32> {
    nodes[from].distances.get(to).copied()
}

/// The kind of a node's memory by its type; `None`: the type does not tell the speed.
fn by_subtype(node: &NumaNode) -> Option<Kind> {
    matches!(node.subtype, Some("NVM" | "CXL")).then_some(Kind::LargeMem)
}
