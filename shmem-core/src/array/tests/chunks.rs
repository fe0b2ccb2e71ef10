//! Chunks of arrays: those that a chunking says, those that views give, and how many of their elements are at home.

use core::convert::Infallible;
use core::ops::Range;

use proptest::prelude::*;

use super::{Model, all, config, frozen, kinds, number, opened, reads, writes};
use crate::array::{ArrayError, Chosen, Chunking, Indices, StorageKind, array_bytes};

fn holds<const D: usize>(shape: [usize; D], asked: usize) -> Result<(), TestCaseError> {
    let chunking = Chunking::at_most(shape, asked).unwrap();
    let (axis, chunks) = (chunking.axis(), chunking.chunks());
    // The leftmost dimension that is long enough, or else the longest.
    match shape.iter().position(|&length| length >= asked) {
        Some(leftmost) => prop_assert_eq!((axis, chunks), (leftmost, asked)),
        None => {
            let longest = *shape.iter().max().unwrap();
            prop_assert_eq!(axis, shape.iter().position(|&length| length == longest).unwrap());
            prop_assert_eq!(chunks, longest);
        }
    }
    // Complete and disjoint: each element in row-major order has one owner.
    let elements: usize = shape.iter().product();
    let mut owner = vec![None; elements];
    for chunk in 0..chunks {
        let mut sum = 0;
        for run in chunking.runs(chunk) {
            sum += run.len();
            for element in run {
                prop_assert_eq!(owner[element].replace(chunk), None);
            }
        }
        prop_assert_eq!(sum, chunking.elements(chunk));
    }
    for (element, owner) in owner.into_iter().enumerate() {
        let mut rest = element;
        let mut index = [0; D];
        for d in (0..D).rev() {
            (index[d], rest) = (rest % shape[d], rest / shape[d]);
        }
        let chunk = chunking.chunk_of(index[axis]);
        prop_assert_eq!(owner, Some(chunk));
        prop_assert!(chunking.range(chunk).iter().zip(index).all(|(range, i)| range.contains(&i)));
        prop_assert!(chunking.span(chunk).contains(&index[axis]));
    }
    // Balanced, the longer ones first.
    let lengths: Vec<usize> = (0..chunks).map(|chunk| chunking.span(chunk).len()).collect();
    prop_assert!(lengths.is_sorted_by(|a, b| a >= b));
    prop_assert!(lengths[0] - lengths[chunks - 1] <= 1);
    prop_assert_eq!(chunking.outer() * chunking.inner() * shape[axis], elements);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn chunks_are_complete_disjoint_and_balanced(
        one in 1_usize..200, two in [1_usize..20, 1..20], three in [1_usize..9, 1..9, 1..9], chunks in 1_usize..30,
    ) {
        holds([one], chunks)?;
        holds(two, chunks)?;
        holds(three, chunks)?;
    }
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let refusal = |refused: Result<Chunking<2>, ArrayError>| refused.unwrap_err().to_string();
    assert_eq!(
        refusal(Chunking::at_most([3, 0], 2)),
        "an array of 3x0 has no elements; each dimension needs at least one index"
    );
    assert_eq!(refusal(Chunking::at_most([3, 4], 0)), "an array of 3x4 in 0 chunks; give 1 or more");
    assert_eq!(
        refusal(Chunking::exactly([3, 4], 5)),
        "an array of 3x4 cannot be cut into 5 chunks: no dimension has as many indices; at most 4 are possible"
    );
    assert_eq!(Chunking::exactly([3, 4], 4), Chunking::at_most([3, 4], 5));
    assert!(Chunking::at_most([usize::MAX, 2], 1).is_err() && Chunking::at_most([1 << 63], 1).is_err());
    let large = [1 << 40, 1 << 20];
    assert_eq!(array_bytes(&large, 4), Ok(1 << 62));
    assert_eq!(
        array_bytes(&large, 8).unwrap_err().to_string(),
        "an array of 1099511627776x1048576 elements of 8 bytes does not fit into an address space"
    );
    let none = array_bytes(&large, 0).unwrap_err().to_string();
    assert!(none.starts_with("elements of no bytes cannot be placed"));
}

