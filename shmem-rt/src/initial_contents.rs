//! Initial contents of heap objects. `shmem_core::shared` writes them, because other PEs may access the memory by a raw address.

use shmem_core::shared;
use shmem_core::symmetric_data::{Contents, PlainData, SymmetricData};

/// The initial contents of a heap object. An array, a vector or a slice makes an object that is a slice of the same
/// length. [`filled`] and [`zeroed`] make a slice of any length. [`value`] makes a single value.
///
/// # Safety
///
/// `write` must initialise all `items()` items, by accesses that are valid even if other PEs access the memory at the same time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a symmetric object begins as",
    note = "allocate `[0.0; N]`, a `Vec`, `shmem::filled(0.0, n)`, `shmem::zeroed(n)`, or `shmem::value(x)` for a single value"
)]
pub unsafe trait Initial {
    /// The type of the object's contents.
    type Contents: Contents + ?Sized;

    /// Number of items of the object.
    fn items(&self) -> usize;

    /// Writes the items to `to`. Other PEs may access this memory meanwhile.
    ///
    /// # Safety
    ///
    /// `to` must be aligned, and writable for all items.
    unsafe fn write(self, to: *mut <Self::Contents as Contents>::Item);
}

/// `n` times the same value. See [`filled`].
#[derive(Clone, Copy, Debug)]
pub struct Filled<T>(T, usize);

/// `n` elements of zero bytes. See [`zeroed`].
#[derive(Clone, Copy, Debug)]
pub struct Zeroed<T>(usize, std::marker::PhantomData<fn() -> T>);

/// A single value. See [`value`].
#[derive(Clone, Copy, Debug)]
pub struct Value<T>(T);

/// Initial contents of `n` elements, each of them `value`.
pub fn filled<T: PlainData>(value: T, n: usize) -> Filled<T> {
    Filled(value, n)
}

/// Initial contents of `n` elements of zero bytes. Their type may be [`Atomic`](crate::Atomic) or [`Signal`](crate::Signal).
pub fn zeroed<T: SymmetricData>(n: usize) -> Zeroed<T> {
    Zeroed(n, std::marker::PhantomData)
}

/// Initial contents that are a single value, not a slice.
pub fn value<T: SymmetricData>(value: T) -> Value<T> {
    Value(value)
}

// SAFETY: `write` writes all `N` elements.
unsafe impl<T: SymmetricData, const N: usize> Initial for [T; N] {
    type Contents = [T];

    fn items(&self) -> usize {
        N
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: `to` is aligned and writable for `N` elements (caller).
        unsafe { shared::write(to.cast(), self) };
    }
}

// SAFETY: `write` copies all elements.
unsafe impl<T: PlainData> Initial for &[T] {
    type Contents = [T];

    fn items(&self) -> usize {
        <[T]>::len(self)
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: `to` is aligned and writable for as many elements as the slice has (caller). The slice is private memory.
        unsafe { shared::copy(to.cast(), self.as_ptr().cast(), size_of_val(self)) };
    }
}

// SAFETY: `write` copies all elements.
unsafe impl<T: PlainData> Initial for Vec<T> {
    type Contents = [T];

    fn items(&self) -> usize {
        Vec::len(self)
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: `to` is aligned and writable for all elements (caller).
        unsafe { self.as_slice().write(to) };
    }
}

// SAFETY: `write` writes all `n` elements.
unsafe impl<T: PlainData> Initial for Filled<T> {
    type Contents = [T];

    fn items(&self) -> usize {
        self.1
    }

    unsafe fn write(self, to: *mut T) {
        // Elements without bytes need no loop, which could be endless: their number may be `usize::MAX`.
        let written = if size_of::<T>() == 0 { 0 } else { self.1 };
        for i in 0..written {
            // SAFETY: `i` is below the number of elements for which `to` is writable (caller).
            unsafe { shared::store(to.wrapping_add(i), self.0) };
        }
    }
}

// SAFETY: `write` writes all `n` elements. Zero bytes are a valid value of every `SymmetricData`.
unsafe impl<T: SymmetricData> Initial for Zeroed<T> {
    type Contents = [T];

    fn items(&self) -> usize {
        self.0
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: `to` is writable for `n` elements (caller).
        unsafe { shared::zero(to.cast(), self.0 * size_of::<T>()) };
    }
}

// SAFETY: `write` writes the only item.
unsafe impl<T: SymmetricData> Initial for Value<T> {
    type Contents = T;

    fn items(&self) -> usize {
        1
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: `to` is aligned and writable (caller).
        unsafe { shared::write(to, self.0) };
    }
}
