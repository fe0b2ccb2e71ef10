use shmem_grammar::Kind::{FastMem, LargeMem, NormalMem};

use crate::fixture::Tree;
use crate::proc_sys::Root;
use crate::topology::{Evidence, Speed, Topology};

struct Machine(Tree);

impl Machine {
    fn write(&self, path: &str, text: &str) {
        self.0.write(path, text);
    }

    fn link(&self, path: &str, target: &str) {
        let link = self.0.root().join(path);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(self.0.root().join(target), link).unwrap();
    }

    fn node(&self, number: u32, cpus: &str, kibibytes: u64, distances: &str) {
        let node = format!("sys/devices/system/node/node{number}");
        self.write(&format!("{node}/cpulist"), &format!("{cpus}\n"));
        self.write(&format!("{node}/distance"), &format!("{distances}\n"));
        let meminfo = format!("\nNode {number} MemTotal:  {kibibytes} kB\nNode {number} MemFree: 1 kB\n");
        self.write(&format!("{node}/meminfo"), &meminfo);
    }

    fn speed(&self, number: u32, access: u32, values: [u64; 4]) {
        let directory = format!("sys/devices/system/node/node{number}/access{access}/initiators");
        let files = ["read_bandwidth", "write_bandwidth", "read_latency", "write_latency"];
        for (file, value) in files.into_iter().zip(values) {
            self.write(&format!("{directory}/{file}"), &format!("{value}\n"));
        }
    }

    fn read(&self) -> Topology {
        Topology::read(&Root::at(self.0.root()))
    }
}

fn two_sockets() -> Machine {
    let machine = Machine(Tree::new());
    machine.write("sys/devices/system/node/online", "0-3\n");
    machine.node(0, "0-1", 1 << 20, "10 21 13 17");
    machine.node(1, "2-3", 1 << 20, "21 10 23 28");
    machine.node(2, "", 1 << 20, "13 23 10 28");
    machine.node(3, "", 1 << 20, "17 28 28 10");
    machine.write(
        "proc/self/status",
        "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-1\nMems_allowed:\tff\nMems_allowed_list:\t0-2\n",
    );
    machine
}

#[test]
fn all_that_the_kernel_tells() {
    let machine = two_sockets();
    machine.speed(0, 0, [100_000, 80_000, 80, 90]);
    machine.speed(1, 0, [100_000, 80_000, 80, 90]);
    machine.speed(2, 0, [400_000, 300_000, 110, 120]);
    machine.speed(3, 0, [24_000, 12_000, 250, 400]);
    let topology = machine.read();
    let nodes = topology.nodes();
    assert_eq!(nodes.iter().map(|n| n.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((nodes[0].memory, nodes[0].free), (1 << 30, 1024));
    assert_eq!((nodes[1].cpus.as_slice(), nodes[2].cpus.as_slice()), (&[2, 3][..], &[][..]));
    assert_eq!(nodes[3].distances, [17, 28, 28, 10]);
    assert_eq!(nodes[0].speed, Speed { bandwidth: Some(90_000), latency: Some(85) });
    assert_eq!(nodes.iter().map(|n| n.allowed).collect::<Vec<_>>(), [true, true, true, false]);
    assert_eq!(topology.homes(), [0]);
    assert_eq!(topology.of_kind(FastMem, 0), [2]);
    assert_eq!((topology.of_kind(LargeMem, 0), topology.forbidden(LargeMem)), (vec![], vec![3]));
}

#[test]
fn what_cpus_see_comes_before_what_devices_see() {
    let machine = two_sockets();
    machine.speed(2, 0, [900_000, 900_000, 20, 20]);
    machine.speed(2, 1, [400_000, 300_000, 110, 120]);
    let directory = "sys/devices/system/node/node0/access0/initiators";
    for (file, text) in
        [("read_bandwidth", "100\n"), ("write_bandwidth", "0\n"), ("read_latency", "nonsense\n")]
    {
        machine.write(&format!("{directory}/{file}"), text);
    }
    let speeds = machine.read().nodes().iter().map(|node| node.speed).collect::<Vec<_>>();
    assert_eq!(speeds[0], Speed { bandwidth: Some(100), latency: None }, "half a table is half known");
    assert_eq!((speeds[1], speeds[2].bandwidth), (Speed::default(), Some(350_000)));
}

#[test]
fn memory_that_a_driver_brought_in_is_named() {
    let machine = two_sockets();
    for (device, bus, node, driver) in [
        ("dax0.0", "sys/devices/LNXSYSTM:00/ndbus0/region0/dax0.0", 2, "kmem"),
        ("dax1.0", "sys/devices/platform/ACPI0017:00/cxl_region/dax1.0", 3, "device_dax"),
    ] {
        machine.write(&format!("{bus}/target_node"), &format!("{node}\n"));
        machine.write(&format!("sys/bus/dax/drivers/{driver}/bind"), "");
        machine.link(&format!("sys/bus/dax/devices/{device}"), bus);
        machine.link(&format!("{bus}/driver"), &format!("sys/bus/dax/drivers/{driver}"));
    }
    let topology = machine.read();
    assert_eq!(topology.nodes()[2].subtype, Some("NVM"));
    assert_eq!(
        topology.nodes()[2].kind.zip(topology.nodes()[2].evidence),
        Some((LargeMem, Evidence::Subtype))
    );
    assert_eq!(topology.nodes()[3].subtype, None, "a device that is no memory of the kernel's");
}

#[test]
fn a_machine_that_tells_nothing() {
    let machine = Machine(Tree::new());
    assert_eq!(machine.read().nodes(), []);
    machine.write("sys/devices/system/node/online", "0\n");
    machine.node(0, "0-1", 1 << 20, "10");
    let topology = machine.read();
    assert_eq!(topology.homes(), [0], "without /proc all CPUs count");
    assert_eq!(topology.of_kind(NormalMem, 0), [0]);
    assert!(topology.nodes()[0].allowed);
}