fn chunks_hold<const D: usize>(
    shape: [usize; D],
    chunks: usize,
    kind: StorageKind,
    gap: usize,
) -> Result<(), TestCaseError> {
    let mut model = Model::<D, Chosen>::numbered(shape, chunks, kind, gap);
    let chunking = *model.array.chunking();
    let view = frozen!(model);
    prop_assert_eq!(view.chunks().len(), chunking.chunks());
    for (number_of, chunk) in view.chunks().enumerate() {
        prop_assert_eq!((chunk.number(), chunk.node()), (number_of, Some(number_of as u32 % 3)));
        prop_assert_eq!(chunk.ranges(), chunking.range(number_of));
        reads!(chunk, all(chunk.ranges()), shape);
        prop_assert_eq!(chunk.as_slice().is_some(), chunk.runs().len() == 1);
        prop_assert!(chunk.as_slice().is_none_or(|slice| chunk.iter().eq(slice)));
    }

    let mut view = opened!(model);
    let last = view.len() as u32 - 1;
    // All chunks at once: none has an element of another.
    let mut all_chunks: Vec<_> = view.chunks_mut().collect();
    for chunk in all_chunks.iter_mut().rev() {
        writes!(chunk, all(chunk.ranges()), shape, last);
        if let Some(slice) = chunk.as_mut_slice() {
            slice.iter_mut().for_each(|element| *element += 2);
            slice.iter_mut().for_each(|element| *element -= 2);
        }
    }
    for chunk in all_chunks {
        chunk.into_iter().for_each(|element| *element = last - *element);
    }
    prop_assert!(view.iter().copied().eq(0..=last));
    prop_assert!(view.chunk(0).iter().eq(view.view().chunk(0)));
    prop_assert!(model.is_whole());
    Ok(())
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn chunks_are_what_the_chunking_says(
        one in 1_usize..40, two in [1_usize..7, 1..7], three in [1_usize..5, 1..5, 1..5],
        chunks in 1_usize..12, kind in kinds(), gap in 0_usize..3,
    ) {
        chunks_hold([one], chunks, kind, gap)?;
        chunks_hold(two, chunks, kind, gap)?;
        chunks_hold(three, chunks, kind, gap)?;
    }
}

#[test]
fn indices_of_chunks_are_those_of_the_array() {
    let model = Model::<1, Chosen>::numbered([10], 4, StorageKind::Multi, 0);
    let indices: Vec<_> = frozen!(model).chunks().map(|chunk| chunk.indices()).collect();
    assert_eq!(indices, [0..3, 3..6, 6..8, 8..10]);
    let mut model = Model::<2, Chosen>::numbered([2, 5], 3, StorageKind::Separate, 0);
    for mut chunk in opened!(model).chunks_mut() {
        for index in chunk.indices() {
            assert_eq!(chunk[index], number([2, 5], index));
            chunk[index] = 1;
        }
    }
    assert_eq!(model.place, [1; 10]);
    let model = Model::<3, Chosen>::numbered([1, 2, 5], 2, StorageKind::Multi, 0);
    let second: Vec<_> = frozen!(model).chunk(1).indices().collect();
    assert_eq!(second, all([0..1, 1..2, 0..5]));
    assert!(frozen!(model).indices().eq(all([0..1, 0..2, 0..5])));
}

proptest! {
    /// After any number of steps, with loops of either kind.
    #[test]
    fn indices_are_row_by_row(ranges in prop::array::uniform3((0..4_usize, 0..4_usize)), steps in 0..30_usize) {
        let ranges = ranges.map(|(start, count)| start..start + count);
        let mut indices = Indices::new(ranges.clone());
        let expected = all(ranges);
        let mut found: Vec<_> = indices.by_ref().take(steps).collect();
        indices.for_each(|index| found.push(index));
        prop_assert_eq!(found, expected);
    }
}

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
