use crate::memory::placement;
use crate::partition::{Kind, Origin, PartitionSpec, Policy, Traits};
use crate::text::Text;
use crate::topology::Topology;

fn spec(kind: Option<Kind>, policy: Option<Policy>) -> PartitionSpec {
    PartitionSpec {
        id: 2,
        name: Text::head("fast"),
        size: 1 << 20,
        traits: Traits { kind, policy, ..Traits::NONE },
        origin: Origin::Environment("SHMEM_SYMMETRIC_PARTITION2".into()),
        explicit: true,
        file: None,
    }
}

#[test]
fn what_every_machine_has_is_given() {
    for kind in [None, Some(Kind::NormalMem), Some(Kind::SysDefault)] {
        for policy in [None, Some(Policy::Mandatory), Some(Policy::Preferred), Some(Policy::SysDefault)] {
            let placed = placement(&spec(kind, policy), &Topology::default()).expect("placed");
            assert_eq!((placed.kind, placed.downgrade), (kind, None), "{kind:?}, {policy:?}");
        }
    }
}

#[test]
fn special_kinds_are_refused_or_replaced_and_said() {
    for kind in [Kind::FastMem, Kind::LargeMem] {
        assert_eq!(
            placement(&spec(Some(kind), Some(Policy::Mandatory)), &Topology::default())
                .expect_err("refused")
                .to_string(),
            format!(
                "partition 2 `fast` must have KIND={kind} under POLICY=MANDATORY (from SHMEM_SYMMETRIC_PARTITION2), and this build cannot place that kind of memory; it places NORMALMEM and SYSDEFAULT; use POLICY=PREFERRED to run in normal memory"
            )
        );
        for policy in [Policy::Preferred, Policy::Interleaved] {
            let placed = placement(&spec(Some(kind), Some(policy)), &Topology::default()).expect("replaced");
            assert_eq!(placed.kind, None);
            let said =
                format!("KIND={kind}: this build cannot place that kind of memory; normal memory is used");
            assert_eq!(placed.downgrade, Some(said));
        }
        let placed = placement(&spec(Some(kind), Some(Policy::SysDefault)), &Topology::default())
            .expect("left to the system");
        assert_eq!(placed.kind, None);
        assert!(placed.downgrade.is_some_and(|said| said.contains("leaves the placement to the system")));
    }
}

#[test]
fn pages_that_are_not_spread_are_said() {
    for kind in [None, Some(Kind::NormalMem)] {
        let placed = placement(&spec(kind, Some(Policy::Interleaved)), &Topology::default()).expect("placed");
        assert!(placed.downgrade.is_some_and(|said| said.starts_with("POLICY=INTERLEAVED")), "{kind:?}");
    }
    let system = placement(&spec(Some(Kind::SysDefault), Some(Policy::Interleaved)), &Topology::default())
        .expect("placed");
    assert_eq!(system.downgrade, None);
}

#[test]
fn a_partition_in_a_file_is_not_placed_on_nodes() {
    for policy in [Policy::Mandatory, Policy::Preferred] {
        let placed = placement(&spec(Some(Kind::Pmem), Some(policy)), &Topology::default()).expect("placed");
        assert_eq!((placed.kind, placed.nodes.len(), placed.downgrade), (Some(Kind::Pmem), 0, None));
    }
}
