//! What the kernel says in `/sys` and `/proc`.

use std::fs;
use std::path::Path;

use super::node::{NumaNode, Speed};
use crate::ranges;

/// The nodes of the machine in `root`, without their kinds, and the CPUs that this process may use.
pub(super) fn read(root: &Path) -> (Vec<NumaNode>, Vec<usize>) {
    let files = Files(root);
    let status = files.text("proc/self/status");
    let listed = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(ranges::parse)
    };
    let numbers = files.list("sys/devices/system/node/online");
    let mut nodes: Vec<NumaNode> = numbers.iter().map(|&number| node(&files, number)).collect();
    let cpus = listed("Cpus_allowed_list:")
        .unwrap_or_else(|| nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect());
    if let Some(allowed) = listed("Mems_allowed_list:") {
        nodes.iter_mut().for_each(|node| node.allowed = allowed.contains(&(node.number as usize)));
    }
    for (tier, members) in tiers(&files) {
        let members = nodes.iter_mut().filter(|node| members.contains(&(node.number as usize)));
        members.for_each(|node| node.tier = Some(tier));
    }
    for (number, subtype) in driven(&files) {
        let node = nodes.iter_mut().find(|node| node.number == number);
        node.into_iter().for_each(|node| node.subtype = Some(subtype.into()));
    }
    let homes: Vec<u32> = nodes
        .iter()
        .filter(|node| node.cpus.iter().any(|cpu| cpus.contains(cpu)))
        .map(|node| node.number)
        .collect();
    for node in &mut nodes {
        if !homes.is_empty() && homes.iter().all(|home| node.initiators.contains(home)) {
            node.here = node.speed;
        }
    }
    (nodes, cpus)
}

struct Files<'a>(&'a Path);

impl Files<'_> {
    /// The text of a file. What cannot be read is not there: kernels and containers leave out what they
    /// do not have.
    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap_or_default()
    }

    fn list(&self, path: &str) -> Vec<usize> {
        ranges::parse(&self.text(path)).unwrap_or_default()
    }

    /// The number in a file of one number; 0 stands for what firmware leaves out.
    fn number(&self, path: &str) -> Option<u64> {
        self.text(path).trim().parse().ok().filter(|&number| number > 0)
    }

    /// The names in a directory that begin with `prefix`, without it, in order.
    fn names(&self, directory: &str, prefix: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(directory)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_prefix(prefix)?.to_owned()))
            .collect();
        names.sort_unstable();
        names
    }
}

fn node(files: &Files<'_>, number: usize) -> NumaNode {
    let directory = format!("sys/devices/system/node/node{number}");
    let meminfo = files.text(&format!("{directory}/meminfo"));
    let bytes = |key: &str| {
        let line = meminfo.lines().find(|line| line.split_whitespace().any(|word| word == key))?;
        line.split_whitespace().nth(3)?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let distances = files.text(&format!("{directory}/distance"));
    let (speed, initiators) = speed(files, &directory);
    NumaNode {
        memory: bytes("MemTotal:").unwrap_or(0),
        free: bytes("MemFree:").unwrap_or(0),
        cpus: files.list(&format!("{directory}/cpulist")),
        distances: distances.split_whitespace().flat_map(str::parse).collect(),
        speed,
        initiators,
        ..NumaNode::new(number as u32)
    }
}

/// How the nearest CPUs see a node. `access1` is about CPUs, `access0` about anything that uses memory,
/// which is the same where nothing else does.
fn speed(files: &Files<'_>, node: &str) -> (Speed, Vec<u32>) {
    for access in ["access1", "access0"] {
        let directory = format!("{node}/{access}/initiators");
        let mean = |what: &str| {
            let of = |how: &str| files.number(&format!("{directory}/{how}_{what}"));
            match (of("read"), of("write")) {
                (Some(read), Some(write)) => Some(read.midpoint(write)),
                (one, other) => one.or(other),
            }
        };
        let speed = Speed { bandwidth: mean("bandwidth"), latency: mean("latency") };
        if speed != Speed::default() {
            let initiators = files.names(&directory, "node").iter().flat_map(|name| name.parse()).collect();
            return (speed, initiators);
        }
    }
    (Speed::default(), Vec::new())
}

/// The kernel's memory tiers with the nodes in them.
fn tiers(files: &Files<'_>) -> Vec<(u32, Vec<usize>)> {
    let directory = "sys/devices/virtual/memory_tiering";
    let tier = |name: &String| {
        let members = files.list(&format!("{directory}/memory_tier{name}/nodelist"));
        Some((name.parse().ok()?, members))
    };
    files.names(directory, "memory_tier").iter().filter_map(tier).collect()
}

/// Nodes whose memory a driver brought in (`kmem`), and what its device is.
fn driven(files: &Files<'_>) -> Vec<(u32, &'static str)> {
    let directory = "sys/bus/dax/devices";
    let device = |name: &String| {
        let device = format!("{directory}/dax{name}");
        let driver = fs::canonicalize(files.0.join(&device).join("driver")).ok()?;
        let node = files.text(&format!("{device}/target_node")).trim().parse().ok()?;
        let place = fs::canonicalize(files.0.join(&device)).ok()?;
        let place = place.to_str()?;
        let subtype = [("/ndbus", "NVM"), ("/cxl", "CXL"), ("/hmem", "SPM")];
        let (_, subtype) = subtype.into_iter().find(|(part, _)| place.contains(part))?;
        driver.ends_with("kmem").then_some((node, subtype))
    };
    files.names(directory, "dax").iter().filter_map(device).collect()
}
