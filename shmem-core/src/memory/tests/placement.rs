use shmem_grammar::{Kind, Policy, Traits};

use super::plain;
use crate::memory::{Placement, Spread, placement};
use crate::partition::PartitionSpec;
// Two sockets, fast memory at each, slow memory.
use crate::topology::tests::{dram, sockets as nodes};
use crate::topology::{NumaNode, Speed, Topology};

fn spec(kind: Option<Kind>, policy: Option<Policy>) -> PartitionSpec {
    let traits = Traits { kind, policy, ..Traits::NONE };
    PartitionSpec { traits, explicit: true, ..plain(2, 1 << 20) }
}

/// For a PE on node 1.
fn machine(nodes: Vec<NumaNode>) -> Topology {
    Topology::of(nodes, vec![2, 3], None)
}

fn placed(kind: Option<Kind>, policy: Option<Policy>, topology: &Topology) -> Placement {
    placement(&spec(kind, policy), topology).expect("placed")
}

#[test]
fn the_whole_rule() {
    use Kind::{FastMem, LargeMem, NormalMem, SysDefault};
    use Policy::{Interleaved, Mandatory, Preferred};
    use Spread::{Bound, System};
    let topology = machine(nodes());
    let (normal, fast, large) = ([1, 0], [3, 2], [4]);
    let spread = Spread::Preferred;
    let over = Spread::Interleaved;
    let none: [u32; 0] = [];
    for (kind, policy, spread, nodes) in [
        (None, None, spread, &normal[..]),
        (None, Some(Mandatory), spread, &normal),
        (None, Some(Preferred), spread, &normal),
        (None, Some(Interleaved), over, &normal),
        (None, Some(Policy::SysDefault), System, &none),
        (Some(NormalMem), None, spread, &normal),
        (Some(NormalMem), Some(Mandatory), Bound, &normal),
        (Some(NormalMem), Some(Preferred), spread, &normal),
        (Some(NormalMem), Some(Interleaved), over, &normal),
        (Some(NormalMem), Some(Policy::SysDefault), System, &none),
        (Some(FastMem), Some(Mandatory), Bound, &fast),
        (Some(FastMem), Some(Preferred), spread, &fast),
        (Some(FastMem), Some(Interleaved), over, &fast),
        (Some(LargeMem), Some(Mandatory), Bound, &large),
        (Some(LargeMem), Some(Preferred), spread, &large),
        (Some(LargeMem), Some(Interleaved), over, &large),
        (Some(SysDefault), None, System, &none),
        (Some(SysDefault), Some(Mandatory), System, &none),
        (Some(SysDefault), Some(Preferred), System, &none),
        (Some(SysDefault), Some(Interleaved), System, &none),
        (Some(SysDefault), Some(Policy::SysDefault), System, &none),
        (Some(FastMem), Some(Policy::SysDefault), System, &none),
        (Some(Kind::Pmem), Some(Mandatory), System, &none),
    ] {
        let placed = placed(kind, policy, &topology);
        assert_eq!((placed.spread, placed.nodes.as_slice()), (spread, nodes), "{kind:?} {policy:?}");
        let is_said =
            placed.downgrade.is_some_and(|said| said.contains("leaves the placement to the system"));
        assert_eq!(is_said, kind == Some(FastMem) && spread == System, "{kind:?} {policy:?}");
        let left = policy == Some(Policy::SysDefault) && kind != Some(SysDefault);
        assert_eq!(placed.kind, kind.filter(|_| !left), "{kind:?} {policy:?}");
    }
}

#[test]
fn a_kind_that_is_missing_is_refused_or_replaced_and_said() {
    let topology = machine(nodes().into_iter().filter(|node| node.number < 2).collect());
    for kind in [Kind::FastMem, Kind::LargeMem] {
        let there = "this machine has none: there are node 0 NORMALMEM 64G 97 GiB/s 80 ns, node 1 NORMALMEM 64G 97 GiB/s 80 ns";
        assert_eq!(
            placement(&spec(Some(kind), Some(Policy::Mandatory)), &topology)
                .expect_err("refused")
                .to_string(),
            format!(
                "partition 2 `partition2` must have KIND={kind} under POLICY=MANDATORY (from SHMEM_SYMMETRIC_PARTITION2), and {there}; use POLICY=PREFERRED to run in normal memory, or a kind that is there"
            )
        );
        for policy in [Policy::Preferred, Policy::Interleaved] {
            let placed = placed(Some(kind), Some(policy), &topology);
            assert_eq!((placed.kind, placed.spread), (Some(Kind::NormalMem), Spread::Preferred));
            assert_eq!(placed.nodes, [1, 0]);
            assert_eq!(placed.downgrade, Some(format!("KIND={kind}: {there}; normal memory is used")));
        }
    }
}

