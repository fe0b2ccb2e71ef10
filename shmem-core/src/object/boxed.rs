//! Handles of objects on a symmetric heap.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use super::On;
use crate::heap::Released;
use crate::pe::OnPe;
use crate::symmetric_data::Contents;
use crate::text::counted;

/// Handle of an object on a symmetric heap, at the same offset on every PE.
///
/// The handle owns its allocation and borrows nothing. Dropping it is local and never blocks. The memory is reused when every PE
/// has dropped its handle and takes part in the next allocation or in `World::reclaim`. Forgetting a handle leaks the memory until
/// the job ends.
pub struct SymBox<T: ?Sized> {
    id: u64,
    segment: u32,
    offset: usize,
    len: usize,
    released: Arc<Released>,
    _contents: PhantomData<fn() -> *const T>,
}

impl<T: Contents + ?Sized> SymBox<T> {
    /// # Safety
    ///
    /// At `offset` in `segment` of every PE's slot, the allocation `id` must have reserved `len` items of `T`, aligned and
    /// initialised. It must not be released before `id` is queued on `released`. An allocation must have only one box, unless it
    /// has a name: then the heap's ledger counts its boxes (`Ledger::open`).
    #[doc(hidden)]
    pub unsafe fn __new(id: u64, segment: u32, offset: usize, len: usize, released: Arc<Released>) -> Self {
        Self { id, segment, offset, len, released, _contents: PhantomData }
    }

    /// The place of the object on `pe`.
    #[inline(always)]
    pub fn on(&self, pe: impl OnPe) -> On<'_, T> {
        let pe = pe.pe();
        // SAFETY: the object is at `offset` in `segment` of every PE (caller of `__new`). It is reserved until this box is dropped
        // or consumed, which `'_` excludes.
        unsafe { On::new(pe, self.segment, self.offset, self.len) }
    }

    /// Index of the object's segment.
    #[inline(always)]
    pub fn segment(&self) -> u32 {
        self.segment
    }

    /// Bytes from the start of a PE's slot to the object.
    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Identifier of the object's allocation, the same on every PE.
    pub fn id(&self) -> u64 {
        self.id
    }

    #[inline(always)]
    pub(crate) fn item_count(&self) -> usize {
        self.len
    }
}

impl<T: crate::symmetric_data::SymmetricData> SymBox<[T]> {
    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the slice has no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: ?Sized> Drop for SymBox<T> {
    fn drop(&mut self) {
        self.released.push(self.id);
    }
}

impl<T: Contents + ?Sized> fmt::Debug for SymBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SymBox #{} ({} at segment {} offset {:#x})",
            self.id,
            counted(self.len, "item"),
            self.segment,
            self.offset
        )
    }
}
