use proptest::prelude::*;
use shmem_grammar::Kind;
use shmem_grammar::Kind::{FastMem, LargeMem, NormalMem};

use super::{bare, cxl, dram, hbm, speed, untold};
use crate::topology::Evidence::{Guess, Primary, Speed as BySpeed, Subtype};
use crate::topology::{Evidence, NumaNode, Speed, classify};

/// The kinds of a machine, and what they were found by.
fn kinds(mut nodes: Vec<NumaNode>) -> Vec<Option<(Kind, Evidence)>> {
    classify(&mut nodes);
    nodes.iter().map(|node| node.kind.zip(node.evidence)).collect()
}

fn named(node: NumaNode, subtype: &'static str) -> NumaNode {
    NumaNode { subtype: Some(subtype), speed: Speed::default(), ..node }
}

fn with_cpus(node: NumaNode) -> NumaNode {
    let cpus = dram(node.number).cpus;
    NumaNode { cpus, ..node }
}

const NORMAL: Option<(Kind, Evidence)> = Some((NormalMem, Primary));

#[test]
fn what_is_known_decides_before_what_is_guessed() {
    const FAST: Option<(Kind, Evidence)> = Some((FastMem, BySpeed));
    const LARGE: Option<(Kind, Evidence)> = Some((LargeMem, BySpeed));
    let beside = |node: NumaNode| NumaNode { cpus: vec![], ..node };
    let of_speed = |bandwidth, latency| NumaNode { speed: Speed { bandwidth, latency }, ..cxl(1) };
    let at = |node: NumaNode, distances: [u32; 3]| NumaNode { distances: distances.into(), ..node };
    let called = |name| vec![untold(vec![dram(0)]).remove(0), named(cxl(1), name)];
    let cases = [
        ("speed", vec![dram(0), dram(1), hbm(2), cxl(3)], vec![NORMAL, NORMAL, FAST, LARGE]),
        ("whatever the numbers of the nodes are", vec![cxl(0), hbm(1), dram(2)], vec![LARGE, FAST, NORMAL]),
        (
            "speed before names",
            vec![dram(0), NumaNode { subtype: Some("NVM"), ..hbm(1) }],
            vec![NORMAL, FAST],
        ),
        ("all alike", vec![dram(0), dram(1), dram(2)], vec![NORMAL; 3]),
        ("one", vec![dram(0)], vec![NORMAL]),
        ("HBM and nothing else", vec![with_cpus(hbm(0)), with_cpus(hbm(1))], vec![NORMAL; 2]),
        ("alike, without CPUs", vec![dram(0), beside(dram(1))], vec![NORMAL, Some((NormalMem, BySpeed))]),
        (
            "sockets with other DIMMs",
            vec![dram(0), NumaNode { speed: speed(50_000, 80), ..dram(1) }],
            vec![NORMAL; 2],
        ),
        ("slower in both ways: no measure", vec![dram(0), with_cpus(cxl(1))], vec![NORMAL; 2]),
        ("other CPUs have slow memory", vec![dram(0), with_cpus(hbm(1))], vec![NORMAL, FAST]),
        (
            "beside HBM with CPUs",
            vec![with_cpus(hbm(0)), with_cpus(hbm(1)), cxl(2)],
            vec![NORMAL, NORMAL, LARGE],
        ),
        ("high latency alone", vec![dram(0), of_speed(Some(100_000), Some(240))], vec![NORMAL, LARGE]),
        (
            "latency unknown",
            vec![dram(0), of_speed(Some(100_000), None)],
            vec![NORMAL, Some((NormalMem, BySpeed))],
        ),
        ("no memory", vec![dram(0), bare(1), hbm(2)], vec![NORMAL, None, FAST]),
        ("no memory at all", vec![bare(0)], vec![None]),
        ("no nodes", vec![], vec![]),
        (
            "CPUs without memory take the nearest",
            vec![bare(0), at(hbm(1), [13, 10, 20]), at(cxl(2), [17, 20, 10])],
            vec![None, NORMAL, LARGE],
        ),
        ("no CPUs anywhere", vec![beside(dram(0)), beside(dram(0))], vec![NORMAL; 2]),
        ("a forbidden node", vec![dram(0), NumaNode { allowed: false, ..hbm(1) }], vec![NORMAL, FAST]),
        (
            "one without a speed",
            vec![dram(0), named(cxl(1), "NVM"), hbm(2)],
            vec![NORMAL, Some((LargeMem, Subtype)), FAST],
        ),
        ("NVM", called("NVM"), vec![NORMAL, Some((LargeMem, Subtype))]),
        ("CXL", called("CXL"), vec![NORMAL, Some((LargeMem, Subtype))]),
        ("for a purpose that is not told", called("SPM"), vec![NORMAL, Some((LargeMem, Guess))]),
    ];
    for (what, nodes, expected) in cases {
        assert_eq!(kinds(nodes), expected, "{what}");
    }
}

