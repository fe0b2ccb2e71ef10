//! What phases open of an array.

use super::handle::NumaArray;
use super::storage::Storage;
use super::view::{ArrayMut, ArrayRef};
use crate::data::SymmetricData;
use crate::endpoint::Endpoint;
use crate::object::{Extent, SymmetricObject};

// SAFETY: both give references to the elements at the array's parts.
unsafe impl<T: SymmetricData, const D: usize, S: Storage> SymmetricObject for NumaArray<T, D, S> {
    type Mut<'x> = ArrayMut<'x, T, D, S>;
    type Ref<'x> = ArrayRef<'x, T, D, S>;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        let parts = self.parts().list().iter();
        list.extend(parts.map(|part| Extent { offset: part.offset, bytes: part.elements * size_of::<T>() }));
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> ArrayMut<'x, T, D, S> {
        // SAFETY: `'x` ends before the handle's borrow does (caller).
        let geometry = unsafe { &*core::ptr::from_ref(self.geometry()) };
        // SAFETY: the parts were reserved for the array, aligned and initialised (`NumaArray::__new`); the
        // caller promises that nothing else touches them for `'x`.
        unsafe { ArrayMut::new(mine, geometry) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> ArrayRef<'x, T, D, S> {
        // SAFETY: `'x` ends before the handle's borrow does (caller).
        let geometry = unsafe { &*core::ptr::from_ref(self.geometry()) };
        // SAFETY: the parts were reserved for the array, aligned and initialised (`NumaArray::__new`); the
        // caller promises that nothing writes them for `'x`.
        unsafe { ArrayRef::new(mine, geometry) }
    }
}
