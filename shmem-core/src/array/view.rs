//! Views of arrays, which phases open.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut, Range};
use core::slice::{ChunksExact, ChunksExactMut};

use super::address::Addressing;
use super::chunk::{ChunkLayout, ChunkMut, ChunkRef};
use super::chunking::Chunking;
use super::elements::{Iter, IterMut, Runs, RunsMut};
use super::geometry::Geometry;
use super::index::{ArrayIndex, Indices, indices, refuse};
use super::kind::StorageKind;
use super::rows::{Route as _, Run, Tour};
use super::storage::{Chosen, Contiguous, Storage};
use crate::symmetric_data::copied;
use crate::text::counted;

/// An array, for reading: what `frozen` opens.
pub struct ArrayRef<'x, T, const D: usize = 1, S: Storage = Chosen> {
    field: Field<'x, T, D, S>,
    _lent: PhantomData<&'x T>,
}

/// An array, exclusively: what `local` opens.
///
/// With a storage of one range, a loop over all indices is as fast as one over a slice. With [`Multi`](super::Multi),
/// writing by index costs a comparison per element, and reading a look-up in a table; loops over elements
/// ([`iter_mut`](Self::iter_mut)), runs ([`runs_mut`](Self::runs_mut)) and chunks ([`chunks_mut`](Self::chunks_mut)) do
/// not.
pub struct ArrayMut<'x, T, const D: usize = 1, S: Storage = Chosen> {
    field: Field<'x, T, D, S>,
    _lent: PhantomData<&'x mut T>,
}

// SAFETY: an `ArrayRef` is like shared references to its elements.
unsafe impl<T: Sync, const D: usize, S: Storage> Send for ArrayRef<'_, T, D, S> {}
// SAFETY: an `ArrayRef` is like shared references to its elements.
unsafe impl<T: Sync, const D: usize, S: Storage> Sync for ArrayRef<'_, T, D, S> {}
// SAFETY: an `ArrayMut` is like exclusive references to its elements.
unsafe impl<T: Send, const D: usize, S: Storage> Send for ArrayMut<'_, T, D, S> {}
// SAFETY: a shared `ArrayMut` gives shared references to its elements only.
unsafe impl<T: Sync, const D: usize, S: Storage> Sync for ArrayMut<'_, T, D, S> {}

copied! { [T, const D: usize, S: Storage] ArrayRef<'_, T, D, S>; }

/// Methods of both views; references live for the given lifetime.
macro_rules! views {
    ($($name:ident $lent:lifetime;)*) => {$(
        impl<'x, T, const D: usize, S: Storage> $name<'x, T, D, S> {
            /// # Safety
            ///
            /// From `mine` on, the start of a slot, the parts of the geometry must hold aligned, initialised elements
            /// of type `T`, which nothing else accesses for `'x` (for a view that only reads: nothing writes).
            #[inline(always)]
            pub(super) unsafe fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
                Self { field: Field::new(mine, geometry), _lent: PhantomData }
            }

            /// Lengths of the dimensions.
            #[inline(always)]
            pub fn shape(&self) -> [usize; D] {
                self.field.shape
            }

            /// Number of elements.
            #[inline(always)]
            pub fn len(&self) -> usize {
                self.field.shape.iter().product()
            }

            /// Whether it has no elements: never.
            pub fn is_empty(&self) -> bool {
                false
            }

            /// Which elements belong to which chunk.
            pub fn chunking(&self) -> &'x Chunking<D> {
                &self.field.geometry.chunking
            }

            /// How the array is stored.
            pub fn kind(&self) -> StorageKind {
                self.field.geometry.kind
            }

            /// The node that each chunk belongs to; empty: not known.
            pub fn nodes(&self) -> &'x [u32] {
                &self.field.geometry.nodes
            }

            /// The elements in row-major order.
            #[inline(always)]
            pub fn iter(&self) -> Iter<$lent, T, D, S> {
                // SAFETY: the elements are lent for that long (`new`), and shared.
                unsafe { Iter::new(self.field.tour()) }
            }

            /// The elements as slices of neighbours, in row-major order.
            #[inline(always)]
            pub fn runs(&self) -> Runs<$lent, T, D, S> {
                // SAFETY: the elements are lent for that long (`new`), and shared.
                unsafe { Runs::new(self.field.tour()) }
            }

            /// The element with this index, if there is one.
            #[inline(always)]
            pub fn get(&self, index: impl ArrayIndex<D>) -> Option<&$lent T> {
                let element = self.field.locate(index.position())?;
                // SAFETY: an element of the array, which is lent for that long (`new`), and shared.
                Some(unsafe { &*element })
            }

            /// A chunk.
            ///
            /// # Panics
            ///
            /// If there is no such chunk.
            #[track_caller]
            pub fn chunk(&self, number: usize) -> ChunkRef<$lent, T, D> {
                let place = ChunkLayout::new(self.field.mine, self.field.geometry, number);
                // SAFETY: the elements are lent for that long (`new`), and shared.
                unsafe { ChunkRef::new(place) }
            }

            /// All elements, if they are neighbours, whatever the storage.
            pub fn try_as_slice(&self) -> Option<&$lent [T]> {
                let (start, length) = self.field.run()?;
                // SAFETY: the elements of the array, which are lent for that long (`new`), and shared.
                Some(unsafe { core::slice::from_raw_parts(start, length) })
            }

            /// All elements, in row-major order.
            #[inline(always)]
            pub fn as_slice(&self) -> &$lent [T]
            where
                S: Contiguous,
            {
                self.try_as_slice().unwrap_or_else(|| unreachable!("the storage is one range"))
            }

            /// The elements whose first index is `i`: a row of two dimensions, a plane of three.
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
                &self.as_slice()[self.field.row(i)]
            }

            /// The elements by their first index, in order: rows of two dimensions, planes of three.
            pub fn rows(&self) -> ChunksExact<$lent, T>
            where
                S: Contiguous,
            {
                self.as_slice().chunks_exact(self.field.row_len())
            }
        }

        indices!([T, S: Storage] $name [, S]: |this| this.field.shape.map(|length| 0..length));

        impl<T, I: ArrayIndex<D>, const D: usize, S: Storage> Index<I> for $name<'_, T, D, S> {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, index: I) -> &T {
                let index = index.position();
                let Some(element) = self.field.locate(index) else {
                    refuse(index, self.field.shape, Field::<T, D, S>::beyond)
                };
                // SAFETY: an element of the array, which is lent (`new`) and borrowed.
                unsafe { &*element }
            }
        }

        impl<T: fmt::Debug, const D: usize, S: Storage> fmt::Debug for $name<'_, T, D, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (shape, kind) = (self.field.shape, self.kind());
                let chunks = self.chunking().chunks();
                write!(f, concat!(stringify!($name), " ({:?}, {}, {} chunks)"), shape, kind, chunks)
            }
        }
    )*};
}
views! {
    ArrayRef 'x;
    ArrayMut '_;
}

