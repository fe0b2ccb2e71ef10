use proptest::prelude::*;
use shmem_grammar::Kind;
use shmem_grammar::Kind::{FastMem, LargeMem, NormalMem};

use super::{bare, cxl, dram, hbm, speed, untold};
use crate::topology::Evidence::{Guess, Primary, Speed as BySpeed, Subtype, Tier};
use crate::topology::{Evidence, NumaNode, Speed, classify};

/// The kinds of a machine, and what they were found by.
fn kinds(mut nodes: Vec<NumaNode>) -> Vec<Option<(Kind, Evidence)>> {
    classify(&mut nodes);
    nodes.iter().map(|node| node.kind.zip(node.evidence)).collect()
}

fn named(node: NumaNode, subtype: &str) -> NumaNode {
    NumaNode { subtype: Some(subtype.into()), speed: Speed::default(), ..node }
}

fn with_cpus(node: NumaNode) -> NumaNode {
    let cpus = dram(node.number).cpus;
    NumaNode { cpus, ..node }
}

const NORMAL: Option<(Kind, Evidence)> = Some((NormalMem, Primary));

#[test]
fn speed_decides_where_it_is_known() {
    let found = kinds(vec![dram(0), dram(1), hbm(2), cxl(3)]);
    assert_eq!(found, [NORMAL, NORMAL, Some((FastMem, BySpeed)), Some((LargeMem, BySpeed))]);
    // Whatever the numbers of the nodes are.
    let found = kinds(vec![cxl(0), hbm(1), dram(2)]);
    assert_eq!(found, [Some((LargeMem, BySpeed)), Some((FastMem, BySpeed)), NORMAL]);
}

#[test]
fn speed_outweighs_names_and_tiers() {
    let slow = NumaNode { subtype: Some("HBM".into()), tier: Some(1), ..cxl(1) };
    let primary = NumaNode { tier: Some(4), ..dram(0) };
    assert_eq!(kinds(vec![primary, slow])[1], Some((LargeMem, BySpeed)));
}

#[test]
fn where_all_are_alike_none_is_fast() {
    assert_eq!(kinds(vec![dram(0), dram(1), dram(2)]), [NORMAL; 3]);
    assert_eq!(kinds(vec![dram(0)]), [NORMAL]);
    assert_eq!(kinds(vec![with_cpus(hbm(0)), with_cpus(hbm(1))]), [NORMAL; 2], "HBM and nothing else");
    let named = |number| named(with_cpus(hbm(number)), "HBM");
    assert_eq!(kinds(vec![named(0), named(1)]), [NORMAL; 2], "HBM and nothing else, by name");
    let beside = NumaNode { cpus: vec![], ..dram(1) };
    assert_eq!(kinds(vec![dram(0), beside]), [NORMAL, Some((NormalMem, BySpeed))]);
}

#[test]
fn sockets_with_other_dimms_are_normal() {
    let half = NumaNode { speed: speed(50_000, 80), ..dram(1) };
    assert_eq!(kinds(vec![dram(0), half]), [NORMAL; 2]);
    let slow = with_cpus(cxl(1));
    assert_eq!(kinds(vec![dram(0), slow]), [NORMAL; 2], "slower in both ways: no measure");
}

#[test]
fn memory_with_cpus_is_fast_where_other_cpus_have_slow_one() {
    assert_eq!(kinds(vec![dram(0), with_cpus(hbm(1))]), [NORMAL, Some((FastMem, BySpeed))]);
    let hbm = named(with_cpus(hbm(1)), "HBM");
    assert_eq!(kinds(untold(vec![dram(0), hbm])), [NORMAL, Some((FastMem, Subtype))]);
}

#[test]
fn memory_beside_hbm_with_cpus_is_large() {
    let found = kinds(vec![with_cpus(hbm(0)), with_cpus(hbm(1)), cxl(2)]);
    assert_eq!(found, [NORMAL, NORMAL, Some((LargeMem, BySpeed))]);
}

#[test]
fn high_latency_alone_makes_memory_large() {
    let pooled = NumaNode { speed: speed(100_000, 240), ..cxl(1) };
    assert_eq!(kinds(vec![dram(0), pooled])[1], Some((LargeMem, BySpeed)));
    let unknown = NumaNode { speed: Speed { bandwidth: Some(100_000), latency: None }, ..cxl(1) };
    assert_eq!(kinds(vec![dram(0), unknown])[1], Some((NormalMem, BySpeed)));
}

#[test]
fn nodes_without_memory_have_no_kind() {
    assert_eq!(kinds(vec![dram(0), bare(1), hbm(2)]), [NORMAL, None, Some((FastMem, BySpeed))]);
    assert_eq!(kinds(vec![bare(0)]), [None]);
    assert_eq!(kinds(vec![]), []);
}

#[test]
fn cpus_without_memory_take_the_nearest_for_normal() {
    let mut nodes = vec![bare(0), hbm(1), cxl(2)];
    nodes[1].distances = vec![13, 10, 20];
    nodes[2].distances = vec![17, 20, 10];
    assert_eq!(kinds(nodes), [None, NORMAL, Some((LargeMem, BySpeed))]);
    let lone = NumaNode { cpus: vec![], ..dram(0) };
    assert_eq!(kinds(vec![lone.clone(), lone]), [NORMAL; 2], "no CPUs anywhere");
}

