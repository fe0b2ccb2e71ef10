//! Nodes and findings, as messages write them.

use core::fmt;

use shmem_grammar::{Kind, round_size};

use super::node::{Evidence, NumaNode, Speed};
use crate::ranges;

/// `87.9 GiB/s 80 ns`, as far as it is known.
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

/// `node 2 FASTMEM 16G 390 GiB/s 110 ns HBM`.
impl fmt::Display for NumaNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(kind) = self.kind else { return write!(f, "node {} no memory", self.number) };
        write!(f, "node {} {kind} {}", self.number, round_size(self.memory))?;
        let speed = self.speed.to_string();
        for more in [Some(speed.as_str()), self.subtype.as_deref()].into_iter().flatten() {
            if !more.is_empty() {
                write!(f, " {more}")?;
            }
        }
        if !self.allowed {
            f.write_str(" (forbidden by a cpuset)")?;
        }
        Ok(())
    }
}

/// `node 2`, `nodes 2-3`.
pub(super) fn nodes(numbers: &[u32]) -> String {
    let numbers: Vec<usize> = numbers.iter().map(|&number| number as usize).collect();
    format!("node{} {}", if numbers.len() == 1 { "" } else { "s" }, ranges::show(&numbers))
}

/// How the kinds of nodes were found.
pub(super) fn basis(all: &[NumaNode]) -> String {
    let found = |evidence| {
        let nodes = all.iter().filter(move |node| node.evidence == Some(evidence));
        nodes.map(|node| node.number).collect::<Vec<u32>>()
    };
    let by = [
        (Evidence::Speed, "by bandwidth and latency"),
        (Evidence::Subtype, "by what the memory is called"),
        (Evidence::Tier, "by the kernel's memory tiers"),
        (Evidence::Guess, "guessed from size and distance"),
    ];
    let by = by.map(|(evidence, how)| (found(evidence), how));
    let mut parts: Vec<String> = by
        .iter()
        .filter(|(numbers, _)| !numbers.is_empty())
        .map(|(numbers, how)| format!("{} {how}", nodes(numbers)))
        .collect();
    let with_memory = all.iter().filter(|node| node.kind.is_some()).count();
    match with_memory {
        0 => return "the kernel tells of no memory nodes".into(),
        1 => return "there is one memory node".into(),
        _ if parts.is_empty() => {
            parts.push("all memory nodes have CPUs and none is far faster than another".into())
        }
        _ if !found(Evidence::Primary).is_empty() => {
            parts.insert(0, format!("{} by their CPUs", nodes(&found(Evidence::Primary))));
        }
        _ => {}
    }
    let unknown = all.iter().filter(|node| node.kind.is_some() && node.speed.bandwidth.is_none());
    let unknown: Vec<u32> = unknown.map(|node| node.number).collect();
    if !unknown.is_empty() {
        let whose =
            if unknown.len() == with_memory { String::new() } else { format!(" of {}", nodes(&unknown)) };
        parts.push(format!("the bandwidth{whose} is not known (no HMAT){}", hwloc()));
    }
    parts.join("; ")
}

/// What another build might know.
const fn hwloc() -> &'static str {
    if cfg!(feature = "numa") {
        ""
    } else {
        ", and hwloc, which may know more, is not in this build (feature `numa`)"
    }
}

/// What there is: all nodes with memory, and how their kinds were found.
pub(super) fn inventory(all: &[NumaNode], basis: &str) -> String {
    let with_memory: Vec<String> =
        all.iter().filter(|node| node.kind.is_some()).map(ToString::to_string).collect();
    if with_memory.is_empty() {
        return basis.into();
    }
    format!("there are {} (kinds: {basis})", with_memory.join(", "))
}

/// `node 2 is taken for FASTMEM by a guess`.
pub(super) fn guess(kind: Kind, guessed: &[u32]) -> String {
    let verb = if guessed.len() == 1 { "is" } else { "are" };
    format!(
        "{} {verb} taken for {kind} by a guess from size and distance, since the bandwidth is not known (no HMAT){}",
        nodes(guessed),
        hwloc()
    )
}