impl<'x, T, const D: usize, S: Storage> ArrayRef<'x, T, D, S> {
    /// All chunks.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ChunkRef<'x, T, D>> + Clone + use<'x, T, D, S> {
        let view = *self;
        (0..self.chunking().chunks()).map(move |number| view.chunk(number))
    }
}

impl<T, const D: usize, S: Storage> ArrayMut<'_, T, D, S> {
    /// The array for reading.
    #[inline(always)]
    pub fn view(&self) -> ArrayRef<'_, T, D, S> {
        // SAFETY: the elements are lent to this view (`new`), which is borrowed.
        unsafe { ArrayRef::new(self.field.mine, self.field.geometry) }
    }

    /// A view to pass to a function by value: then it stays in registers, which a reference to this view cannot.
    #[inline(always)]
    pub fn view_mut(&mut self) -> ArrayMut<'_, T, D, S> {
        // SAFETY: the elements are lent to this view (`new`), which is borrowed exclusively.
        unsafe { ArrayMut::new(self.field.mine, self.field.geometry) }
    }

    /// The elements in row-major order, exclusively.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> IterMut<'_, T, D, S> {
        // SAFETY: the elements are lent to this view (`new`), which is borrowed exclusively.
        unsafe { IterMut::new(self.field.tour()) }
    }

    /// The elements as exclusive slices of neighbours, in row-major order.
    #[inline(always)]
    pub fn runs_mut(&mut self) -> RunsMut<'_, T, D, S> {
        // SAFETY: the elements are lent to this view (`new`), which is borrowed exclusively.
        unsafe { RunsMut::new(self.field.tour()) }
    }

    /// The element with this index, exclusively, if there is one.
    #[inline(always)]
    pub fn get_mut(&mut self, index: impl ArrayIndex<D>) -> Option<&mut T> {
        let element = self.field.locate_near(index.position())?;
        // SAFETY: an element of the array, which is lent (`new`) and borrowed exclusively.
        Some(unsafe { &mut *element })
    }

    /// A chunk, exclusively.
    ///
    /// # Panics
    ///
    /// If there is no such chunk.
    #[track_caller]
    pub fn chunk_mut(&mut self, number: usize) -> ChunkMut<'_, T, D> {
        let place = ChunkLayout::new(self.field.mine, self.field.geometry, number);
        // SAFETY: the elements are lent to this view (`new`), which is borrowed exclusively.
        unsafe { ChunkMut::new(place) }
    }

    /// All chunks.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ChunkRef<'_, T, D>> + Clone {
        self.view().chunks()
    }

    /// All chunks, exclusively.
    pub fn chunks_mut(&mut self) -> impl ExactSizeIterator<Item = ChunkMut<'_, T, D>> {
        let Field { mine, geometry, .. } = self.field;
        (0..geometry.chunking.chunks()).map(move |number| {
            let place = ChunkLayout::new(mine, geometry, number);
            // SAFETY: the elements are lent to this view (`new`), which is borrowed exclusively for as long
            // as the chunks are; they have no element in common, and each is given out once.
            unsafe { ChunkMut::new(place) }
        })
    }

    /// All elements, if they are neighbours, exclusively, whatever the storage.
    pub fn try_as_mut_slice(&mut self) -> Option<&mut [T]> {
        let (start, length) = self.field.run()?;
        // SAFETY: the elements of the array, which is lent (`new`) and borrowed exclusively.
        Some(unsafe { core::slice::from_raw_parts_mut(start, length) })
    }

    /// Gives every element the same value.
    pub fn fill(&mut self, value: T)
    where
        T: Copy,
    {
        self.runs_mut().for_each(|run| run.fill(value));
    }

    /// All elements, in row-major order, exclusively.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T]
    where
        S: Contiguous,
    {
        self.try_as_mut_slice().unwrap_or_else(|| unreachable!("the storage is one range"))
    }

    /// The elements whose first index is `i`, exclusively.
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
        let row = self.field.row(i);
        &mut self.as_mut_slice()[row]
    }

    /// The elements by their first index, in order, exclusively.
    pub fn rows_mut(&mut self) -> ChunksExactMut<'_, T>
    where
        S: Contiguous,
    {
        let row = self.field.row_len();
        self.as_mut_slice().chunks_exact_mut(row)
    }
}

