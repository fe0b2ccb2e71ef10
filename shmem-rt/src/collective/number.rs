//! What can be reduced.

use bytemuck::Pod;
use shmem_core::data::{Contents, PlainData};

/// What can be reduced: a number, or an array of what can be reduced, element by element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    note = "sum, prod, min, max and scans take the integers, f32 and f64, and arrays and slices of them"
)]
pub trait Reducible: PlainData + sealed::Sealed {
    /// What it is made of.
    type Number: Number;
}

/// What reductions combine: a [`Reducible`] or a slice of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    label = "not what can be reduced",
    note = "sum, prod, min, max and scans take the integers, f32 and f64, and arrays and slices of them",
    note = "of a `Vec` or a `Box` take the slice: `&mut values[..]`"
)]
pub trait Operands: Contents<Item: Reducible> {}

#[diagnostic::do_not_recommend]
impl<T: Contents<Item: Reducible> + ?Sized> Operands for T {}

/// What reductions of bits combine: integers, and arrays and slices of them.
#[diagnostic::on_unimplemented(
    message = "the bits of `{Self}` cannot be combined",
    label = "not what has bits to combine",
    note = "and, or and xor take the integers, and arrays and slices of them",
    note = "of a `Vec` or a `Box` take the slice: `&mut values[..]`"
)]
pub trait BitOperands: Contents<Item: Reducible<Number: BitNumber>> {}

#[diagnostic::do_not_recommend]
impl<T: Contents<Item: Reducible<Number: BitNumber>> + ?Sized> BitOperands for T {}

/// A number that can be reduced: an integer, f32 or f64. What it takes to be an element of a generic library is in it: a
/// number is [`PlainData`], and a slice of numbers are [`Operands`].
// A power of two of bytes, at most 16, so that no piece of scratch ends inside one.
pub trait Number: Reducible<Number = Self> {
    /// What adding does not change.
    const ZERO: Self;

    /// The sum; integers wrap.
    fn added(self, other: Self) -> Self;

    /// The product; integers wrap.
    fn multiplied(self, other: Self) -> Self;

    /// The smaller one; a NaN loses.
    fn lesser(self, other: Self) -> Self;

    /// The larger one; a NaN loses.
    fn greater(self, other: Self) -> Self;
}

/// A number whose bits can be combined: an integer.
#[diagnostic::on_unimplemented(
    message = "the bits of `{Self}` cannot be combined",
    note = "and, or and xor take the integers, and arrays and slices of them"
)]
pub trait BitNumber: Number {
    /// Bitwise and.
    fn anded(self, other: Self) -> Self;

    /// Bitwise or.
    fn ored(self, other: Self) -> Self;

    /// Bitwise exclusive or.
    fn xored(self, other: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl<T: Sealed, const N: usize> Sealed for [T; N] {}
}

impl<T: Reducible, const N: usize> Reducible for [T; N]
where
    [T; N]: Pod,
{
    type Number = T::Number;
}

macro_rules! numbers {
    ($($t:ident: $zero:literal, $added:path, $multiplied:path, $lesser:path, $greater:path;)*) => {$(
        impl sealed::Sealed for $t {}
        impl Reducible for $t {
            type Number = $t;
        }

        impl Number for $t {
            const ZERO: Self = $zero;

            #[inline(always)]
            fn added(self, other: Self) -> Self {
                $added(self, other)
            }

            #[inline(always)]
            fn multiplied(self, other: Self) -> Self {
                $multiplied(self, other)
            }

            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                $lesser(self, other)
            }

            #[inline(always)]
            fn greater(self, other: Self) -> Self {
                $greater(self, other)
            }
        }
    )*};
}
macro_rules! integers {
    ($($t:ident)*) => {
        numbers! { $($t: 0, $t::wrapping_add, $t::wrapping_mul, Ord::min, Ord::max;)* }

        $(impl BitNumber for $t {
            #[inline(always)]
            fn anded(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn ored(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn xored(self, other: Self) -> Self {
                self ^ other
            }
        })*
    };
}
integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
numbers! {
    f32: 0.0, core::ops::Add::add, core::ops::Mul::mul, f32::min, f32::max;
    f64: 0.0, core::ops::Add::add, core::ops::Mul::mul, f64::min, f64::max;
}
