//! Types that may be in symmetric memory.
//!
//! Three traits:
//!
//! * [`SymmetricData`]: may be in symmetric memory. Plain data, and words of atomic operations
//!   ([`Atomic`](crate::object::Atomic), [`Signal`](crate::object::Signal)).
//! * [`PlainData`]: may also be moved by put and get. Words may not: plain transfers are not
//!   atomic with respect to atomic updates of a word.
//! * [`Contents`]: the type of an object or a part of one: a [`SymmetricData`], or a slice of it.

use core::fmt;
use core::ops::BitOr;

use bytemuck::{Pod, Zeroable};

/// A type whose values may live in symmetric memory.
///
/// Implemented for the number types, [`Atomic`](crate::object::Atomic), [`Signal`](crate::object::Signal), [`Plain`], and arrays of
/// all of these; `#[derive(Symmetric)]` implements it for a `#[repr(C)]` struct.
///
/// # Safety
///
/// Every bit pattern must be a value of the type, all zeroes included; the type must have no
/// padding, hold no pointer or reference, and mean the same in every process of the job.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot live in symmetric memory",
    label = "not plain data",
    note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums)",
    note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`"
)]
pub unsafe trait SymmetricData: Sized + 'static {}

/// A type that put and get can move: plain data, not a word of atomic operations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be moved by put or get",
    label = "not plain data",
    note = "it is copied byte for byte between PEs: no pointers, no padding, no invalid bit patterns (use `u8` for `bool` and for enums, `u32` for `char`); for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`; a type of another crate that is `bytemuck::Pod` is `shmem::Plain<T>`, as in `[Plain<Complex<f64>>; 8]`, and a complex number is also `[f64; 2]`",
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

// SAFETY: an array consists of its elements, consecutive and without padding.
unsafe impl<T: SymmetricData, const N: usize> SymmetricData for [T; N] {}

/// A value of another crate's type, as an element of symmetric memory. The type must be [`Pod`], which many crates
/// implement with a feature `bytemuck`: `Plain<Complex<f64>>` of `num-complex`, `Plain<Vec3>` of `glam`, `Plain<f16>` of `half`.
///
/// ```
/// # mod shmem { pub use shmem_core::symmetric_data::*; }
/// use shmem::{Plain, PlainData};
///
/// fn moved<T: PlainData>(_: &[T]) {}
///
/// let turns = [core::num::Wrapping(7_u32)];           // a type of the standard library
/// moved(&turns.map(Plain));
/// ```
///
/// A region of `strided!` cannot name fields of the value, because the value is one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Plain<T>(pub T);

// SAFETY: a `Plain<T>` is a `T`, of which all zeroes are a value.
unsafe impl<T: Zeroable> Zeroable for Plain<T> {}
// SAFETY: a `Plain<T>` is a `T`, which is plain data.
unsafe impl<T: Pod> Pod for Plain<T> {}
// SAFETY: a `Pod` has neither padding nor invalid bit patterns nor pointers, and all processes of a job run the same machine code.
unsafe impl<T: Pod> SymmetricData for Plain<T> {}

/// Hints on the use of memory, for transports that place or register the memory. Hints change no result.
///
/// ```
/// # mod shmem { pub use shmem_core::symmetric_data::*; }
/// use shmem::MemoryHints;
///
/// let both = MemoryHints::ATOMICS_REMOTE | MemoryHints::SIGNAL_REMOTE;
/// assert_eq!(both.to_string(), "atomics_remote|signal_remote");
/// ```
///
/// Source: OpenSHMEM 1.6, `shmem_malloc_with_hints`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryHints(u8);