#[test]
fn names_decide_where_speed_is_not_known() {
    let named = |name| kinds(vec![untold(vec![dram(0)]).remove(0), named(cxl(1), name)])[1];
    for name in ["HBM", "MCDRAM"] {
        assert_eq!(named(name), Some((FastMem, Subtype)), "{name}");
    }
    for name in ["NVM", "CXL", "CXL-DRAM", "CXL-NVM"] {
        assert_eq!(named(name), Some((LargeMem, Subtype)), "{name}");
    }
    assert_eq!(named("DRAM"), Some((NormalMem, Subtype)));
    // Memory for a purpose that is not told.
    assert_eq!(named("SPM"), Some((LargeMem, Guess)));
}

#[test]
fn tiers_decide_where_names_do_not() {
    let tier = |node: NumaNode, tier| NumaNode { tier: Some(tier), ..node };
    let nodes = untold(vec![tier(dram(0), 4), tier(cxl(1), 2), tier(hbm(2), 22)]);
    assert_eq!(kinds(nodes), [NORMAL, Some((FastMem, Tier)), Some((LargeMem, Tier))]);
    // The tier of DRAM is that of everything of which the kernel knows nothing.
    let nodes = untold(vec![tier(dram(0), 4), tier(hbm(1), 4)]);
    assert_eq!(kinds(nodes)[1], Some((FastMem, Guess)));
}

#[test]
fn guesses_are_by_size_then_distance() {
    let nodes = untold(vec![dram(0), hbm(1), cxl(2), NumaNode { cpus: vec![], ..dram(3) }]);
    let found = kinds(nodes);
    assert_eq!(found[1..], [(FastMem, Guess), (LargeMem, Guess), (NormalMem, Guess)].map(Some));

    let sized = |number, distances: [u32; 4], cpus: bool| {
        let cpus = if cpus { dram(number).cpus } else { vec![] };
        NumaNode { memory: 1 << 30, cpus, distances: distances.into(), ..NumaNode::new(number) }
    };
    let found = kinds(vec![
        sized(0, [10, 21, 13, 17], true),
        sized(1, [21, 10, 23, 28], true),
        sized(2, [13, 23, 10, 20], false),
        sized(3, [17, 28, 20, 10], false),
    ]);
    assert_eq!(found, [NORMAL, NORMAL, Some((FastMem, Guess)), Some((LargeMem, Guess))]);
    let alike = kinds(vec![
        sized(0, [10, 21, 17, 17], true),
        sized(1, [21, 10, 17, 17], true),
        sized(2, [17, 17, 10, 20], false),
        sized(3, [17, 17, 20, 10], false),
    ]);
    assert_eq!(alike[2..], [Some((NormalMem, Guess)); 2]);
    let far = kinds(vec![
        sized(0, [10, 21, 31, 31], true),
        sized(1, [21, 10, 31, 31], true),
        sized(2, [31, 31, 10, 40], false),
        sized(3, [31, 31, 40, 10], false),
    ]);
    assert_eq!(far[2..], [Some((LargeMem, Guess)); 2]);
    let nearer_to_cpus_without_memory = kinds(vec![
        sized(0, [10, 21, 23, 13], true),
        NumaNode { memory: 0, ..sized(1, [21, 10, 13, 23], true) },
        sized(2, [23, 13, 10, 23], false),
        sized(3, [13, 23, 23, 10], false),
    ]);
    assert_eq!(nearer_to_cpus_without_memory[2..], [Some((NormalMem, Guess)); 2]);
}

#[test]
fn a_forbidden_node_has_its_kind_all_the_same() {
    let forbidden = NumaNode { allowed: false, ..hbm(1) };
    assert_eq!(kinds(vec![dram(0), forbidden])[1], Some((FastMem, BySpeed)));
}

#[test]
fn one_node_without_a_speed_is_found_by_what_else_is_known() {
    let found = kinds(vec![dram(0), named(cxl(1), "NVM"), hbm(2)]);
    assert_eq!(found, [NORMAL, Some((LargeMem, Subtype)), Some((FastMem, BySpeed))]);
}

fn any_node() -> impl Strategy<Value = NumaNode> {
    let speed = (proptest::option::of(0..500_000u64), proptest::option::of(0..1000u64));
    let speed = speed.prop_map(|(bandwidth, latency)| Speed { bandwidth, latency });
    let subtype = prop_oneof![Just(None), Just(Some("HBM")), Just(Some("NVM")), Just(Some("SPM"))];
    let distances = proptest::collection::vec(10..40u32, 0..6);
    (0..3u64, any::<bool>(), speed, subtype, proptest::option::of(0..9u32), distances, any::<bool>())
        .prop_map(|(memory, cpus, speed, subtype, tier, distances, allowed)| NumaNode {
            memory: memory << 30,
            cpus: if cpus { vec![0] } else { vec![] },
            speed,
            subtype: subtype.map(Into::into),
            tier,
            distances,
            allowed,
            ..NumaNode::new(0)
        })
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
