//! Views of arrays, through which closures of `World::local` and `World::frozen` access elements.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut, Range};
use core::slice::{ChunksExact, ChunksExactMut};

use super::access::{exclusive, indices, shared};
use super::chunk::{ChunkLayout, ChunkMut, ChunkRef};
use super::chunking::Chunking;
use super::element_address::Addressing;
use super::geometry::Geometry;
use super::index::{ArrayIndex, refuse};
use super::iterators::{ArrayRoute, Elements, Indices, Route as _, Run, Slices};
use super::storage::{Chosen, Contiguous, Storage, StorageKind};
use crate::symmetric_data::copied;
use crate::text::counted;

/// A read-only view of an array, which `World::frozen` passes to its closure.
pub struct ArrayRef<'x, T, const D: usize = 1, S: Storage = Chosen> {
    place: ArrayLayout<'x, T, D, S>,
    _lent: PhantomData<&'x T>,
}

/// An exclusive view of an array, which `World::local` passes to its closure.
///
/// With a storage of one range, a loop over all indices is as fast as a loop over a slice. With [`Multi`](super::Multi), each write
/// by index costs a comparison with the chunk of the last write, and each read by index a look-up in a table. Loops over elements
/// ([`iter_mut`](Self::iter_mut)), runs ([`runs_mut`](Self::runs_mut)) and chunks ([`chunks_mut`](Self::chunks_mut)) do not cost
/// this.
pub struct ArrayMut<'x, T, const D: usize = 1, S: Storage = Chosen> {
    place: ArrayLayout<'x, T, D, S>,
    _lent: PhantomData<&'x mut T>,
}

copied! { [T, const D: usize, S: Storage] ArrayRef<'_, T, D, S>; }

shared! {
    [const D: usize, S: Storage] ArrayRef<'x, T, D, S>: Sync, ArrayLayout<'x, T, D, S>, ArrayRoute<'x, T, D, S>, 'x, try_as_slice;
    [const D: usize, S: Storage] ArrayMut<'x, T, D, S>: Send, ArrayLayout<'x, T, D, S>, ArrayRoute<'x, T, D, S>, '_, try_as_slice;
}
exclusive! {
    [const D: usize, S: Storage] ArrayMut<'x, T, D, S>: ArrayRoute<'x, T, D, S>, try_as_mut_slice, locate_cached, find_cached;
}
indices! { ArrayRef S; ArrayMut S; }

/// Methods of both views of arrays. The references that they return live for `$lent`.
macro_rules! views {
    ($($name:ident $lent:lifetime;)*) => {$(
        impl<'x, T, const D: usize, S: Storage> $name<'x, T, D, S> {
            /// Lengths of the dimensions.
            #[inline(always)]
            pub fn shape(&self) -> [usize; D] {
                self.place.shape
            }

            /// The division of the array into chunks.
            pub fn chunking(&self) -> &'x Chunking<D> {
                &self.place.geometry.chunking
            }

            /// The storage of the array, as a value.
            pub fn kind(&self) -> StorageKind {
                self.place.geometry.kind
            }

            /// NUMA node of each chunk; empty if the nodes are not known.
            pub fn nodes(&self) -> &'x [u32] {
                &self.place.geometry.nodes
            }

            /// Returns a read-only view of chunk `number`.
            ///
            /// # Panics
            ///
            /// If there is no such chunk.
            #[track_caller]
            pub fn chunk(&self, number: usize) -> ChunkRef<$lent, T, D> {
                let place = ChunkLayout::new(self.place.mine, self.place.geometry, number);
                // SAFETY: nothing writes the elements for `$lent` (caller of `new`; an exclusive view is borrowed for that long).
                unsafe { ChunkRef::new(place) }
            }

            /// All elements as one slice, in row-major order.
            #[inline(always)]
            pub fn as_slice(&self) -> &$lent [T]
            where
                S: Contiguous,
            {
                self.try_as_slice().unwrap_or_else(|| unreachable!("the storage is one range"))
            }

            /// The elements whose first index is `i`: a row of an array of two dimensions, a plane of three.
            ///
            /// # Panics
            ///
            /// If the index is beyond the end.
            #[inline(always)]
            #[track_caller]
            pub fn row(&self, i: usize) -> &$lent [T]
            where
                S: Contiguous,
            {
                &self.as_slice()[self.place.row(i)]
            }

            /// The elements as a slice per first index, ascending: the rows of an array of two dimensions, the planes of three.
            pub fn rows(&self) -> ChunksExact<$lent, T>
            where
                S: Contiguous,
            {
                self.as_slice().chunks_exact(self.place.row_len())
            }
        }
    )*};
}
views! {
    ArrayRef 'x;
    ArrayMut '_;
}

impl<'x, T, const D: usize, S: Storage> ArrayRef<'x, T, D, S> {
    /// Read-only views of all chunks.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ChunkRef<'x, T, D>> + Clone + use<'x, T, D, S> {
        let view = *self;
        (0..self.chunking().chunks()).map(move |number| view.chunk(number))
    }
}

