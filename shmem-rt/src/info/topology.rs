//! CPUs and memory nodes.

use std::collections::BTreeSet;

use shmem_core::columns::Columns;
use shmem_core::partition::{round_size, show_size};
use shmem_core::ranges;

use super::Root;
use super::pages::Pool;

/// A memory node (NUMA node): CPUs, memory, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub number: usize,
    /// CPUs that are near to it; none for memory alone.
    pub cpus: Vec<usize>,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes that are free.
    pub free: u64,
    /// Distances to all nodes, in the order of their numbers; 10 is the node itself.
    pub distances: Vec<u64>,
    /// Its huge pages.
    pub pools: Vec<Pool>,
}

/// CPUs and memory nodes of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// CPUs that run.
    pub online: Vec<usize>,
    /// CPUs that this process may use; `None`: not known.
    pub allowed: Option<Vec<usize>>,
    /// Number of processor packages.
    pub packages: usize,
    /// Number of cores.
    pub cores: usize,
    /// The memory nodes; none if the kernel does not know of nodes.
    pub nodes: Vec<Node>,
}

impl Topology {
    /// Reads a machine.
    pub fn read(root: &Root) -> Self {
        let cpus = "sys/devices/system/cpu";
        let online = root
            .list(&format!("{cpus}/online"))
            .unwrap_or_else(|| root.numbered(cpus, "cpu", "").into_iter().map(|n| n as usize).collect());
        let place = |cpu: usize, file: &str| root.text(&format!("{cpus}/cpu{cpu}/topology/{file}"));
        let package = |cpu| place(cpu, "physical_package_id");
        let packages: BTreeSet<_> = online.iter().map(|&cpu| package(cpu)).collect();
        // A machine that does not tell its cores has one for each CPU.
        let cores: BTreeSet<_> = online
            .iter()
            .map(|&cpu| (package(cpu), place(cpu, "core_id").unwrap_or_else(|| format!("cpu{cpu}"))))
            .collect();
        let allowed = root.text("proc/self/status").and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            ranges::parse(line)
        });
        Self { packages: packages.len(), cores: cores.len(), nodes: nodes(root), online, allowed }
    }
}

fn nodes(root: &Root) -> Vec<Node> {
    let directory = "sys/devices/system/node";
    let numbers = root.numbered(directory, "node", "");
    numbers
        .into_iter()
        .map(|number| {
            let node = format!("{directory}/node{number}");
            let meminfo = root.text(&format!("{node}/meminfo")).unwrap_or_default();
            let bytes = |key: &str| meminfo_bytes(&meminfo, key).unwrap_or(0);
            let distances = root.text(&format!("{node}/distance")).unwrap_or_default();
            Node {
                number: number as usize,
                cpus: root.list(&format!("{node}/cpulist")).unwrap_or_default(),
                memory: bytes("MemTotal:"),
                free: bytes("MemFree:"),
                distances: distances.split_whitespace().filter_map(|d| d.parse().ok()).collect(),
                pools: Pool::read(root, &format!("{node}/hugepages")),
            }
        })
        .collect()
}

/// The value of a line `Node 0 MemTotal:  123 kB`.
fn meminfo_bytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_whitespace().any(|word| word == key))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != key).skip(1);
    words.next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The section `topology`.
pub fn topology(root: &Root) -> String {
    let t = Topology::read(root);
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut text = format!(
        "CPUs: {} ({}) on {} in {}\n",
        t.online.len(),
        ranges::show(&t.online),
        count(t.cores, "core"),
        count(t.packages, "package")
    );
    if let Some(allowed) = t.allowed.filter(|allowed| *allowed != t.online) {
        text += &format!("  this process may use {} of them ({})\n", allowed.len(), ranges::show(&allowed));
    }
    if t.nodes.is_empty() {
        return text + "memory nodes: the kernel tells of none\n";
    }
    text += "memory nodes:\n";
    let mut columns =
        Columns::new(["NODE", "CPUS", "MEMORY", "FREE", "DISTANCES", "HUGE PAGES (FREE/TOTAL)"], &[0, 2, 3])
            .indented();
    for node in &t.nodes {
        let distances: Vec<String> = node.distances.iter().map(ToString::to_string).collect();
        let pools: Vec<String> = node
            .pools
            .iter()
            .map(|pool| format!("{} {}/{}", show_size(pool.size), pool.free, pool.total))
            .collect();
        columns.push([
            node.number.to_string(),
            if node.cpus.is_empty() { "-".to_owned() } else { ranges::show(&node.cpus) },
            round_size(node.memory),
            round_size(node.free),
            distances.join(" "),
            pools.join(", "),
        ]);
    }
    text + &columns.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::root::tests::Machine;
    use super::*;

    #[test]
    fn a_machine_with_two_nodes_one_of_them_memory_alone() {
        let node = "sys/devices/system/node";
        let cpu = "sys/devices/system/cpu";
        let mut files = vec![
            (format!("{cpu}/online"), "0-3"),
            ("proc/self/status".to_owned(), "Name:\tx\nCpus_allowed_list:\t0,2\n"),
            (format!("{node}/node0/cpulist"), "0-3\n"),
            (format!("{node}/node0/meminfo"), "Node 0 MemTotal:  2097152 kB\nNode 0 MemFree:   1048576 kB\n"),
            (format!("{node}/node0/distance"), "10 24\n"),
            (format!("{node}/node0/hugepages/hugepages-2048kB/nr_hugepages"), "8\n"),
            (format!("{node}/node0/hugepages/hugepages-2048kB/free_hugepages"), "5\n"),
            (format!("{node}/node10/cpulist"), "\n"),
            (format!("{node}/node10/meminfo"), "Node 10 MemTotal:  524288 kB\nNode 10 MemFree: 0 kB\n"),
            (format!("{node}/node10/distance"), "24 10\n"),
        ];
        for i in 0..4 {
            files.push((format!("{cpu}/cpu{i}/topology/physical_package_id"), "0"));
            files.push((format!("{cpu}/cpu{i}/topology/core_id"), ["0", "1"][i / 2]));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(
            topology(&Machine::new(&files).root()),
            "CPUs: 4 (0-3) on 2 cores in 1 package\n  this process may use 2 of them (0,2)\nmemory nodes:\n  NODE  CPUS  MEMORY  FREE  DISTANCES  HUGE PAGES (FREE/TOTAL)\n     0  0-3       2G    1G  10 24      2M 5/8\n    10  -       512M     0  24 10\n"
        );
    }

    #[test]
    fn a_machine_that_tells_little() {
        let machine =
            Machine::new(&[("sys/devices/system/cpu/cpu0/x", ""), ("sys/devices/system/cpu/cpu1/x", "")]);
        assert_eq!(
            topology(&machine.root()),
            "CPUs: 2 (0-1) on 2 cores in 1 package\nmemory nodes: the kernel tells of none\n"
        );
    }
}
