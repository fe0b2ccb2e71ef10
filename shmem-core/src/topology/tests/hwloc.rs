use hwlocality::Topology as Hwloc;
use shmem_grammar::Kind::{FastMem, LargeMem, NormalMem};

use super::{cxl, dram, hbm, speed, untold};
use crate::topology::hwloc::{ask, supplement};
use crate::topology::{Evidence, NumaNode, Topology};

/// Two sockets of two CPUs; memory next to each, and nodes 2 and 3 at the first one. `values` go by
/// node, first CPU of the socket, and number.
fn described(subtypes: [&str; 4], bandwidths: &[(u32, u32, u64)], latencies: &[(u32, u32, u64)]) -> Hwloc {
    let object = |number: usize, cpus: &str| {
        let subtype = subtypes[number];
        let subtype = if subtype.is_empty() { String::new() } else { format!("subtype=\"{subtype}\"") };
        format!(
            "<object type=\"NUMANode\" os_index=\"{number}\" cpuset=\"{cpus}\" complete_cpuset=\"{cpus}\" nodeset=\"{set:#x}\" complete_nodeset=\"{set:#x}\" gp_index=\"{}\" local_memory=\"1073741824\" {subtype}/>",
            20 + number,
            set = 1 << number
        )
    };
    let cpu = |number: usize, nodes: &str| {
        format!(
            "<object type=\"PU\" os_index=\"{number}\" cpuset=\"{set:#x}\" complete_cpuset=\"{set:#x}\" nodeset=\"{nodes}\" complete_nodeset=\"{nodes}\" gp_index=\"{}\"/>",
            10 + number,
            set = 1 << number
        )
    };
    let package = |number: usize, cpus: &str, nodes: &str, inside: String| {
        format!(
            "<object type=\"Package\" os_index=\"{number}\" cpuset=\"{cpus}\" complete_cpuset=\"{cpus}\" nodeset=\"{nodes}\" complete_nodeset=\"{nodes}\" gp_index=\"{}\">{inside}</object>",
            2 + number
        )
    };
    let first = object(0, "0x3") + &object(2, "0x3") + &object(3, "0x3") + &cpu(0, "0xd") + &cpu(1, "0xd");
    let second = object(1, "0xc") + &cpu(2, "0x2") + &cpu(3, "0x2");
    let attribute = |name: &str, flags: u32, values: &[(u32, u32, u64)]| {
        let values = values.iter().map(|(node, cpu, value)| {
            format!(
                "<memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"{}\" value=\"{value}\" initiator_cpuset=\"{:#x}\"/>",
                20 + node,
                3 << cpu
            )
        });
        format!("<memattr name=\"{name}\" flags=\"{flags}\">{}</memattr>", values.collect::<String>())
    };
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0xf\" complete_cpuset=\"0xf\" allowed_cpuset=\"0xf\" nodeset=\"0xf\" complete_nodeset=\"0xf\" allowed_nodeset=\"0xf\" gp_index=\"1\">{}{}</object>{}{}</topology>",
        package(0, "0x3", "0xd", first),
        package(1, "0xc", "0x2", second),
        attribute("Bandwidth", 5, bandwidths),
        attribute("Latency", 6, latencies),
    );
    Hwloc::builder().from_xml(&xml).expect("XML").build().expect("topology")
}

/// The nodes of that machine, as a kernel without an HMAT tells of them.
fn kernels() -> Vec<NumaNode> {
    untold(vec![dram(0), dram(1), hbm(2), cxl(3)])
}

#[test]
fn speeds_are_taken_from_the_nearest() {
    let hwloc = described(
        [""; 4],
        &[(0, 0, 100_000), (0, 2, 50_000), (1, 2, 100_000), (2, 0, 400_000), (2, 2, 90_000), (3, 0, 20_000)],
        &[(0, 0, 80), (0, 2, 140), (1, 2, 80), (2, 0, 110), (3, 0, 250)],
    );
    let mut nodes = kernels();
    supplement(&mut nodes, &hwloc);
    let found = [0, 2, 3].map(|number: usize| nodes[number].speed);
    assert_eq!(found, [speed(100_000, 80), speed(400_000, 110), speed(20_000, 250)]);
    let topology = Topology::of(nodes, vec![2], None);
    let kinds: Vec<_> = topology.nodes().iter().map(|node| node.kind.unwrap()).collect();
    assert_eq!(kinds, [NormalMem, NormalMem, FastMem, LargeMem]);
    assert!(topology.guessed(FastMem).is_empty());
}

#[test]
fn names_are_taken_where_there_are_no_speeds_and_what_hwloc_does_not_know_stays() {
    let mut nodes = kernels();
    nodes[2].memory = 1 << 40;
    nodes[3].memory = 1 << 30;
    supplement(&mut nodes, &described(["", "", "HBM", "NVM"], &[], &[]));
    let topology = Topology::of(nodes, vec![0], None);
    let found = |number: usize| topology.nodes()[number].kind.zip(topology.nodes()[number].evidence);
    assert_eq!(found(2), Some((FastMem, Evidence::Subtype)));
    assert_eq!(found(3), Some((LargeMem, Evidence::Subtype)));
    let told = vec![dram(0), NumaNode { subtype: Some("NVM".into()), ..cxl(3) }, hbm(9)];
    let mut nodes = told.clone();
    supplement(&mut nodes, &described([""; 4], &[], &[]));
    assert_eq!(nodes, told);
}

#[test]
fn this_machine_is_asked() {
    let read = Topology::read(&crate::root::Root::default());
    assert!(!read.basis().contains("in vain"), "{}", read.basis());
    assert_eq!(ask(&mut read.nodes().to_vec()), Ok(()));
}
