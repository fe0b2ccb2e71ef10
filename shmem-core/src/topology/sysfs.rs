//! Properties of NUMA nodes from `/sys` and `/proc`.

use std::fs;

use super::node::{NumaNode, Speed};
use crate::cpu_list;
use crate::proc_sys::{Root, field};

/// Returns the nodes of the machine in `root`, without their kinds, and the CPUs that this process may use.
pub(super) fn read(root: &Root) -> (Vec<NumaNode>, Vec<usize>) {
    let status = root.text("proc/self/status").unwrap_or_default();
    let listed = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).and_then(cpu_list::parse);
    let numbers = root.list("sys/devices/system/node/online").unwrap_or_default();
    let (allowed, driven) = (listed("Mems_allowed_list:"), driven(root));
    let mut nodes: Vec<NumaNode> = numbers.iter().map(|&number| node(root, number)).collect();
    for node in &mut nodes {
        let number = node.number as usize;
        node.allowed = allowed.as_ref().is_none_or(|allowed| allowed.contains(&number));
        let driven = driven.iter().rfind(|(driven, _)| *driven == node.number);
        node.subtype = driven.map(|(_, subtype)| *subtype);
    }
    let all = || nodes.iter().flat_map(|node| node.cpus.iter().copied()).collect();
    let cpus: Vec<usize> = listed("Cpus_allowed_list:").unwrap_or_else(all);
    (nodes, cpus)
}

fn node(root: &Root, number: usize) -> NumaNode {
    let directory = format!("sys/devices/system/node/node{number}");
    let memory = root.text(&format!("{directory}/meminfo")).unwrap_or_default();
    let bytes = |key| field(&memory, key).and_then(|kibibytes| kibibytes.checked_mul(1024)).unwrap_or(0);
    let distances = root.text(&format!("{directory}/distance")).unwrap_or_default();
    NumaNode {
        memory: bytes("MemTotal:"),
        free: bytes("MemFree:"),
        cpus: root.list(&format!("{directory}/cpulist")).unwrap_or_default(),
        distances: distances.split_whitespace().flat_map(str::parse).collect(),
        speed: speed(root, &directory),
        ..NumaNode::new(number as u32)
    }
}

/// The speed at which the nearest CPUs access a node's memory, from directory `access1` (CPUs) or else `access0` (all initiators).
fn speed(root: &Root, node: &str) -> Speed {
    let through = |access: &str| {
        let mean = |what: &str| {
            let file = |how: &str| format!("{node}/{access}/initiators/{how}_{what}");
            // 0 means that the firmware does not tell the number.
            let of = |how: &str| root.number(&file(how)).filter(|&number| number > 0);
            match (of("read"), of("write")) {
                (Some(read), Some(write)) => Some(read.midpoint(write)),
                (one, other) => one.or(other),
            }
        };
        Speed { bandwidth: mean("bandwidth"), latency: mean("latency") }
    };
    let found = ["access1", "access0"].into_iter().map(through).find(|speed| *speed != Speed::default());
    found.unwrap_or_default()
}

/// Returns the nodes whose memory the driver `kmem` added, with the type of the memory device.
fn driven(root: &Root) -> Vec<(u32, &'static str)> {
    let directory = "sys/bus/dax/devices";
    let device = |name: &String| {
        let device = format!("{directory}/dax{name}");
        let place = |path: &str| fs::canonicalize(root.path().join(path)).ok();
        let node = root.number(&format!("{device}/target_node"))?.try_into().ok()?;
        let (driver, place) = (place(&format!("{device}/driver"))?, place(&device)?);
        let place = place.to_str()?;
        let subtype = [("/ndbus", "NVM"), ("/cxl", "CXL"), ("/hmem", "SPM")];
        let (_, subtype) = subtype.into_iter().find(|(part, _)| place.contains(part))?;
        driver.ends_with("kmem").then_some((node, subtype))
    };
    root.names(directory, "dax").iter().filter_map(device).collect()
}