impl<T, I: ArrayIndex<D>, const D: usize, S: Storage> IndexMut<I> for ArrayMut<'_, T, D, S> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, index: I) -> &mut T {
        let index = index.position();
        let Some(element) = self.field.locate_near(index) else {
            refuse(index, self.field.shape, Field::<T, D, S>::beyond)
        };
        // SAFETY: an element of the array, which is lent (`new`) and borrowed exclusively.
        unsafe { &mut *element }
    }
}

impl<'x, T, const D: usize, S: Storage> IntoIterator for ArrayRef<'x, T, D, S> {
    type Item = &'x T;
    type IntoIter = Iter<'x, T, D, S>;

    fn into_iter(self) -> Iter<'x, T, D, S> {
        self.iter()
    }
}

impl<'x, T, const D: usize, S: Storage> IntoIterator for &'x mut ArrayMut<'_, T, D, S> {
    type Item = &'x mut T;
    type IntoIter = IterMut<'x, T, D, S>;

    fn into_iter(self) -> IterMut<'x, T, D, S> {
        self.iter_mut()
    }
}

impl<'x, T, const D: usize, S: Storage> IntoIterator for &'x ArrayMut<'_, T, D, S> {
    type Item = &'x T;
    type IntoIter = Iter<'x, T, D, S>;

    fn into_iter(self) -> Iter<'x, T, D, S> {
        self.iter()
    }
}

pub(super) struct Field<'x, T, const D: usize, S: Storage> {
    pub(super) shape: [usize; D],
    addressing: S::Addressing<'x, D>,
    pub(super) geometry: &'x Geometry<D>,
    pub(super) mine: *mut u8,
    _elements: PhantomData<*mut T>,
}

copied! { [T, const D: usize, S: Storage] Field<'_, T, D, S>; }

impl<'x, T, const D: usize, S: Storage> Field<'x, T, D, S> {
    #[inline(always)]
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let shape = geometry.chunking.shape();
        Self { shape, addressing: Addressing::new(mine, geometry), geometry, mine, _elements: PhantomData }
    }

    pub(super) fn beyond(index: &[usize], shape: [usize; D]) -> String {
        match (index, shape.as_slice()) {
            ([index], &[length]) => {
                let elements = counted(length, "element");
                format!("index {index} is beyond the end: the array has {elements} (0..{length})")
            }
            _ => format!("index {index:?} is beyond the end: the array has the shape {shape:?}"),
        }
    }

    /// Number of elements that have a first index in common.
    #[inline(always)]
    pub(super) fn row_len(&self) -> usize {
        self.shape[1..].iter().product()
    }

    /// Range of the elements with this first index, in row-major order.
    #[inline(always)]
    #[track_caller]
    pub(super) fn row(&self, i: usize) -> Range<usize> {
        if i >= self.shape[0] {
            no_row(i, self.shape[0]);
        }
        i * self.row_len()..(i + 1) * self.row_len()
    }

    #[inline(always)]
    pub(super) fn locate(&self, index: [usize; D]) -> Option<*mut T> {
        self.addressing.locate(&self.shape, index)
    }

    /// As `locate`; caches the chunk.
    #[inline(always)]
    pub(super) fn locate_near(&mut self, index: [usize; D]) -> Option<*mut T> {
        self.addressing.locate_near(&self.shape, index)
    }

    /// All elements, if they are neighbours.
    #[inline(always)]
    pub(super) fn run(&self) -> Option<Run<T>> {
        let mut tour = self.tour();
        tour.next().filter(|_| tour.runs() == 0)
    }

    #[inline(always)]
    pub(super) fn tour(&self) -> Tour<'x, T, D, S> {
        Tour::new(self.mine, self.geometry)
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_row(row: usize, rows: usize) -> ! {
    panic!("row {row} is beyond the end: the array has {rows} (0..{rows})")
}
