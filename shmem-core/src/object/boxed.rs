//! Objects on a symmetric heap.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use super::On;
use crate::fixed_text::counted;
use crate::heap::Released;
use crate::pe::OnPe;
use crate::symmetric_data::Contents;

/// An object on a symmetric heap, at the same offset on every PE.
///
/// It owns its allocation and borrows nothing. Dropping it is local and never waits. The memory is reused when every PE has dropped its
/// handle and takes part in the next allocation or in `World::reclaim`. Forgetting the handle leaks the memory until the job ends.
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
    /// Allocation `id` must have reserved `len` items of `T`, aligned for them and initialised, at `offset` in `segment` of every PE's
    /// slot, and must not be released before `id` is queued on `released`. There must be one box per allocation; only a named
    /// allocation may have several, each counted by the ledger.
    #[doc(hidden)]
    pub unsafe fn __new(id: u64, segment: u32, offset: usize, len: usize, released: Arc<Released>) -> Self {
        Self { id, segment, offset, len, released, _contents: PhantomData }
    }

    /// The object on `pe`.
    #[inline(always)]
    pub fn on(&self, pe: impl OnPe) -> On<'_, T> {
        let pe = pe.pe();
        // SAFETY: `__new` was promised the object; it is reserved until this box is dropped or
        // consumed, which `'_` excludes.
        unsafe { On::new(pe, self.segment, self.offset, self.len) }
    }

    /// Index of the segment.
    #[inline(always)]
    pub fn segment(&self) -> u32 {
        self.segment
    }

    /// Bytes from the start of a PE's slot.
    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of the allocation, the same on every PE.
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

    /// Whether it has no elements.
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
