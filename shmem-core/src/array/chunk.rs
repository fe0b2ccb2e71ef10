//! Chunks of arrays, as phases open them.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut, Range};

use super::elements::{ChunkIter, ChunkIterMut, ChunkRuns, ChunkRunsMut};
use super::geometry::{Geometry, strides};
use super::index::{ArrayIndex, Indices, indices, refuse};
use super::rows::{Rows, Walk};
use crate::symmetric_data::copied;

/// Place and shape of a chunk in memory.
#[derive(Debug)]
pub(super) struct ChunkLayout<T, const D: usize> {
    number: usize,
    node: Option<u32>,
    lows: [usize; D],
    highs: [usize; D],
    strides: [usize; D],
    /// Address that index 0 of the array would have.
    origin: *mut T,
    rows: Rows<T>,
}

copied! { [T, const D: usize] ChunkLayout<T, D>; }

impl<T, const D: usize> ChunkLayout<T, D> {
    /// The layout of a chunk of the array in the slot that starts at `mine`.
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
        // Stride of the dimension before the axis.
        let pitch = if axis > 0 { strides[axis - 1] } else { chunking.elements(number) };
        let rows = Rows::new(start, chunking.outer(), own[axis] * strides[axis], pitch);
        let node = geometry.nodes.get(number).copied();
        Self { number, node, lows, highs, strides, origin, rows }
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

    fn elsewhere(index: &[usize], (number, lows, highs): (usize, [usize; D], [usize; D])) -> String {
        let ranges: [_; D] = core::array::from_fn(|d| lows[d]..highs[d]);
        format!("index {index:?} is not in chunk {number}, which has the indices {ranges:?} of the array")
    }

    #[inline(always)]
    #[track_caller]
    fn find(&self, index: [usize; D]) -> *mut T {
        match self.locate(index) {
            Some(element) => element,
            None => refuse(index, (self.number, self.lows, self.highs), Self::elsewhere),
        }
    }
}

/// A chunk of an array, for reading. Indices are those of the array.
#[derive(Debug)]
pub struct ChunkRef<'x, T, const D: usize> {
    place: ChunkLayout<T, D>,
    _lent: PhantomData<&'x T>,
}

/// A chunk of an array, exclusively. Indices are those of the array.
#[derive(Debug)]
pub struct ChunkMut<'x, T, const D: usize> {
    place: ChunkLayout<T, D>,
    _lent: PhantomData<&'x mut T>,
}

// SAFETY: a `ChunkRef` is like shared references to its elements.
unsafe impl<T: Sync, const D: usize> Send for ChunkRef<'_, T, D> {}
// SAFETY: a `ChunkRef` is like shared references to its elements.
unsafe impl<T: Sync, const D: usize> Sync for ChunkRef<'_, T, D> {}
// SAFETY: a `ChunkMut` is like exclusive references to its elements.
unsafe impl<T: Send, const D: usize> Send for ChunkMut<'_, T, D> {}
// SAFETY: a shared `ChunkMut` gives shared references to its elements only.
unsafe impl<T: Sync, const D: usize> Sync for ChunkMut<'_, T, D> {}

copied! { [T, const D: usize] ChunkRef<'_, T, D>; }

impl<'x, T, const D: usize> ChunkRef<'x, T, D> {
    /// # Safety
    ///
    /// The elements at the place must be lent for `'x`.
    pub(super) unsafe fn new(place: ChunkLayout<T, D>) -> Self {
        Self { place, _lent: PhantomData }
    }
}

impl<'x, T, const D: usize> ChunkMut<'x, T, D> {
    /// # Safety
    ///
    /// The elements at the place must be lent for `'x`, to this chunk only.
    pub(super) unsafe fn new(place: ChunkLayout<T, D>) -> Self {
        Self { place, _lent: PhantomData }
    }

    /// The chunk for reading.
    pub fn view(&self) -> ChunkRef<'_, T, D> {
        // SAFETY: the elements are lent to this chunk (`new`), which is borrowed.
        unsafe { ChunkRef::new(self.place) }
    }

    /// The elements in row-major order, exclusively.
    pub fn iter_mut(&mut self) -> ChunkIterMut<'_, T> {
        // SAFETY: the elements are lent to this chunk (`new`), which is borrowed exclusively.
        unsafe { ChunkIterMut::new(Walk::new(self.place.rows)) }
    }

    /// The elements as exclusive slices of neighbours, in row-major order.
    pub fn runs_mut(&mut self) -> ChunkRunsMut<'_, T> {
        // SAFETY: the elements are lent to this chunk (`new`), which is borrowed exclusively.
        unsafe { ChunkRunsMut::new(Walk::new(self.place.rows)) }
    }

    /// The element with an index of the array, exclusively, if it is in this chunk.
    #[inline(always)]
    pub fn get_mut(&mut self, index: impl ArrayIndex<D>) -> Option<&mut T> {
        let element = self.place.locate(index.position())?;
        // SAFETY: an element of the chunk, which is lent (`new`) and borrowed exclusively.
        Some(unsafe { &mut *element })
    }

    /// All elements, if they are neighbours, exclusively.
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        let (start, length) = self.place.rows.as_run()?;
        // SAFETY: the elements of the chunk, which is lent (`new`) and borrowed exclusively.
        Some(unsafe { core::slice::from_raw_parts_mut(start, length) })
    }

    /// The elements as exclusive slices of neighbours, in row-major order, for as long as the chunk was lent.
    pub fn into_runs_mut(self) -> ChunkRunsMut<'x, T> {
        // SAFETY: the elements are lent to this chunk for `'x` (`new`), which is consumed.
        unsafe { ChunkRunsMut::new(Walk::new(self.place.rows)) }
    }
}

