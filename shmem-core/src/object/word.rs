//! Words for atomic operations and waiting. They have types of their own, so that plain transfers cannot move them.
//!
//! Neither [`Atomic`] nor [`Signal`] has interior mutability, because there are no references to words that another PE may change.
//! Operations access words through places. In `World::local`, where a word is exclusive, [`value`](Atomic::value),
//! [`value_mut`](Atomic::value_mut) and [`values_mut`](Atomic::values_mut) access it. A shared reference to a word gives no
//! reference to its value. Otherwise the closure of [`field`](super::On::field) could return the word as plain data.

use bytemuck::Pod;

use crate::strided::{Shape, Shaped};
use crate::symmetric_data::SymmetricData;
use crate::transport::{AtomicOp, Number};

/// A number that PEs change by atomic operations.
///
/// `#[symmetric] static HITS: Atomic<u64>;` and then `world.add(HITS.on(pe), 1)`.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::Atomic;
///
/// /// Halves every count. `World::local` opens such a slice.
/// fn halve(counts: &mut [Atomic<u64>]) {
///     Atomic::values_mut(counts).iter_mut().for_each(|count| *count /= 2);
/// }
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Atomic<T>(T);

/// A 64-bit word on which a PE can wait. It signals that data has arrived.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Signal(u64);

macro_rules! words {
    ($([$($parameter:tt)*] $word:ty: $value:ty;)*) => {$(
        impl<$($parameter)*> $word {
            /// Returns a word with an initial value, for a static.
            pub const fn new(value: $value) -> Self {
                Self(value)
            }

            /// Returns the value of a word that no other PE can change, because this PE has a reference to it.
            pub fn value(&self) -> $value {
                self.0
            }

            /// Returns the value by exclusive reference.
            pub fn value_mut(&mut self) -> &mut $value {
                &mut self.0
            }

            /// Returns the values of a slice of words by exclusive reference.
            pub fn values_mut(words: &mut [Self]) -> &mut [$value] {
                // SAFETY: a word is a transparent wrapper of its value, and any value is valid in a word. So the memory of `words`
                // is `len` values, borrowed exclusively.
                unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
            }
        }

        // SAFETY: the word is a transparent wrapper of a number (`AmoValue` is sealed to numbers).
        unsafe impl<$($parameter)*> SymmetricData for $word {}

        // SAFETY: the only element is the word itself. (Transfers need plain data, so none moves a word.)
        unsafe impl<$($parameter)*> Shaped for $word {
            type Element = Self;
            type Names = ();
            const SHAPE: Shape = Shape::element(size_of::<Self>());
        }

        impl<$($parameter)*> sealed::Word for $word {}

        impl<$($parameter)*> Waitable for $word {
            type Value = $value;
        }
    )*};
}
words! {
    [T: AmoValue] Atomic<T>: T;
    [] Signal: u64;
}

mod sealed {
    /// Implemented for numbers of 4 or 8 bytes, which are aligned to their size in every place.
    pub trait Sealed {}

    /// Implemented for words with the layout of their value.
    pub trait Word {}
}

/// A number that can be the value of an [`Atomic`]: 32 or 64 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be changed atomically",
    note = "`Atomic` takes u32, i32, u64, i64, usize, isize, f32 and f64"
)]
pub trait AmoValue: Pod + SymmetricData + PartialOrd + core::fmt::Debug + sealed::Sealed {
    /// Returns the bits of the value, zero-extended.
    fn to_bits64(self) -> u64;
    /// Returns the value whose bits are the low bits of `bits`.
    fn from_bits64(bits: u64) -> Self;

    /// The value 1, which `inc` adds.
    const ONE: Self;

    /// Whether the number is unsigned, signed or floating-point.
    const NUMBER: Number;

    /// Returns the operation that adds the value to a word.
    #[doc(hidden)]
    #[inline(always)]
    fn addition(self) -> AtomicOp {
        match Self::NUMBER {
            Number::Unsigned | Number::Signed => AtomicOp::Add(self.to_bits64()),
            Number::Float => AtomicOp::AddFloat(self.to_bits64()),
        }
    }
}

/// A number whose bits can be changed atomically: an integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic bit operations",
    note = "and, or and xor take integers; f32 and f64 have add, fetch_min, fetch_max and their relatives"
)]
pub trait BitValue: AmoValue {}

macro_rules! values {
    ($($t:ident as $bits:ident, $number:ident $one:literal: $to:expr, $from:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl AmoValue for $t {
            #[inline(always)]
            fn to_bits64(self) -> u64 {
                let bits: $bits = $to(self);
                u64::from(bits)
            }

            #[inline(always)]
            fn from_bits64(bits: u64) -> Self {
                $from(bits as $bits)
            }

            const ONE: Self = $one;
            const NUMBER: Number = Number::$number;
        }
    )*};
}
values! {
    u32 as u32, Unsigned 1: |v| v, |b| b;
    i32 as u32, Signed 1: |v: i32| v.cast_unsigned(), |b: u32| b.cast_signed();
    f32 as u32, Float 1.0: f32::to_bits, f32::from_bits;
    u64 as u64, Unsigned 1: |v| v, |b| b;
    i64 as u64, Signed 1: |v: i64| v.cast_unsigned(), |b: u64| b.cast_signed();
    f64 as u64, Float 1.0: f64::to_bits, f64::from_bits;
    usize as u64, Unsigned 1: |v: usize| v as u64, |b: u64| b as usize;
    isize as u64, Signed 1: |v: isize| v as u64, |b: u64| b as isize;
}

impl BitValue for u32 {}
impl BitValue for i32 {}
impl BitValue for u64 {}
impl BitValue for i64 {}
impl BitValue for usize {}
impl BitValue for isize {}

/// A word that atomic operations change: [`Atomic`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not atomic",
    label = "declare the object as `Atomic<..>`",
    note = "atomic operations act on `Atomic<u64>` and its relatives only, so that no word is also moved by put and get"
)]
pub trait AtomicWord: SymmetricData + sealed::Word {
    /// Type of the word's value.
    type Value: AmoValue;
}

impl<T: AmoValue> AtomicWord for Atomic<T> {
    type Value = T;
}

/// A word that a PE can wait on: [`Atomic`] or [`Signal`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be waited on",
    label = "declare the object as `Signal` or `Atomic<..>`",
    note = "a plain store cannot wake a sleeper, so only `Signal` and `Atomic` words can be waited on"
)]
pub trait Waitable: SymmetricData + sealed::Word {
    /// Type of the word's value, with which a condition compares.
    type Value: AmoValue;
}
