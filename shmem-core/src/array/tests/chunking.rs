//! Chunks against a walk through all elements.

use proptest::prelude::*;

use crate::array::{ArrayError, Chunking};

/// Checks everything a chunking says, element by element.
fn holds<const D: usize>(shape: [usize; D], asked: usize) -> Result<(), TestCaseError> {
    let chunking = Chunking::new(shape, asked);
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

/// The tables of the source for `[0..1, 0..#2**20]` and four nodes: subdomains, and the cyclic pattern of
/// their elements.
#[test]
fn two_rows_are_cut_into_columns() {
    let quarter = 1 << 18;
    let chunking = Chunking::new([2, 1 << 20], 4);
    assert_eq!((chunking.axis(), chunking.chunks()), (1, 4));
    let mut pattern = Vec::new();
    for node in 0..4 {
        assert_eq!(chunking.range(node), [0..2, node * quarter..(node + 1) * quarter]);
        pattern.extend(chunking.runs(node).map(|run| (run, node)));
    }
    pattern.sort_by_key(|(run, _)| run.start);
    let expected = (0..8).map(|k| (k * quarter..(k + 1) * quarter, k % 4));
    assert!(pattern.into_iter().eq(expected));
}

/// In the source's third table two of four subdomains begin where the array has ended: such indices belong
/// to no chunk.
#[test]
fn chunks_do_not_go_beyond_the_array() {
    for chunks in 1..=8 {
        let chunking = Chunking::new([2, 1 << 20], chunks);
        for chunk in 0..chunking.chunks() {
            let [rows, columns] = chunking.range(chunk);
            assert!(rows.end <= 2 && columns.end <= 1 << 20, "chunk {chunk} of {chunks}");
        }
    }
}

#[test]
fn five_pages_among_four() {
    let chunking = Chunking::new([5 << 10], 4);
    assert_eq!((0..4).map(|c| chunking.elements(c)).collect::<Vec<_>>(), [1280; 4]);
    let chunking = Chunking::new([10], 4);
    assert_eq!((0..4).map(|c| chunking.elements(c)).collect::<Vec<_>>(), [3, 3, 2, 2]);
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
    assert!(matches!(Chunking::at_most([usize::MAX, 2], 1), Err(ArrayError::TooLarge { .. })));
    assert!(matches!(Chunking::at_most([1 << 63], 1), Err(ArrayError::TooLarge { .. })));
    let large = Chunking::new([1 << 40, 1 << 20], 4);
    assert_eq!(large.bytes(4), Ok(1 << 62));
    assert_eq!(
        large.bytes(8).unwrap_err().to_string(),
        "an array of 1099511627776x1048576 elements of 8 bytes does not fit into an address space"
    );
    assert_eq!(large.bytes(0), Err(ArrayError::NoBytes));
}
