//! Views of chunks of arrays.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut, Range};

use super::access::{exclusive, indices, shared};
use super::geometry::{Geometry, strides};
use super::index::{ArrayIndex, refuse};
use super::iterators::{Elements, Indices, Route as _, Rows, Run, Slices};
use crate::symmetric_data::copied;

/// A read-only view of a chunk. Its elements have the indices that they have in the array.
#[derive(Debug)]
pub struct ChunkRef<'x, T, const D: usize> {
    place: ChunkLayout<T, D>,
    _lent: PhantomData<&'x T>,
}

/// An exclusive view of a chunk. Its elements have the indices that they have in the array.
#[derive(Debug)]
pub struct ChunkMut<'x, T, const D: usize> {
    place: ChunkLayout<T, D>,
    _lent: PhantomData<&'x mut T>,
}

copied! { [T, const D: usize] ChunkRef<'_, T, D>; }

shared! {
    [const D: usize] ChunkRef<'x, T, D>: Sync, ChunkLayout<T, D>, Rows<T>, 'x, as_slice;
    [const D: usize] ChunkMut<'x, T, D>: Send, ChunkLayout<T, D>, Rows<T>, '_, as_slice;
}
exclusive! { [const D: usize] ChunkMut<'x, T, D>: Rows<T>, as_mut_slice, locate, find; }
indices! { ChunkRef; ChunkMut; }

macro_rules! chunks {
    ($($name:ident)*) => {$(
        impl<T, const D: usize> $name<'_, T, D> {
            /// Number of the chunk in the array, from 0.
            pub fn number(&self) -> usize {
                self.place.number
            }

            /// The NUMA node that the chunk belongs to, if known.
            pub fn node(&self) -> Option<u32> {
                self.place.node
            }

            /// The chunk's indices in each dimension.
            pub fn ranges(&self) -> [Range<usize>; D] {
                self.place.ranges()
            }

            /// Address of the first element, lengths, and strides in elements, from which another library (ndarray) makes a view.
            #[doc(hidden)]
            pub fn __layout(&self) -> (*mut T, [usize; D], [usize; D]) {
                let ChunkLayout { lows, strides, .. } = self.place;
                (self.place.find(lows), self.ranges().map(|range| range.len()), strides)
            }
        }
    )*};
}
chunks!(ChunkRef ChunkMut);

impl<'x, T, const D: usize> ChunkMut<'x, T, D> {
    /// Borrows the chunk as a read-only view.
    pub fn view(&self) -> ChunkRef<'_, T, D> {
        // SAFETY: this view alone may access its elements (caller of `new`), and this view is borrowed for as long as the new view.
        unsafe { ChunkRef::new(self.place) }
    }

    /// The elements as contiguous mutable slices, in row-major order. The slices live for `'x`, so they may outlive this view.
    pub fn into_runs_mut(self) -> Slices<&'x mut T, Rows<T>> {
        // SAFETY: this view alone may access its elements for `'x` (caller of `new`), and this view is consumed.
        unsafe { Slices::new(self.place.route()) }
    }
}

impl<'x, T, const D: usize> IntoIterator for ChunkRef<'x, T, D> {
    type Item = &'x T;
    type IntoIter = Elements<&'x T, Rows<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'x, T, const D: usize> IntoIterator for ChunkMut<'x, T, D> {
    type Item = &'x mut T;
    type IntoIter = Elements<&'x mut T, Rows<T>>;

    fn into_iter(self) -> Self::IntoIter {
        // SAFETY: this view alone may access its elements for `'x` (caller of `new`), and this view is consumed.
        unsafe { Elements::new(self.place.route()) }
    }
}

/// Index ranges, address and strides of a chunk.
#[derive(Debug)]
pub(super) struct ChunkLayout<T, const D: usize> {
    number: usize,
    node: Option<u32>,
    lows: [usize; D],
    highs: [usize; D],
    strides: [usize; D],
    /// Address that the element with index 0 in every dimension would have by the chunk's strides.
    origin: *mut T,
    rows: Rows<T>,
}

copied! { [T, const D: usize] ChunkLayout<T, D>; }

impl<T, const D: usize> ChunkLayout<T, D> {
    /// Returns the layout of chunk `number` of the array, in the PE's slot that starts at `mine`.
    #[track_caller]
    pub(super) fn new(mine: *mut u8, geometry: &Geometry<D>, number: usize) -> Self {
        let chunking = &geometry.chunking;
        let (axis, range) = (chunking.axis(), chunking.range(number));
        let (lows, highs) = (range.each_ref().map(|range| range.start), range.map(|range| range.end));
        let own: [usize; D] = core::array::from_fn(|d| highs[d] - lows[d]);
        let one = geometry.kind.is_one_range();
        let strides = strides(if one { chunking.shape() } else { own });
        let before = lows[axis] * strides[axis];
        let (start, origin) = if one {
            let array = mine.wrapping_add(geometry.offset()).cast::<T>();
            (array.wrapping_add(before), array)
        } else {
            let start = mine.wrapping_add(geometry.parts[number].offset).cast::<T>();
            (start, start.wrapping_sub(before))
        };
        let pitch = if axis > 0 { strides[axis - 1] } else { chunking.elements(number) };
        let rows = Rows::new(start, chunking.outer(), own[axis] * strides[axis], pitch);
        let node = geometry.nodes.get(number).copied();
        Self { number, node, lows, highs, strides, origin, rows }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn ranges(&self) -> [Range<usize>; D] {
        core::array::from_fn(|d| self.lows[d]..self.highs[d])
    }

    fn route(&self) -> Rows<T> {
        self.rows
    }

    fn run(&self) -> Option<Run<T>> {
        self.rows.as_run()
    }

    #[inline(always)]
    fn locate(&self, index: [usize; D]) -> Option<*mut T> {
        let mut number = index[D - 1];
        for (d, &index) in index.iter().enumerate() {
            if index < self.lows[d] || index >= self.highs[d] {
                return None;
            }
            if d < D - 1 {
                number = number.wrapping_add(index.wrapping_mul(self.strides[d]));
            }
        }
        Some(self.origin.wrapping_add(number))
    }

    #[inline(always)]
    #[track_caller]
    fn find(&self, index: [usize; D]) -> *mut T {
        match self.locate(index) {
            Some(element) => element,
            None => refuse(index, (self.number, self.lows, self.highs), Self::elsewhere),
        }
    }

    fn elsewhere(index: &[usize], (number, lows, highs): (usize, [usize; D], [usize; D])) -> String {
        let ranges: [_; D] = core::array::from_fn(|d| lows[d]..highs[d]);
        format!("index {index:?} is not in chunk {number}, which has the indices {ranges:?} of the array")
    }
}