impl MemoryHints {
    const NAMES: [&'static str; 2] = ["atomics_remote", "signal_remote"];

    /// No hints.
    pub const NONE: Self = Self(0);

    /// Other PEs will use atomic operations on the memory (`SHMEM_MALLOC_ATOMICS_REMOTE`).
    pub const ATOMICS_REMOTE: Self = Self(1);

    /// Other PEs will update signals in the memory (`SHMEM_MALLOC_SIGNAL_REMOTE`).
    pub const SIGNAL_REMOTE: Self = Self(2);

    /// Whether all hints of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The hints as a number, to compare the hints of PEs.
    pub const fn bits(self) -> u64 {
        self.0 as u64
    }
}

impl BitOr for MemoryHints {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for MemoryHints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = Self::NAMES.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        let names: Vec<&str> = given.map(|(_, name)| *name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join("|"))
    }
}

/// Plain data that the program passes to an operation: a value, a slice, a `Vec` or a `Box` of a slice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plain data, and no slice, `Vec` or `Box` of it",
    label = "not what can be moved",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`, `&mut values[..]`"
)]
pub trait Movable {
    /// The type of the items. A value is one item.
    type Item: PlainData;

    /// The items of the data.
    fn items(&self) -> &[Self::Item];

    /// The items of the data, for writing.
    fn items_mut(&mut self) -> &mut [Self::Item];
}

#[diagnostic::do_not_recommend]
impl<C: Contents<Item: PlainData> + ?Sized> Movable for C {
    type Item = C::Item;

    #[inline(always)]
    fn items(&self) -> &[C::Item] {
        // SAFETY: `self` refers to `len_of` consecutive items (`Contents`).
        unsafe { core::slice::from_raw_parts(self.start_of(), self.len_of()) }
    }

    #[inline(always)]
    fn items_mut(&mut self) -> &mut [C::Item] {
        // `start_of` is not used, because its pointer comes from a shared reference, and is not for writing.
        let (len, start) = (self.len_of(), core::ptr::from_mut(self).cast());
        // SAFETY: `self` refers exclusively to `len` consecutive items (`Contents`), and every bit pattern is a valid item.
        unsafe { core::slice::from_raw_parts_mut(start, len) }
    }
}

macro_rules! movable {
    ($($whole:ty)*) => {$(
        impl<T: PlainData> Movable for $whole {
            type Item = T;

            #[inline(always)]
            fn items(&self) -> &[T] {
                self
            }

            #[inline(always)]
            fn items_mut(&mut self) -> &mut [T] {
                self
            }
        }
    )*};
}
movable!(Vec<T> Box<[T]>);

/// `Clone` and `Copy` for types, without bounds on their parameters. (Derived implementations would have such bounds.)
macro_rules! copied {
    ($([$($parameter:tt)*] $type:ty;)*) => {$(
        impl<$($parameter)*> Clone for $type {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($parameter)*> Copy for $type {}
    )*};
}
pub(crate) use copied;

/// Returns `count` items of zeroes. Items of size 0 are a special case: the standard library would loop over `count`, which may be
/// huge.
#[expect(clippy::uninit_vec, reason = "an item without bytes has none that could be missing")]
pub fn zeroed_items<T: PlainData>(count: usize) -> Vec<T> {
    if size_of::<T>() > 0 {
        return vec![T::zeroed(); count];
    }
    let mut items = Vec::new();
    // SAFETY: a vector of items without bytes has capacity for any number of items (`Vec::capacity`). The items need no
    // initialisation: they have no bytes, and every bit pattern is a value (`PlainData`).
    unsafe { items.set_len(count) };
    items
}

/// The contents of an object in symmetric memory, or of a part of it: a value, or a slice.
///
/// # Safety
///
/// `from_raw` must give a pointer to `len` consecutive `Item`s at `start` (a value is one `Item`).
pub unsafe trait Contents {
    /// The type of the value, or of the slice's items.
    type Item: SymmetricData;

    /// Whether this type is a slice, with a length.
    const IS_SLICE: bool;

    /// Returns the (wide) pointer to `len` items at `start`. A value ignores `len`.
    fn from_raw(start: *mut Self::Item, len: usize) -> *mut Self;

    /// Number of items.
    fn len_of(&self) -> usize;

    /// Pointer to the first item.
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
