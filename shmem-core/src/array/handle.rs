//! Handles of arrays, their views in phases, and the number of elements on the right node.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use std::sync::Arc;

use super::chunking::Chunking;
use super::geometry::{ArrayRange, Geometry};
use super::storage::{Chosen, Storage, StorageKind};
use super::view::{ArrayMut, ArrayRef, Field};
use crate::endpoint::Endpoint;
use crate::fixed_text::counted;
use crate::heap::Released;
use crate::object::{Extent, SymmetricObject, no_subscripts};
use crate::strided::Piece;
use crate::symmetric_data::SymmetricData;

/// A symmetric array whose chunks are on the NUMA nodes of each PE.
///
/// `T` is the type of the elements, `D` the number of dimensions, 1 to 3, and `S` the [`Storage`](super::Storage),
/// which changes only its speed. It owns its memory and borrows nothing, as a [`SymBox`](crate::object::SymBox) does;
/// dropping it is local and never waits.
///
/// Source: "NUMA-Aware Array Storage" (Chapel).
pub struct NumaArray<T, const D: usize = 1, S: Storage = Chosen> {
    geometry: Geometry<D>,
    /// Numbers of the allocations.
    ids: Vec<u64>,
    released: Arc<Released>,
    _elements: PhantomData<Elements<T, S>>,
}

/// Neither owns nor shares a `T`.
type Elements<T, S> = (fn() -> *const T, S);

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// Panics unless `parts` fit `chunking` and `kind`.
    ///
    /// # Safety
    ///
    /// The parts must be reserved for this array in every PE's slot, aligned for `T` and initialised, until the allocations `ids`, at
    /// least one, are queued on `released`. No two parts may overlap. `kind` must be a kind of storage `S`.
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

    /// The ranges of memory, in row-major order of the elements: more than one only for [`Multi`](super::Multi).
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

    /// Whether it has no elements: never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Which elements belong to which chunk.
    pub fn chunking(&self) -> &Chunking<D> {
        &self.geometry.chunking
    }

    /// The storage.
    pub fn kind(&self) -> StorageKind {
        self.geometry.kind
    }

    /// The ranges of memory, in the order of the chunks.
    pub fn parts(&self) -> &[ArrayRange] {
        &self.geometry.parts
    }

    /// Node of each chunk on the calling PE; empty if not known.
    pub fn nodes(&self) -> &[u32] {
        &self.geometry.nodes
    }

    /// Number of the array, the same on every PE.
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

// SAFETY: both views give references to the elements at the array's parts.
unsafe impl<T: SymmetricData, const D: usize, S: Storage> SymmetricObject for NumaArray<T, D, S> {
    type Mut<'x> = ArrayMut<'x, T, D, S>;
    type Ref<'x> = ArrayRef<'x, T, D, S>;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        let parts = self.parts().iter();
        list.extend(parts.map(|part| Extent { offset: part.offset, bytes: part.elements * size_of::<T>() }));
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> ArrayMut<'x, T, D, S> {
        // SAFETY: `'x` ends before the handle's borrow does (caller).
        let geometry = unsafe { &*core::ptr::from_ref(&self.geometry) };
        // SAFETY: the parts were reserved for the array, aligned and initialised (`NumaArray::__new`); nothing else touches them
        // for `'x` (caller).
        unsafe { ArrayMut::new(Field::new(mine, geometry)) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> ArrayRef<'x, T, D, S> {
        // SAFETY: `'x` ends before the handle's borrow does (caller).
        let geometry = unsafe { &*core::ptr::from_ref(&self.geometry) };
        // SAFETY: the parts were reserved for the array, aligned and initialised (`NumaArray::__new`); nothing writes them for `'x`
        // (caller).
        unsafe { ArrayRef::new(Field::new(mine, geometry)) }
    }
}

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// The number of elements that are on the node of their chunk; all, if nodes are not known. An element is on the node of its first
    /// byte.
    ///
    /// `nodes_of` takes a range of bytes from the start of this PE's slot, of whole pages of `page` bytes, and returns the node of each
    /// page, or `None` for a page that does not exist. `belongs(chunk, page)` says whether memory of the node `page` is right for a
    /// chunk of the node `chunk`.
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
                        // The number of elements of the run that start before `byte`.
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
