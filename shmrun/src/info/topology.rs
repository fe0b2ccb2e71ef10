//! The output section `topology`: CPUs and NUMA nodes.

use shmem_core::cpu_list;
use shmem_core::partition::{round_size, show_size};
use shmem_core::text_table::Columns;
use shmem_core::topology::{NumaNode, Speed, Topology};

use shmem_core::proc_sys::Root;

pub(crate) fn topology(root: &Root) -> String {
    let topology = Topology::read(root);
    let cpus = topology.cpus();
    let mut text = format!("CPUs that this process may use: {} ({})\n", cpus.len(), cpu_list::show(cpus));
    if topology.nodes().is_empty() {
        return text + "memory nodes: the kernel tells of none\n";
    }
    text += "memory nodes:\n";
    let heads = [
        "NODE",
        "KIND",
        "CPUS",
        "MEMORY",
        "FREE",
        "ALLOWED",
        "BANDWIDTH",
        "LATENCY",
        "TYPE",
        "KIND BY",
        "DISTANCES",
        "HUGE PAGES (FREE/TOTAL)",
    ];
    let mut columns = Columns::new(heads, &[0, 3, 4, 6, 7]).indented();
    for node in topology.nodes() {
        columns.push(row(root, node));
    }
    text + &columns.to_string()
}

fn row(root: &Root, node: &NumaNode) -> [String; 12] {
    let or_none = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let distances: Vec<String> = node.distances.iter().map(ToString::to_string).collect();
    let pools = format!("sys/devices/system/node/node{}/hugepages", node.number);
    let pool = |kibibytes: u64| {
        let pages = |file| root.number(&format!("{pools}/hugepages-{kibibytes}kB/{file}")).unwrap_or(0);
        format!("{} {}/{}", show_size(kibibytes << 10), pages("free_hugepages"), pages("nr_hugepages"))
    };
    let pools: Vec<String> = root.numbered(&pools, "hugepages-", "kB").into_iter().map(pool).collect();
    [
        node.number.to_string(),
        or_none(node.kind.map(|kind| kind.to_string()).unwrap_or_default()),
        or_none(cpu_list::show(&node.cpus)),
        round_size(node.memory),
        round_size(node.free),
        match (node.memory, node.allowed) {
            (0, _) => "-",
            (_, true) => "yes",
            (_, false) => "no",
        }
        .to_owned(),
        or_none(Speed { latency: None, ..node.speed }.to_string()),
        or_none(Speed { bandwidth: None, ..node.speed }.to_string()),
        or_none(node.subtype.unwrap_or_default().to_owned()),
        or_none(node.evidence.map(|evidence| evidence.to_string()).unwrap_or_default()),
        or_none(distances.join(" ")),
        pools.join(", "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The section on a machine of these files.
    fn shown(files: &[(&str, &str)]) -> String {
        let machine = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = machine.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        topology(&Root::at(machine.path()))
    }

    #[test]
    fn two_nodes_of_which_one_has_memory_alone_and_a_kernel_that_reports_no_nodes() {
        let node = "sys/devices/system/node";
        let files = [
            ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0,2\nMems_allowed_list:\t0\n"),
            ("online", "0,10\n"),
            ("node0/access0/initiators/read_bandwidth", "102400\n"),
            ("node0/access0/initiators/read_latency", "80\n"),
            ("node10/access0/initiators/read_bandwidth", "512000\n"),
            ("node0/cpulist", "0-3\n"),
            ("node0/meminfo", "Node 0 MemTotal:  2097152 kB\nNode 0 MemFree:   1048576 kB\n"),
            ("node0/distance", "10 24\n"),
            ("node0/hugepages/hugepages-2048kB/nr_hugepages", "8\n"),
            ("node0/hugepages/hugepages-2048kB/free_hugepages", "5\n"),
            ("node10/cpulist", "\n"),
            ("node10/meminfo", "Node 10 MemTotal:  524288 kB\nNode 10 MemFree: 0 kB\n"),
            ("node10/distance", "24 10\n"),
        ];
        let paths = files.map(|(path, _)| match path.starts_with("proc") {
            true => path.to_owned(),
            false => format!("{node}/{path}"),
        });
        let files: Vec<_> = paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), text)).collect();
        assert_eq!(
            shown(&files),
            "CPUs that this process may use: 2 (0,2)\nmemory nodes:
  NODE  KIND       CPUS  MEMORY  FREE  ALLOWED  BANDWIDTH  LATENCY  TYPE  KIND BY  DISTANCES  HUGE PAGES (FREE/TOTAL)
     0  NORMALMEM  0-3       2G    1G  yes      100 GiB/s    80 ns  -     CPUs     10 24      2M 5/8
    10  FASTMEM    -       512M     0  no       500 GiB/s        -  -     speed    24 10
"
        );
        assert_eq!(
            shown(&files[..1]),
            "CPUs that this process may use: 2 (0,2)\nmemory nodes: the kernel tells of none\n"
        );
    }
}
