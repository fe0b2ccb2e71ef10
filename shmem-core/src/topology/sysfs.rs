//! What the kernel says in `/sys` and `/proc`.

use std::fs;
use std::path::Path;

use super::{Node, Topology};
use crate::partition::Kind;
use crate::ranges;

/// Reads the machine in `root`.
pub(super) fn read(root: &Path) -> Topology {
    let text = |path: String| fs::read_to_string(root.join(path)).unwrap_or_default();
    let status = text("proc/self/status".into());
    let listed = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(ranges::parse)
    };
    let directory = "sys/devices/system/node";
    let numbers = ranges::parse(&text(format!("{directory}/online"))).unwrap_or_default();
    let allowed = listed("Mems_allowed_list:");
    let nodes = numbers.iter().map(|&number| {
        let node = format!("{directory}/node{number}");
        let meminfo = text(format!("{node}/meminfo"));
        let bytes = |key: &str| {
            let line = meminfo.lines().find(|line| line.contains(key))?;
            line.split_whitespace().nth(3)?.parse::<u64>().ok()?.checked_mul(1024)
        };
        let memory = bytes("MemTotal:").unwrap_or(0);
        Node {
            number: number as u32,
            kind: (memory > 0).then_some(Kind::NormalMem),
            memory,
            free: bytes("MemFree:").unwrap_or(0),
            cpus: ranges::parse(&text(format!("{node}/cpulist"))).unwrap_or_default(),
            distances: text(format!("{node}/distance")).split_whitespace().flat_map(str::parse).collect(),
            bandwidth: None,
            latency: None,
            subtype: None,
            allowed: allowed.as_ref().is_none_or(|allowed| allowed.contains(&number)),
        }
    });
    let cpus = listed("Cpus_allowed_list:").unwrap_or_default();
    Topology { nodes: nodes.collect(), cpus, running: None, basis: "not looked at".into() }
}
