//! Arrays in ordinary memory, against a plain function from indices to values.

mod chunks;
mod views;

use core::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;

use crate::array::{ArrayRange, Chunking, NumaArray, Storage, StorageKind};

const GAP: u32 = u32::MAX;

/// An array and the memory of one place. The parts lie in another order than the chunks, with gaps.
struct Model<const D: usize, S: Storage> {
    array: NumaArray<u32, D, S>,
    place: Vec<u32>,
}

impl<const D: usize, S: Storage> Model<D, S> {
    /// An array of which each element is its number in row-major order. Chunk `k` belongs to node `k % 3`.
    fn numbered(shape: [usize; D], chunks: usize, kind: StorageKind, gap: usize) -> Self {
        let chunking = Chunking::at_most(shape, chunks).unwrap();
        let sizes: Vec<usize> = match kind {
            StorageKind::Multi => (0..chunking.chunks()).map(|chunk| chunking.elements(chunk)).collect(),
            _ => vec![chunking.len()],
        };
        let mut place = vec![GAP; gap];
        let mut list: Vec<ArrayRange> = Vec::new();
        for (chunk, elements) in sizes.into_iter().enumerate().rev() {
            list.push(ArrayRange { segment: 1, offset: size_of_val(&place[..]), elements });
            if kind.is_one_range() {
                place.extend((0..elements).map(|number| number as u32));
            } else {
                let mine = all(chunking.range(chunk));
                place.extend(mine.into_iter().map(|index| number(shape, index)));
            }
            place.extend(vec![GAP; gap]);
        }
        list.reverse();
        let nodes = (0..chunking.chunks()).map(|chunk| chunk as u32 % 3).collect();
        // SAFETY: `opened` and `frozen` open it in `place` only, where the parts are, disjoint.
        let array = unsafe { NumaArray::__new(chunking, kind, list, nodes, vec![7], Arc::default()) };
        Self { array, place }
    }

    /// Whether the gaps are intact and each number is there once.
    fn is_whole(&self) -> bool {
        let mut numbers: Vec<u32> = self.place.iter().copied().filter(|&value| value != GAP).collect();
        numbers.sort_unstable();
        numbers.into_iter().eq(0..self.array.len() as u32)
    }
}

/// All indices in these ranges, in row-major order.
fn all<const D: usize>(ranges: [Range<usize>; D]) -> Vec<[usize; D]> {
    let mut found = vec![[0; D]];
    for (d, range) in ranges.into_iter().enumerate() {
        let with = |index: [usize; D], i| {
            let mut index = index;
            index[d] = i;
            index
        };
        found = found.iter().flat_map(|&index| range.clone().map(move |i| with(index, i))).collect();
    }
    found
}

/// The number of an element in row-major order.
fn number<const D: usize>(shape: [usize; D], index: [usize; D]) -> u32 {
    index.into_iter().zip(shape).fold(0, |number, (i, length)| number * length + i) as u32
}

/// One kind of one range, and the other.
fn kinds() -> impl Strategy<Value = StorageKind> {
    prop_oneof![Just(StorageKind::Separate), Just(StorageKind::Multi)]
}

/// Fewer cases where each takes long.
fn config() -> ProptestConfig {
    let cases = if cfg!(miri) { 1 } else { 300 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

macro_rules! opened {
    ($model:ident) => {{
        let mine = $model.place.as_mut_ptr().cast::<u8>();
        // SAFETY: the array's parts lie in the place, which is borrowed here and not touched otherwise
        // until the view's last use, and the model outlives it.
        unsafe { crate::object::Objects::open(&$model.array, mine) }
    }};
}

macro_rules! frozen {
    ($model:ident) => {{
        let mine = $model.place.as_ptr().cast_mut().cast::<u8>();
        // SAFETY: the array's parts lie in the place, which is borrowed here and not written until the view's
        // last use, and the model outlives it.
        unsafe { crate::object::Objects::freeze(&$model.array, mine) }
    }};
}

/// Reads all elements of a view, each of which is its number, in each way.
macro_rules! reads {
    ($view:expr, $indices:expr, $shape:expr) => {{
        let (view, indices) = (&$view, $indices);
        let numbers: Vec<u32> = indices.iter().map(|&index| number($shape, index)).collect();
        prop_assert_eq!((view.len(), view.iter().len()), (numbers.len(), numbers.len()));
        for index in all($shape.map(|length| 0..length + 1)) {
            let value = indices.contains(&index).then(|| number($shape, index));
            prop_assert_eq!(view.get(index).copied(), value);
            prop_assert!(value.is_none_or(|value| view[index] == value));
        }
        prop_assert!(view.iter().eq(&numbers));
        prop_assert!(view.runs().flatten().eq(&numbers));
        prop_assert_eq!(view.runs().len(), view.runs().count());
        prop_assert_eq!(view.iter().fold(7, |sum, value| sum + value), 7 + numbers.iter().sum::<u32>());
        // However far the iterator was used, it has the length that it says.
        let mut rest = view.iter();
        for used in 1..=numbers.len() {
            prop_assert_eq!((rest.next(), rest.len()), (Some(&numbers[used - 1]), numbers.len() - used));
            prop_assert!(used % 3 > 0 || rest.clone().eq(&numbers[used..]));
            prop_assert_eq!(rest.clone().fold(0, |count, _| count + 1), numbers.len() - used);
        }
        prop_assert_eq!(rest.next(), None);
    }};
}

/// Writes `last - number` to all elements of a view, in each way.
macro_rules! writes {
    ($view:expr, $indices:expr, $shape:expr, $last:expr) => {{
        for index in $indices {
            $view[index] = number($shape, index);
            *$view.get_mut(index).unwrap() ^= 1;
            prop_assert_eq!($view.get(index), Some(&(number($shape, index) ^ 1)));
            $view[index] ^= 1;
        }
        for element in $view.iter_mut() {
            *element = $last - *element;
        }
        $view.iter_mut().for_each(|element| *element = $last - *element);
        $view.runs_mut().flatten().for_each(|element| *element = $last - *element);
    }};
}

use {frozen, opened, reads, writes};
