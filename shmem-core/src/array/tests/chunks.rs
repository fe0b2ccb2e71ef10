//! Chunks of arrays.

use proptest::prelude::*;

use super::model::{Model, all, config, frozen, kinds, number, opened};
use crate::array::{Chosen, StorageKind};

fn chunks_hold<const D: usize>(
    shape: [usize; D],
    chunks: usize,
    kind: StorageKind,
    gap: usize,
    split: usize,
) -> Result<(), TestCaseError> {
    let mut model = Model::<D, Chosen>::numbered(shape, chunks, kind, gap);
    let chunking = *model.array.chunking();
    let view = frozen!(model);
    prop_assert_eq!(view.chunks().len(), chunking.chunks());
    for (number_of, chunk) in view.chunks().enumerate() {
        prop_assert_eq!((chunk.number(), chunk.node()), (number_of, Some(number_of as u32 % 3)));
        prop_assert_eq!(chunk.ranges(), chunking.range(number_of));
        let mine = all(chunk.ranges());
        let values: Vec<u32> = mine.iter().map(|&index| number(shape, index)).collect();
        prop_assert_eq!(chunk.len(), values.len());
        prop_assert!(chunk.iter().copied().eq(values.iter().copied()));
        prop_assert!(chunk.iter().rev().copied().eq(values.iter().rev().copied()));
        prop_assert!(chunk.runs().flatten().copied().eq(values.iter().copied()));
        prop_assert_eq!(chunk.runs().len(), chunk.runs().count());
        prop_assert_eq!(chunk.as_slice().is_some(), chunk.runs().len() == 1);
        prop_assert!(chunk.as_slice().is_none_or(|slice| slice == values));
        for index in all(shape.map(|length| 0..length)) {
            let value = mine.contains(&index).then(|| number(shape, index));
            prop_assert_eq!(chunk.get(index).copied(), value);
        }
        let (count, rest) = (split % (values.len() + 1), split % 5);
        let (front, back) = chunk.iter().split_at(count);
        prop_assert_eq!((front.len(), back.len()), (count, values.len() - count));
        prop_assert!(front.clone().chain(back.clone()).copied().eq(values.iter().copied()));
        prop_assert_eq!(
            front.clone().fold(7, |sum, value| sum + value),
            7 + values[..count].iter().sum::<u32>()
        );
        prop_assert_eq!(
            back.clone().rev().fold(7, |sum, value| sum + value),
            7 + values[count..].iter().sum::<u32>()
        );
        // From both ends, and split again.
        let mut both = back;
        let mut left = &values[count..];
        while let Some((&last, others)) = left.split_last() {
            prop_assert_eq!(both.next_back(), Some(&last));
            left = others;
            if let Some((&first, others)) = left.split_first() {
                prop_assert_eq!(both.next(), Some(&first));
                left = others;
            }
            prop_assert_eq!(both.len(), left.len());
            let (a, b) = both.clone().split_at(rest.min(left.len()));
            prop_assert!(a.chain(b).eq(left.iter()));
        }
        prop_assert_eq!((both.next(), both.next_back()), (None, None));
    }

    let mut view = opened!(model);
    let last = view.len() as u32 - 1;
    // All chunks at once: none has an element of another.
    let mut all_chunks: Vec<_> = view.chunks_mut().collect();
    for chunk in all_chunks.iter_mut().rev() {
        chunk.runs_mut().flatten().for_each(|element| *element = last - *element);
        for index in all(chunk.ranges()) {
            prop_assert_eq!(chunk[index], last - number(shape, index));
            chunk[index] = number(shape, index);
            *chunk.get_mut(index).unwrap() ^= 1;
            prop_assert_eq!(chunk.get(index), Some(&(number(shape, index) ^ 1)));
            chunk[index] ^= 1;
        }
        for element in chunk.iter_mut() {
            *element = last - *element;
        }
        if let Some(slice) = chunk.as_mut_slice() {
            slice.iter_mut().for_each(|element| *element = last - *element);
            slice.iter_mut().for_each(|element| *element = last - *element);
        }
    }
    for chunk in all_chunks {
        let (front, back) = { chunk.into_iter() }.split_at(1);
        back.rev().chain(front).for_each(|element| *element = last - *element);
    }
    prop_assert!(view.iter().copied().eq(0..=last));
    view.chunk_mut(0).iter_mut().for_each(|element| *element += 1);
    let more = view.iter().zip(0..).filter(|&(&element, value)| element == value + 1).count();
    prop_assert_eq!(more, view.chunk(0).len());
    view.chunk_mut(0).iter_mut().for_each(|element| *element -= 1);
    prop_assert!(model.is_whole());
    Ok(())
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn chunks_are_what_the_chunking_says(
        one in 1_usize..40, two in [1_usize..7, 1..7], three in [1_usize..5, 1..5, 1..5],
        chunks in 1_usize..12, kind in kinds(), gap in 0_usize..3, split in 0_usize..1000,
    ) {
        chunks_hold([one], chunks, kind, gap, split)?;
        chunks_hold(two, chunks, kind, gap, split)?;
        chunks_hold(three, chunks, kind, gap, split)?;
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
}