impl<T, const D: usize, S: Storage> ArrayMut<'_, T, D, S> {
    /// Borrows the array as a read-only view.
    #[inline(always)]
    pub fn view(&self) -> ArrayRef<'_, T, D, S> {
        // SAFETY: this view alone may access its elements (caller of `new`), and this view is borrowed for as long as the new view.
        unsafe { ArrayRef::new(ArrayLayout::new(self.place.mine, self.place.geometry)) }
    }

    /// Borrows the array as an exclusive view to pass by value. Such a view stays in registers, a view behind a reference does not.
    #[inline(always)]
    pub fn view_mut(&mut self) -> ArrayMut<'_, T, D, S> {
        // SAFETY: this view alone may access its elements (caller of `new`), and is borrowed exclusively while the new one lives.
        unsafe { ArrayMut::new(ArrayLayout::new(self.place.mine, self.place.geometry)) }
    }

    /// Read-only views of all chunks.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ChunkRef<'_, T, D>> + Clone {
        self.view().chunks()
    }

    /// Exclusive views of all chunks.
    pub fn chunks_mut(&mut self) -> impl ExactSizeIterator<Item = ChunkMut<'_, T, D>> {
        let ArrayLayout { mine, geometry, .. } = self.place;
        (0..geometry.chunking.chunks()).map(move |number| {
            let place = ChunkLayout::new(mine, geometry, number);
            // SAFETY: this array view alone may access its elements (caller of `new`), and is borrowed exclusively for as long as
            // the chunk views. Chunks have no element in common, and each chunk is yielded once.
            unsafe { ChunkMut::new(place) }
        })
    }

    /// Sets every element to the same value.
    pub fn fill(&mut self, value: T)
    where
        T: Copy,
    {
        self.runs_mut().for_each(|run| run.fill(value));
    }

    /// All elements as one mutable slice, in row-major order.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T]
    where
        S: Contiguous,
    {
        self.try_as_mut_slice().unwrap_or_else(|| unreachable!("the storage is one range"))
    }

    /// The elements whose first index is `i`, mutably.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline(always)]
    #[track_caller]
    pub fn row_mut(&mut self, i: usize) -> &mut [T]
    where
        S: Contiguous,
    {
        let row = self.place.row(i);
        &mut self.as_mut_slice()[row]
    }

    /// The elements as a mutable slice per first index, ascending.
    pub fn rows_mut(&mut self) -> ChunksExactMut<'_, T>
    where
        S: Contiguous,
    {
        let row = self.place.row_len();
        self.as_mut_slice().chunks_exact_mut(row)
    }
}

impl<'x, T, const D: usize, S: Storage> IntoIterator for ArrayRef<'x, T, D, S> {
    type Item = &'x T;
    type IntoIter = Elements<&'x T, ArrayRoute<'x, T, D, S>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'v, 'x, T, const D: usize, S: Storage> IntoIterator for &'v mut ArrayMut<'x, T, D, S> {
    type Item = &'v mut T;
    type IntoIter = Elements<&'v mut T, ArrayRoute<'x, T, D, S>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<'v, 'x, T, const D: usize, S: Storage> IntoIterator for &'v ArrayMut<'x, T, D, S> {
    type Item = &'v T;
    type IntoIter = Elements<&'v T, ArrayRoute<'x, T, D, S>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Computes addresses of an array's elements in the PE's slot that starts at `mine`.
pub(super) struct ArrayLayout<'x, T, const D: usize, S: Storage> {
    shape: [usize; D],
    addressing: S::Addressing<'x, D>,
    geometry: &'x Geometry<D>,
    mine: *mut u8,
    _elements: PhantomData<*mut T>,
}

copied! { [T, const D: usize, S: Storage] ArrayLayout<'_, T, D, S>; }

impl<'x, T, const D: usize, S: Storage> ArrayLayout<'x, T, D, S> {
    #[inline(always)]
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let shape = geometry.chunking.shape();
        Self { shape, addressing: Addressing::new(mine, geometry), geometry, mine, _elements: PhantomData }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    #[inline(always)]
    fn ranges(&self) -> [Range<usize>; D] {
        self.shape.map(|length| 0..length)
    }

    #[inline(always)]
    fn row_len(&self) -> usize {
        self.shape[1..].iter().product()
    }

    /// Returns the element numbers, in row-major order, of the elements whose first index is `i`.
    #[inline(always)]
    #[track_caller]
    fn row(&self, i: usize) -> Range<usize> {
        if i >= self.shape[0] {
            no_row(i, self.shape[0]);
        }
        i * self.row_len()..(i + 1) * self.row_len()
    }

    #[inline(always)]
    fn route(&self) -> ArrayRoute<'x, T, D, S> {
        ArrayRoute::new(self.mine, self.geometry)
    }

    #[inline(always)]
    fn run(&self) -> Option<Run<T>> {
        let mut route = self.route();
        route.next().filter(|_| route.runs() == 0)
    }

    #[inline(always)]
    fn locate(&self, index: [usize; D]) -> Option<*mut T> {
        self.addressing.locate(&self.shape, index)
    }

    /// Returns the address of the element with an index, if there is one, and caches its chunk.
    #[inline(always)]
    fn locate_cached(&mut self, index: [usize; D]) -> Option<*mut T> {
        self.addressing.locate_cached(&self.shape, index)
    }

    #[inline(always)]
    #[track_caller]
    fn find(&self, index: [usize; D]) -> *mut T {
        match self.locate(index) {
            Some(element) => element,
            None => refuse(index, self.shape, Self::beyond),
        }
    }

    /// Returns the address of the element with an index, and caches its chunk. Panics if there is no such element.
    #[inline(always)]
    #[track_caller]
    fn find_cached(&mut self, index: [usize; D]) -> *mut T {
        match self.locate_cached(index) {
            Some(element) => element,
            None => refuse(index, self.shape, Self::beyond),
        }
    }

    fn beyond(index: &[usize], shape: [usize; D]) -> String {
        match (index, shape.as_slice()) {
            ([index], &[length]) => {
                let elements = counted(length, "element");
                format!("index {index} is beyond the end: the array has {elements} (0..{length})")
            }
            _ => format!("index {index:?} is beyond the end: the array has the shape {shape:?}"),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_row(row: usize, rows: usize) -> ! {
    panic!("row {row} is beyond the end: the array has {rows} (0..{rows})")
}
