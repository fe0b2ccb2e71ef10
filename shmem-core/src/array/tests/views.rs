//! Views of whole arrays.

use proptest::prelude::*;

use super::{Model, all, config, frozen, kinds, number, opened, reads, writes};
use crate::array::{Chosen, Contiguous, Cyclic, Multi, Separate, Single, Storage, StorageKind};
use crate::fixture::refusal;

fn reads<const D: usize, S: Storage>(
    shape: [usize; D],
    chunks: usize,
    kind: StorageKind,
    gap: usize,
) -> Result<(), TestCaseError> {
    let model = Model::<D, S>::numbered(shape, chunks, kind, gap);
    let view = frozen!(model);
    prop_assert_eq!((view.shape(), view.kind()), (shape, kind));
    reads!(view, all(shape.map(|length| 0..length)), shape);
    for d in 0..D {
        let mut beyond = shape.map(|length| length - 1);
        beyond[d] = usize::MAX;
        prop_assert_eq!(view.get(beyond), None);
    }
    let runs = if kind.is_one_range() {
        1
    } else {
        model.array.chunking().outer() * model.array.chunking().chunks()
    };
    prop_assert_eq!((view.runs().len(), view.try_as_slice().is_some()), (runs, runs == 1));
    prop_assert!(view.try_as_slice().is_none_or(|slice| slice.iter().copied().eq(0..view.len() as u32)));
    Ok(())
}

fn rows<const D: usize, S: Contiguous>(shape: [usize; D], kind: StorageKind) -> Result<(), TestCaseError> {
    let mut model = Model::<D, S>::numbered(shape, 3, kind, 1);
    let row = model.array.len() / shape[0];
    let numbers = |i: usize| (i * row) as u32..((i + 1) * row) as u32;
    let mut view = opened!(model);
    for (i, found) in view.rows_mut().enumerate() {
        prop_assert!(found.iter().copied().eq(numbers(i)));
        found.reverse();
    }
    for i in 0..shape[0] {
        prop_assert!(view.row(i).iter().copied().eq(numbers(i).rev()));
        view.row_mut(i).reverse();
    }
    prop_assert!(view.rows().flatten().copied().eq(0..view.len() as u32));
    prop_assert!(view.view().rows().enumerate().all(|(i, found)| found == view.row(i)));
    prop_assert_eq!(view.rows().len(), shape[0]);
    prop_assert!(model.is_whole());
    Ok(())
}

/// Everything that can be written, each way: afterwards exactly the elements have changed.
fn writes<const D: usize, S: Storage>(
    shape: [usize; D],
    chunks: usize,
    kind: StorageKind,
    gap: usize,
) -> Result<(), TestCaseError> {
    let mut model = Model::<D, S>::numbered(shape, chunks, kind, gap);
    let last = model.array.len() as u32 - 1;
    let mut view = opened!(model);
    writes!(view, all(shape.map(|length| 0..length)), shape, last);
    prop_assert!(view.iter().copied().eq((0..=last).rev()));
    // Having been at the end does not lead beyond it.
    for d in 0..D {
        let mut index = shape.map(|length| length - 1);
        prop_assert!(view.get_mut(index).is_some());
        for _ in 0..2 {
            index[d] += 1;
            prop_assert_eq!(view.get_mut(index), None);
        }
    }
    // All of them at once, and apart.
    let mut elements: Vec<&mut u32> = view.iter_mut().collect();
    elements.reverse();
    for (element, value) in elements.into_iter().zip(0..) {
        *element = value;
    }
    prop_assert!(view.view_mut().iter().copied().eq((0..=last).rev()));
    prop_assert!(view.view().iter().copied().eq((0..=last).rev()));
    prop_assert!(model.is_whole());
    opened!(model).fill(5);
    let fives = model.place.iter().filter(|&&value| value == 5).count();
    prop_assert_eq!(fives, model.array.len());
    Ok(())
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn views_are_what_the_model_is(
        one in 1_usize..if cfg!(miri) { 20 } else { 70 }, two in [1_usize..9, 1..9], three in [1_usize..6, 1..6, 1..6],
        chunks in 1_usize..20, kind in kinds(), gap in 0_usize..3,
    ) {
        reads::<1, Chosen>([one], chunks, kind, gap)?;
        reads::<2, Chosen>(two, chunks, kind, gap)?;
        reads::<3, Chosen>(three, chunks, kind, gap)?;
        writes::<1, Chosen>([one], chunks, kind, gap)?;
        writes::<2, Chosen>(two, chunks, kind, gap)?;
        writes::<3, Chosen>(three, chunks, kind, gap)?;
        reads::<1, Single>([one], chunks, StorageKind::Single, gap)?;
        reads::<3, Cyclic>(three, chunks, StorageKind::Cyclic { block: 4096 }, gap)?;
        reads::<1, Multi>([one], chunks, StorageKind::Multi, gap)?;
        reads::<3, Multi>(three, chunks, StorageKind::Multi, gap)?;
        rows::<1, Single>([one], StorageKind::Single)?;
        rows::<2, Separate>(two, StorageKind::Separate)?;
        rows::<3, Cyclic>(three, StorageKind::Cyclic { block: 4096 })?;
        writes::<2, Single>(two, chunks, StorageKind::Single, gap)?;
        writes::<1, Multi>([one], chunks, StorageKind::Multi, gap)?;
        writes::<2, Multi>(two, chunks, StorageKind::Multi, gap)?;
    }
}

#[test]
fn what_is_beyond_the_end_is_refused() {
    let line = refusal(|| {
        let model = Model::<1, Multi>::numbered([10], 3, StorageKind::Multi, 0);
        let _ = frozen!(model)[10];
    });
    assert_eq!(line, "index 10 is beyond the end: the array has 10 elements (0..10)");
    let plane = refusal(|| {
        let mut model = Model::<2, Single>::numbered([2, 3], 2, StorageKind::Single, 0);
        opened!(model)[[1, 3]] = 0;
    });
    assert_eq!(plane, "index [1, 3] is beyond the end: the array has the shape [2, 3]");
    let row = refusal(|| {
        let model = Model::<2, Single>::numbered([2, 3], 2, StorageKind::Single, 0);
        let _ = frozen!(model).row(2);
    });
    assert_eq!(row, "row 2 is beyond the end: the array has 2 (0..2)");
    let chunk = refusal(|| {
        let model = Model::<2, Multi>::numbered([4, 3], 2, StorageKind::Multi, 0);
        let _ = frozen!(model).chunk(1)[[1, 2]];
    });
    assert_eq!(chunk, "index [1, 2] is not in chunk 1, which has the indices [2..4, 0..3] of the array");
}
