//! Properties of layouts, and dynamic segments against a model.

use proptest::prelude::*;
use shmem_grammar::Policy;

use super::plain;
use crate::memory::{DynamicRange, SlotLayout};
use crate::partition::PartitionSpec;
use crate::segment_table::{FIRST_DYNAMIC, MAX_SEGMENTS};
use crate::system_area::SYSTEM_BYTES;
use crate::topology::Topology;

const M: usize = 1 << 20;
const G: usize = 1 << 30;

fn paged(id: u32, size: usize, pgsize: u64) -> PartitionSpec {
    super::paged(id, size as u64, pgsize, Policy::Preferred)
}

fn check(specs: &[PartitionSpec], layout: &SlotLayout) {
    let granule = layout.granule();
    assert!(granule.is_power_of_two() && granule >= 2 * M);
    assert!(layout.slot_bytes().div_ceil(granule) <= 1024);
    let unit = layout.unit();
    assert!(unit.is_power_of_two() && unit >= 2 * M);
    assert_eq!(layout.stride() % unit, 0);
    assert_eq!(layout.stride() / unit % 2, 1, "an odd multiple");
    assert!(layout.stride() >= layout.slot_bytes());
    let mut end = SYSTEM_BYTES;
    for (k, spec) in specs.iter().enumerate() {
        let (start, heap) = (layout.partition(k).start, layout.partition(k));
        let page = match spec.traits.pgsize.unwrap_or(0) as usize {
            n if n <= 2 * M => 2 * M,
            n => n.next_power_of_two().clamp(G, 16 * G),
        };
        assert_eq!((start % granule, start % page), (0, 0));
        assert!(start >= end, "partition {k} starts at {start:#x}, before {end:#x}");
        assert_eq!(heap.start, start);
        assert_eq!(heap.len(), spec.size as usize, "all bytes that were asked for");
        end = heap.end.next_multiple_of(page);
    }
    assert!(layout.bytes() >= end);
    assert_eq!(layout.dynamic().start, layout.bytes());
    assert_eq!(layout.dynamic().end, layout.slot_bytes());
    assert_eq!(layout.dynamic().start % granule, 0);
    // `insert` panics when segments overlap.
    let segments = layout.segments();
    for (k, spec) in specs.iter().enumerate() {
        let heap = layout.partition(k);
        let index = Some(1 + k as u32);
        assert_eq!(segments.find(heap.start, heap.len()), index);
        assert_eq!(segments.find(heap.end - 1, 2), None);
        assert_eq!(segments.list()[k + 1].1.partition, spec.id);
    }
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![1..5000_usize, 1..64 * M, Just(G), 1..200 * G]
}

fn specs() -> impl Strategy<Value = Vec<PartitionSpec>> {
    let pgsize = prop_oneof![
        4 => Just(None),
        2 => (0..35_u32).prop_map(|n| Some(1_u64 << n)),
        1 => (1..40 * G as u64).prop_map(Some)
    ];
    proptest::collection::vec((sizes(), pgsize), 0..=127).prop_map(|list| {
        let id = |k| 1 + 2 * k as u32;
        list.into_iter()
            .enumerate()
            .map(|(k, (size, pgsize))| match pgsize {
                Some(pgsize) => paged(id(k), size, pgsize),
                None => plain(id(k), size as u64),
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(200), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layouts_have_their_properties(specs in specs(), dynamic in 0..200 * G) {
        let layout = super::layout(&specs, dynamic);
        check(&specs, &layout);
        prop_assert!(layout.dynamic().len() >= dynamic);
        prop_assert_eq!(layout, super::layout(&specs, dynamic));
    }

    #[test]
    fn dynamic_segments_fit_first_and_agree_with_a_bitmap(
        steps in proptest::collection::vec((any::<bool>(), any::<prop::sample::Index>(), 1..9 * M, 0..3_u32), 1..300)
    ) {
        let layout = super::layout(&[plain(1, M as u64)], 256 * M);
        let mut range = DynamicRange::new(&layout);
        let first = layout.dynamic().start;
        let mut taken = vec![None; layout.dynamic().len() / (2 * M)];
        let mut live = Vec::new();
        for (give_back, which, bytes, room) in steps {
            if give_back && !live.is_empty() {
                let place = live.swap_remove(which.index(live.len()));
                range.release(place);
                taken.iter_mut().filter(|t| **t == Some(place.index)).for_each(|t| *t = None);
                continue;
            }
            let room = (2 * M) << room;
            let granules = bytes.next_multiple_of(room) / (2 * M);
            let expected = (0..taken.len()).find(|at| {
                (first + at * 2 * M).is_multiple_of(room)
                    && taken.get(*at..at + granules).is_some_and(|part| part.iter().all(Option::is_none))
            });
            let index = (FIRST_DYNAMIC..MAX_SEGMENTS as u32).find(|i| !taken.contains(&Some(*i)));
            match (range.allocate(bytes, room), expected, index) {
                (Ok(place), Some(at), Some(index)) => {
                    prop_assert_eq!((place.offset, place.index), (first + at * 2 * M, index));
                    taken[at..at + granules].fill(Some(index));
                    live.push(place);
                }
                (Err(_), None, _) => {}
                (got, expected, _) => prop_assert!(false, "{:?}, model: {:?}", got, expected),
            }
        }
    }
}

#[test]
fn what_no_address_space_has_is_an_error_that_names_the_largest() {
    let specs = [plain(1, M as u64), plain(7, u64::MAX - 5), plain(8, 1 << 62)];
    let error = SlotLayout::new(&specs, 0, 0, &Topology::default()).unwrap_err().to_string();
    assert!(error.contains("partition 7 `partition7` (SHMEM_SYMMETRIC_PARTITION7)"), "{error}");
    assert!(SlotLayout::new(&[plain(1, 1)], 0, usize::MAX, &Topology::default()).is_err());
}

#[test]
fn dynamic_segments_end_when_their_indices_do() {
    let layout = super::layout(&[], 512 * M);
    let mut range = DynamicRange::new(&layout);
    let places: Vec<_> =
        (FIRST_DYNAMIC..MAX_SEGMENTS as u32).map(|_| range.allocate(1, 2 * M).unwrap()).collect();
    let error = range.allocate(1, 2 * M).unwrap_err().to_string();
    assert!(error.contains("127 of 127 are in use"), "{error}");
    let error = DynamicRange::new(&layout).allocate(1, 16 * G).unwrap_err().to_string();
    assert!(error.contains("at a multiple of 16G, for its page size: 0 of 127"), "{error}");
    range.release(places[5]);
    assert_eq!(range.allocate(1, 2 * M).unwrap(), places[5]);
}
