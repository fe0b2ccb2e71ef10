//! Initial contents of heap objects. A raw address may still lead to their memory, so it is written by `shmem_core::shared`.

use shmem_core::shared;
use shmem_core::symmetric_data::{Contents, PlainData, SymmetricData};

/// The initial contents of a heap object: an array, a vector or a slice gives a slice of its length;
/// [`filled`] and [`zeroed`] give one of any length; [`value`] gives a single value.
///
/// # Safety
///
/// `write` must initialise all `items`, by accesses that may overlap those of other PEs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a symmetric object begins as",
    note = "allocate `[0.0; N]`, a `Vec`, `shmem::filled(0.0, n)`, `shmem::zeroed(n)`, or `shmem::value(x)` for a single value"
)]
pub unsafe trait Initial {
    /// The object's type.
    type Contents: Contents + ?Sized;

    /// Number of items.
    fn items(&self) -> usize;

    /// Writes the items; other PEs may access them meanwhile.
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

/// `n` elements, each `value`.
pub fn filled<T: PlainData>(value: T, n: usize) -> Filled<T> {
    Filled(value, n)
}

/// `n` elements of zero bytes; also for [`Atomic`](crate::Atomic) and [`Signal`](crate::Signal).
pub fn zeroed<T: SymmetricData>(n: usize) -> Zeroed<T> {
    Zeroed(n, std::marker::PhantomData)
}

/// A single value, not a slice.
pub fn value<T: SymmetricData>(value: T) -> Value<T> {
    Value(value)
}

// SAFETY: writes all `N` elements.
unsafe impl<T: SymmetricData, const N: usize> Initial for [T; N] {
    type Contents = [T];

    fn items(&self) -> usize {
        N
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: aligned and writable for `N` elements (caller).
        unsafe { shared::write(to.cast(), self) };
    }
}

// SAFETY: copies all elements.
unsafe impl<T: PlainData> Initial for &[T] {
    type Contents = [T];

    fn items(&self) -> usize {
        <[T]>::len(self)
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: aligned and writable for the slice's length (caller); the slice is private memory.
        unsafe { shared::copy(to.cast(), self.as_ptr().cast(), size_of_val(self)) };
    }
}

// SAFETY: copies all elements.
unsafe impl<T: PlainData> Initial for Vec<T> {
    type Contents = [T];

    fn items(&self) -> usize {
        Vec::len(self)
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: the caller's promise.
        unsafe { self.as_slice().write(to) };
    }
}

// SAFETY: writes `n` elements.
unsafe impl<T: PlainData> Initial for Filled<T> {
    type Contents = [T];

    fn items(&self) -> usize {
        self.1
    }

    unsafe fn write(self, to: *mut T) {
        // There may be more elements of no bytes than anybody can count.
        let written = if size_of::<T>() == 0 { 0 } else { self.1 };
        for i in 0..written {
            // SAFETY: below the length for which `to` is writable (caller).
            unsafe { shared::store(to.wrapping_add(i), self.0) };
        }
    }
}

// SAFETY: writes `n` elements; zero bytes are a value of every `SymmetricData`.
unsafe impl<T: SymmetricData> Initial for Zeroed<T> {
    type Contents = [T];

    fn items(&self) -> usize {
        self.0
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: writable for `n` elements (caller).
        unsafe { shared::zero(to.cast(), self.0 * size_of::<T>()) };
    }
}

// SAFETY: writes the one item.
unsafe impl<T: SymmetricData> Initial for Value<T> {
    type Contents = T;

    fn items(&self) -> usize {
        1
    }

    unsafe fn write(self, to: *mut T) {
        // SAFETY: aligned and writable (caller).
        unsafe { shared::write(to, self.0) };
    }
}
