//! What may live in symmetric memory.
//!
//! Three traits, from weak to strong:
//!
//! * [`SymmetricData`]: may live there. Plain data, and the words that are only touched atomically
//!   ([`Atomic`](crate::object::Atomic), [`Signal`](crate::object::Signal)).
//! * [`PlainData`]: may also be moved by put and get. Words are left out, because plain transfers
//!   and atomic updates of one word are not atomic with respect to each other.
//! * [`Contents`]: a [`SymmetricData`] or a slice of it: what a place can denote.

use bytemuck::Pod;

/// A type whose values may live in symmetric memory.
///
/// Implemented for the number types, arrays of them, [`Atomic`](crate::object::Atomic) and
/// [`Signal`](crate::object::Signal); `#[derive(Symmetric)]` implements it for a `#[repr(C)]`
/// struct.
///
/// # Safety
///
/// Every bit pattern must be a value of the type, all zeroes included; the type must have no
/// padding, hold no pointer or reference, and mean the same in every process of the job.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums)",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`"
)]
pub unsafe trait SymmetricData: Sized + 'static {}

/// A type that put and get can move: plain data, not a word of atomic operations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be moved by put or get",
    label = "not plain data",
    note = "`Atomic` and `Signal` words are changed by atomic and signal operations only: `fetch_add`, `set`, `wait_until`"
)]
pub trait PlainData: SymmetricData + Pod {}

#[diagnostic::do_not_recommend]
impl<T: SymmetricData + Pod> PlainData for T {}

macro_rules! plain {
    ($($t:ty)*) => {$(
        // SAFETY: primitive numbers have neither padding nor invalid bit patterns nor pointers,
        // and all processes of a job run the same machine code.
        unsafe impl SymmetricData for $t {}
    )*};
}
plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

// SAFETY: an array is its elements, one behind the other, without padding between them.
unsafe impl<T: SymmetricData, const N: usize> SymmetricData for [T; N] {}

/// What a place in symmetric memory can denote: a value, or a slice of values.
///
/// # Safety
///
/// `from_raw` must give a pointer to `len` consecutive `Item`s at `start` (a value is one `Item`).
pub unsafe trait Contents {
    /// The value, or what the slice is made of.
    type Item: SymmetricData;

    /// Whether a length belongs to it (slices).
    const IS_SLICE: bool;

    /// The (wide) pointer to `len` items at `start`. A value ignores `len`.
    fn from_raw(start: *mut Self::Item, len: usize) -> *mut Self;

    /// Number of items.
    fn len_of(&self) -> usize;

    /// The first item.
    fn start_of(&self) -> *const Self::Item;
}

// SAFETY: a value is one item at its own address.
unsafe impl<T: SymmetricData> Contents for T {
    type Item = T;
    const IS_SLICE: bool = false;

    #[inline(always)]
    fn from_raw(start: *mut T, _: usize) -> *mut T {
        start
    }

    #[inline(always)]
    fn len_of(&self) -> usize {
        1
    }

    #[inline(always)]
    fn start_of(&self) -> *const T {
        self
    }
}

// SAFETY: `slice_from_raw_parts_mut` is the pointer to `len` items at `start`.
unsafe impl<T: SymmetricData> Contents for [T] {
    type Item = T;
    const IS_SLICE: bool = true;

    #[inline(always)]
    fn from_raw(start: *mut T, len: usize) -> *mut [T] {
        core::ptr::slice_from_raw_parts_mut(start, len)
    }

    #[inline(always)]
    fn len_of(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn start_of(&self) -> *const T {
        self.as_ptr()
    }
}