/// Methods of both kinds of chunks; references live for the given lifetime.
macro_rules! chunks {
    ($($name:ident $lent:lifetime;)*) => {$(
        impl<'x, T, const D: usize> $name<'x, T, D> {
            /// Number of the chunk.
            pub fn number(&self) -> usize {
                self.place.number
            }

            /// The NUMA node that the chunk belongs to, if known.
            pub fn node(&self) -> Option<u32> {
                self.place.node
            }

            /// The chunk's indices in each dimension.
            pub fn ranges(&self) -> [Range<usize>; D] {
                core::array::from_fn(|d| self.place.lows[d]..self.place.highs[d])
            }

            /// Number of elements.
            #[expect(clippy::len_without_is_empty, reason = "a chunk has at least one element")]
            pub fn len(&self) -> usize {
                self.place.rows.len()
            }

            /// The elements in row-major order.
            pub fn iter(&self) -> ChunkIter<$lent, T> {
                // SAFETY: the elements are lent for that long (`new`), and shared.
                unsafe { ChunkIter::new(Walk::new(self.place.rows)) }
            }

            /// The elements as slices of neighbours, in row-major order.
            pub fn runs(&self) -> ChunkRuns<$lent, T> {
                // SAFETY: the elements are lent for that long (`new`), and shared.
                unsafe { ChunkRuns::new(Walk::new(self.place.rows)) }
            }

            /// The element with an index of the array, if it is in this chunk.
            #[inline(always)]
            pub fn get(&self, index: impl ArrayIndex<D>) -> Option<&$lent T> {
                let element = self.place.locate(index.position())?;
                // SAFETY: an element of the chunk, which is lent for that long (`new`), and shared.
                Some(unsafe { &*element })
            }

            /// All elements, if they are neighbours.
            pub fn as_slice(&self) -> Option<&$lent [T]> {
                let (start, length) = self.place.rows.as_run()?;
                // SAFETY: the elements of the chunk, which are lent for that long (`new`), and shared.
                Some(unsafe { core::slice::from_raw_parts(start, length) })
            }

            /// First element, lengths, and strides in elements: the parts of another library's view.
            #[doc(hidden)]
            pub fn __layout(&self) -> (*mut T, [usize; D], [usize; D]) {
                let ChunkLayout { lows, highs, strides, .. } = self.place;
                (self.place.find(lows), core::array::from_fn(|d| highs[d] - lows[d]), strides)
            }
        }

        indices!([T] $name []: |this| this.ranges());

        impl<T, I: ArrayIndex<D>, const D: usize> Index<I> for $name<'_, T, D> {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, index: I) -> &T {
                let element = self.place.find(index.position());
                // SAFETY: an element of the chunk, which is lent (`new`) and borrowed.
                unsafe { &*element }
            }
        }
    )*};
}
chunks! {
    ChunkRef 'x;
    ChunkMut '_;
}

impl<T, I: ArrayIndex<D>, const D: usize> IndexMut<I> for ChunkMut<'_, T, D> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, index: I) -> &mut T {
        let element = self.place.find(index.position());
        // SAFETY: an element of the chunk, which is lent (`new`) and borrowed exclusively.
        unsafe { &mut *element }
    }
}

impl<'x, T, const D: usize> IntoIterator for ChunkRef<'x, T, D> {
    type Item = &'x T;
    type IntoIter = ChunkIter<'x, T>;

    fn into_iter(self) -> ChunkIter<'x, T> {
        self.iter()
    }
}

impl<'x, T, const D: usize> IntoIterator for ChunkMut<'x, T, D> {
    type Item = &'x mut T;
    type IntoIter = ChunkIterMut<'x, T>;

    fn into_iter(self) -> ChunkIterMut<'x, T> {
        // SAFETY: the elements are lent to this chunk for `'x` (`new`), which is consumed.
        unsafe { ChunkIterMut::new(Walk::new(self.place.rows)) }
    }
}
