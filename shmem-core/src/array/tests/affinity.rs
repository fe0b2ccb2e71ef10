//! Elements at home against a look at each element.

use core::convert::Infallible;
use core::ops::Range;

use proptest::prelude::*;

use super::model::{Model, all, config, frozen, kinds};
use crate::array::{Chosen, StorageKind};

/// Pages of 64 bytes, so that elements of 4 bytes never lie on two of them.
const PAGE: usize = 64;

fn counts<const D: usize>(
    shape: [usize; D],
    chunks: usize,
    kind: StorageKind,
    gap: usize,
    nodes: &[Option<u32>],
) -> Result<(), TestCaseError> {
    let model = Model::<D, Chosen>::numbered(shape, chunks, kind, gap);
    let node_of = |byte: usize| nodes[byte / PAGE % nodes.len()];
    // Threads of node 2 use the memory of node 9.
    let belongs = |home, node| node == if home == 2 { 9 } else { home };
    let view = frozen!(model);
    let at_home = all(shape.map(|length| 0..length)).into_iter().filter(|&index| {
        let byte = core::ptr::from_ref(&view[index]) as usize - model.place.as_ptr() as usize;
        let chunk = model.array.chunking().chunk_of(index[model.array.chunking().axis()]);
        node_of(byte).is_some_and(|node| belongs(model.array.nodes()[chunk], node))
    });
    let nodes_of = |range: Range<usize>| {
        assert!(range.start.is_multiple_of(PAGE) && range.end.is_multiple_of(PAGE));
        Ok::<_, Infallible>(range.step_by(PAGE).map(node_of).collect())
    };
    prop_assert_eq!(model.array.elements_at_home(PAGE, nodes_of, belongs), Ok(at_home.count()));
    Ok(())
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn each_element_counts_where_it_starts(
        one in 1_usize..200, two in [1_usize..12, 1..30], three in [1_usize..5, 1..5, 1..20],
        chunks in 1_usize..9, kind in kinds(), gap in 0_usize..20,
        nodes in prop::collection::vec(prop_oneof![Just(None), Just(Some(0)), Just(Some(1)), Just(Some(9))], 1..9),
    ) {
        counts([one], chunks, kind, gap, &nodes)?;
        counts(two, chunks, kind, gap, &nodes)?;
        counts(three, chunks, kind, gap, &nodes)?;
    }
}

#[test]
fn errors_come_out() {
    let model = Model::<1, Chosen>::numbered([10], 2, StorageKind::Multi, 0);
    assert_eq!(model.array.elements_at_home(PAGE, |_| Err("unknown"), |_, _| true), Err("unknown"));
}