#[test]
fn a_kind_that_a_cpuset_forbids_is_told_apart() {
    let mut nodes = nodes();
    nodes[2].allowed = false;
    let one_left = placed(Some(Kind::FastMem), Some(Policy::Mandatory), &machine(nodes.clone()));
    assert_eq!((one_left.nodes.as_slice(), one_left.downgrade), (&[3][..], None));
    nodes[3].allowed = false;
    let topology = machine(nodes);
    let refused =
        placement(&spec(Some(Kind::FastMem), Some(Policy::Mandatory)), &topology).expect_err("refused");
    let refused = refused.to_string();
    assert!(refused.contains("a cpuset forbids this process the memory that is FASTMEM"), "{refused}");
    assert!(refused.contains("node 2 FASTMEM 16G 390 GiB/s 110 ns (forbidden by a cpuset)"), "{refused}");
    assert!(refused.contains("cpuset.mems"), "{refused}");
    let replaced = placed(Some(Kind::FastMem), Some(Policy::Preferred), &topology);
    assert_eq!(replaced.nodes, [1, 0]);
    assert!(replaced.downgrade.is_some_and(|said| said.contains("a cpuset forbids this process")));
}

#[test]
fn normal_memory_that_is_forbidden_is_the_systems_to_replace() {
    let mut nodes = nodes();
    nodes[0].allowed = false;
    nodes[1].allowed = false;
    let topology = machine(nodes);
    assert_eq!(placed(None, None, &topology), Placement::system());
    let replaced = placed(Some(Kind::NormalMem), None, &topology);
    assert_eq!((replaced.kind, replaced.spread), (None, Spread::System));
    assert!(replaced.downgrade.is_some_and(|said| said.ends_with("; the system decides")));
    assert!(placement(&spec(Some(Kind::NormalMem), Some(Policy::Mandatory)), &topology).is_err());
}

#[test]
fn a_guess_is_given_and_said() {
    let mut nodes = nodes();
    for node in &mut nodes {
        node.speed = Speed::default();
    }
    let topology = machine(nodes);
    let placed = |kind| placed(Some(kind), Some(Policy::Mandatory), &topology);
    let fast = placed(Kind::FastMem);
    assert_eq!((fast.kind, fast.nodes.as_slice()), (Some(Kind::FastMem), &[3, 2][..]));
    let said = fast.downgrade.expect("said");
    assert!(said.starts_with("KIND=FASTMEM: nodes 2-3 are taken for FASTMEM by a guess"), "{said}");
    assert_eq!(placed(Kind::NormalMem).downgrade, None, "what CPUs have is normal without guessing");
}

#[test]
fn without_nodes_to_choose_from_no_call_is_made() {
    let one = machine(vec![dram(1)]);
    for topology in [&one, &Topology::default()] {
        for policy in [None, Some(Policy::Mandatory), Some(Policy::Preferred), Some(Policy::Interleaved)] {
            for kind in [None, Some(Kind::NormalMem)] {
                let expected = Placement { kind, ..Placement::system() };
                assert_eq!(placed(kind, policy, topology), expected, "{policy:?}");
            }
            let fast = placement(&spec(Some(Kind::FastMem), policy), topology);
            match fast {
                Ok(fast) => assert!(fast.downgrade.is_some() && fast.spread == Spread::System),
                Err(_) => assert_eq!(policy, Some(Policy::Mandatory)),
            }
        }
    }
}

#[test]
fn nothing_asked_is_the_own_node_whatever_its_memory() {
    let mut nodes = nodes();
    nodes[1].speed.bandwidth = Some(400_000);
    let topology = machine(nodes.clone());
    assert_eq!(topology.of_kind(Kind::NormalMem, 1), [0]);
    assert_eq!(placed(None, None, &topology).nodes, [1, 0]);
    assert_eq!(placed(None, Some(Policy::Interleaved), &topology).nodes, [0]);
    assert_eq!(placed(Some(Kind::NormalMem), None, &topology).nodes, [0]);
    nodes[1].allowed = false;
    assert_eq!(placed(None, None, &machine(nodes.clone())).nodes, [0]);
    (nodes[1].allowed, nodes[1].memory) = (true, 0);
    assert_eq!(placed(None, None, &machine(nodes)).nodes, [0], "CPUs without memory");
}
