//! What the handle of one object opens in a phase.

use super::extent::Extent;
use super::{SymBox, Symmetric};
use crate::data::{Contents, SymmetricData};
use crate::endpoint::Endpoint;

/// The handle of one symmetric object, or a reference to one: what lists of objects consist of.
///
/// # Safety
///
/// `open` and `freeze` must give references to exactly the bytes that `extents` lists, at `mine` plus the offset.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a symmetric object",
    label = "not a symmetric object"
)]
pub unsafe trait SymmetricObject {
    /// The exclusive references.
    type Mut<'x>;
    /// The shared references.
    type Ref<'x>;

    /// The extent of each object. The token stands for positions that have been written.
    #[doc(hidden)]
    fn extents(&self, token: &Endpoint, list: &mut Vec<Extent>);

    /// # Safety
    ///
    /// As for [`Objects::open`](super::Objects::open).
    #[doc(hidden)]
    unsafe fn open<'x>(&self, mine: *mut u8) -> Self::Mut<'x>;

    /// # Safety
    ///
    /// As for [`Objects::freeze`](super::Objects::freeze).
    #[doc(hidden)]
    unsafe fn freeze<'x>(&self, mine: *mut u8) -> Self::Ref<'x>;
}

// SAFETY: both give the `size_of::<T>()` bytes at the static's position.
unsafe impl<T: SymmetricData> SymmetricObject for Symmetric<T> {
    type Mut<'x> = &'x mut T;
    type Ref<'x> = &'x T;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        list.push(Extent { offset: self.position().offset(), bytes: size_of::<T>() });
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> &'x mut T {
        // SAFETY: `position` was reserved for a `T`, aligned and initialised (zeroes or an image);
        // the caller promises that nothing else touches it for `'x`.
        unsafe { &mut *mine.wrapping_add(self.position().offset()).cast() }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> &'x T {
        // SAFETY: `position` was reserved for a `T`, aligned and initialised (zeroes or an image); the caller
        // promises that nothing writes it for `'x`.
        unsafe { &*mine.wrapping_add(self.position().offset()).cast() }
    }
}

// SAFETY: both give the box's items at its offset.
unsafe impl<T: Contents + ?Sized + 'static> SymmetricObject for SymBox<T> {
    type Mut<'x> = &'x mut T;
    type Ref<'x> = &'x T;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        list.push(Extent { offset: self.offset(), bytes: self.item_count() * size_of::<T::Item>() });
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> &'x mut T {
        let start = mine.wrapping_add(self.offset()).cast();
        // SAFETY: the allocation holds `item_count` aligned, initialised items; the caller promises
        // that nothing else touches them for `'x`.
        unsafe { &mut *T::from_raw(start, self.item_count()) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> &'x T {
        let start = mine.wrapping_add(self.offset()).cast();
        // SAFETY: the allocation holds `item_count` aligned, initialised items; the caller promises that
        // nothing writes them for `'x`.
        unsafe { &*T::from_raw(start, self.item_count()) }
    }
}

// SAFETY: the object gives references to its own extents only.
unsafe impl<T: SymmetricObject> SymmetricObject for &T {
    type Mut<'x> = T::Mut<'x>;
    type Ref<'x> = T::Ref<'x>;

    fn extents(&self, token: &Endpoint, list: &mut Vec<Extent>) {
        T::extents(self, token, list);
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> Self::Mut<'x> {
        // SAFETY: the caller's promise.
        unsafe { T::open(self, mine) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> Self::Ref<'x> {
        // SAFETY: the caller's promise.
        unsafe { T::freeze(self, mine) }
    }
}