#[test]
fn guesses_are_by_size() {
    let nodes = untold(vec![dram(0), hbm(1), cxl(2), NumaNode { cpus: vec![], ..dram(3) }]);
    let found = kinds(nodes);
    assert_eq!(found[1..], [(FastMem, Guess), (LargeMem, Guess), (NormalMem, Guess)].map(Some));
}

fn any_node() -> impl Strategy<Value = NumaNode> {
    let speed = (proptest::option::of(0..500_000u64), proptest::option::of(0..1000u64));
    let speed = speed.prop_map(|(bandwidth, latency)| Speed { bandwidth, latency });
    let subtype = prop_oneof![Just(None), Just(Some("CXL")), Just(Some("NVM")), Just(Some("SPM"))];
    let distances = proptest::collection::vec(10..40u32, 0..6);
    (0..3u64, any::<bool>(), speed, subtype, distances, any::<bool>()).prop_map(
        |(memory, cpus, speed, subtype, distances, allowed)| NumaNode {
            memory: memory << 30,
            cpus: if cpus { vec![0] } else { vec![] },
            speed,
            subtype,
            distances,
            allowed,
            ..NumaNode::new(0)
        },
    )
}

proptest! {
    #[test]
    fn what_holds_on_every_machine(mut nodes in proptest::collection::vec(any_node(), 0..6)) {
        for (number, node) in nodes.iter_mut().enumerate() {
            node.number = number as u32;
        }
        let found = kinds(nodes.clone());
        for (node, found) in nodes.iter().zip(&found) {
            prop_assert_eq!(found.is_some(), node.memory > 0, "memory has a kind, and nothing else");
        }
        let of = |kind| nodes.iter().zip(&found).filter(move |(_, found)| found.is_some_and(|(k, _)| k == kind));
        prop_assert!(found.iter().all(Option::is_none) || of(NormalMem).next().is_some(), "there is normal memory");
        for (large, _) in of(LargeMem) {
            let lone = nodes.iter().all(|node| node.memory == 0 || node.cpus.is_empty());
            prop_assert!(large.cpus.is_empty() || lone, "memory of CPUs is not large");
        }
        for (fast, why) in of(FastMem) {
            let slowest = of(NormalMem).filter(|(_, why)| why.is_some_and(|(_, why)| why == Primary))
                .filter_map(|(node, _)| node.speed.bandwidth).min();
            if let (Some((_, BySpeed)), Some(own), Some(slowest)) = (why, fast.speed.bandwidth, slowest) {
                prop_assert!(own > slowest, "fast memory is faster than the slowest of CPUs");
            }
        }
    }

    #[test]
    fn numbers_of_nodes_do_not_matter(nodes in proptest::collection::vec(any_node(), 0..6)) {
        // Distances go by position: left out here.
        let nodes: Vec<NumaNode> = nodes.into_iter().map(|node| NumaNode { distances: vec![], ..node }).collect();
        let mut turned = nodes.clone();
        turned.reverse();
        let mut found = kinds(turned);
        found.reverse();
        prop_assert_eq!(found, kinds(nodes));
    }
}
