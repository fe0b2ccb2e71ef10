//! Handles of arrays, the views that `World::local` and `World::frozen` open through them, and a count of the elements that are on
//! the right NUMA node.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use std::sync::Arc;

use super::chunking::Chunking;
use super::geometry::{ArrayRange, Geometry};
use super::storage::{Chosen, Storage, StorageKind};
use super::view::{ArrayLayout, ArrayMut, ArrayRef};
use crate::endpoint::Endpoint;
use crate::heap::Released;
use crate::object::{Extent, SymmetricObject, no_subscripts};
use crate::strided::Piece;
use crate::symmetric_data::SymmetricData;
use crate::text::counted;

/// Handle of a symmetric array whose chunks are on the NUMA nodes of each PE.
///
/// `T` is the type of the elements, `D` the number of dimensions, 1 to 3, and `S` the [`Storage`](super::Storage), which decides
/// the speed of the array, and whether all elements are one slice. The handle owns the array's memory and borrows nothing, as a
/// [`SymBox`](crate::object::SymBox) does. Dropping it is local and never blocks.
///
/// Source: "NUMA-Aware Array Storage" (Chapel).
pub struct NumaArray<T, const D: usize = 1, S: Storage = Chosen> {
    geometry: Geometry<D>,
    /// Identifiers of the array's allocations.
    ids: Vec<u64>,
    released: Arc<Released>,
    _elements: PhantomData<Elements<T, S>>,
}

/// Marker for a handle that neither owns nor shares a `T`, so that it is `Send` and `Sync` for every `T`.
type Elements<T, S> = (fn() -> *const T, S);

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// Makes the handle. Panics unless `parts` fit `chunking` and `kind`.
    ///
    /// # Safety
    ///
    /// The parts must be reserved for this array in every PE's slot, aligned for `T` and initialised, until the allocations `ids`
    /// are queued on `released` to be freed. There must be at least one allocation. No two parts may overlap. `kind` must be a kind
    /// of storage `S`.
    #[doc(hidden)]
    pub unsafe fn __new(
        chunking: Chunking<D>,
        kind: StorageKind,
        parts: Vec<ArrayRange>,
        nodes: Vec<u32>,
        ids: Vec<u64>,
        released: Arc<Released>,
    ) -> Self {
        let geometry = Geometry::new(chunking, kind, parts, nodes, size_of::<T>());
        Self { geometry, ids, released, _elements: PhantomData }
    }

    /// The array's contiguous runs of elements in memory, in row-major order: more than one only for [`Multi`](super::Multi).
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.geometry.pieces
    }

    /// Lengths of the dimensions.
    pub fn shape(&self) -> [usize; D] {
        self.geometry.chunking.shape()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.geometry.chunking.len()
    }

    /// Always `false`, because an array has at least one element.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The division of the array into chunks.
    pub fn chunking(&self) -> &Chunking<D> {
        &self.geometry.chunking
    }

    /// The storage of the array, as a value.
    pub fn kind(&self) -> StorageKind {
        self.geometry.kind
    }

    /// The array's ranges of memory: a range per chunk, in the order of the chunks, or a single one.
    pub fn parts(&self) -> &[ArrayRange] {
        &self.geometry.parts
    }

    /// NUMA node of each chunk on the calling PE; empty if the nodes are not known.
    pub fn nodes(&self) -> &[u32] {
        &self.geometry.nodes
    }

    /// Identifier of the array, the same on every PE.
    pub fn id(&self) -> u64 {
        self.ids[0]
    }
}

impl<T, const D: usize, S: Storage> Drop for NumaArray<T, D, S> {
    fn drop(&mut self) {
        self.ids.iter().for_each(|id| self.released.push(*id));
    }
}

no_subscripts! { [T, const D: usize, S: Storage] NumaArray<T, D, S>; }

impl<T: SymmetricData, const D: usize, S: Storage> fmt::Debug for NumaArray<T, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, chunks) = (self.shape(), counted(self.chunking().chunks(), "chunk"));
        write!(f, "NumaArray #{} ({shape:?}, {}, {chunks})", self.id(), self.kind())
    }
}

// SAFETY: `extents` lists all parts of the array, and both views give references only to elements in these parts.
unsafe impl<T: SymmetricData, const D: usize, S: Storage> SymmetricObject for NumaArray<T, D, S> {
    type Mut<'x> = ArrayMut<'x, T, D, S>;
    type Ref<'x> = ArrayRef<'x, T, D, S>;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        let parts = self.parts().iter();
        list.extend(parts.map(|part| Extent { offset: part.offset, bytes: part.elements * size_of::<T>() }));
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> ArrayMut<'x, T, D, S> {
        // SAFETY: the caller guarantees that `'x` ends before the borrow of the handle, which owns the geometry.
        let geometry = unsafe { &*core::ptr::from_ref(&self.geometry) };
        // SAFETY: the parts are reserved, aligned and initialised (`__new`). Nothing else accesses them for `'x` (caller).
        unsafe { ArrayMut::new(ArrayLayout::new(mine, geometry)) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> ArrayRef<'x, T, D, S> {
        // SAFETY: the caller guarantees that `'x` ends before the borrow of the handle, which owns the geometry.
        let geometry = unsafe { &*core::ptr::from_ref(&self.geometry) };
        // SAFETY: the parts are reserved, aligned and initialised (`__new`). Nothing writes them for `'x` (caller).
        unsafe { ArrayRef::new(ArrayLayout::new(mine, geometry)) }
    }
}

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// Returns the number of elements that are on the NUMA node of their chunk, or of all elements if the nodes are not known. An
    /// element is on the node of its first byte.
    ///
    /// `nodes_of` returns the node of each page of a byte range (from the start of this PE's slot, in whole pages of `page` bytes),
    /// or `None` for a page that does not exist. `belongs(a, b)` says whether node `b` is right for a page of a chunk that belongs
    /// to node `a`.
    ///
    /// # Errors
    ///
    /// The first error of `nodes_of`.
    pub fn elements_at_home<E>(
        &self,
        page: usize,
        mut nodes_of: impl FnMut(Range<usize>) -> Result<Vec<Option<u32>>, E>,
        belongs: impl Fn(u32, u32) -> bool,
    ) -> Result<usize, E> {
        let (nodes, size) = (self.nodes(), size_of::<T>());
        if nodes.is_empty() {
            return Ok(self.len());
        }
        let mut at_home = 0;
        for (chunk, &home) in nodes.iter().enumerate() {
            for range in self.geometry.bytes_of(chunk, size) {
                let first = range.start / page * page;
                let found = nodes_of(first..range.end.next_multiple_of(page))?;
                for (number, node) in found.into_iter().enumerate() {
                    if node.is_some_and(|node| belongs(home, node)) {
                        // Number of elements of the run whose first byte is before `byte`.
                        let started =
                            |byte: usize| (byte.clamp(range.start, range.end) - range.start).div_ceil(size);
                        let start = first + number * page;
                        at_home += started(start + page) - started(start);
                    }
                }
            }
        }
        Ok(at_home)
    }
}
