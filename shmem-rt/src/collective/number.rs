//! What can be reduced.

use bytemuck::Pod;
use shmem_core::context::{Contribution, Truth};
use shmem_core::data::PlainData;

/// What can be reduced: a number, or an array of what can be reduced, element by element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    note = "sum, prod, min, max and scans take the integers, f32 and f64, and arrays of them"
)]
pub trait Reducible: PlainData + sealed::Sealed {
    /// What it is made of.
    type Number: Number;
}

/// As [`Reducible`], by its bits: an integer, or an array of what has bits.
#[diagnostic::on_unimplemented(
    message = "the bits of `{Self}` cannot be combined",
    note = "and, or and xor take the integers, and arrays of them, and `bool`"
)]
pub trait BitReducible: PlainData + sealed::Sealed {
    /// What it is made of.
    type Bits: BitNumber;
}

/// What reductions combine, with `R` as the result of the call: a [`Contribution`] of numbers. The argument decides:
/// `world.sum(&mut x)` changes `x`, `let y = world.sum(x)` gives the sum, and `world.sum(&OBJECT)` changes the own copy of a
/// symmetric object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    label = "not what can be reduced",
    note = "in place: `world.sum(&mut x)`; as a value: `let y = world.sum(x)`; a symmetric object: `world.sum(&OBJECT)`",
    note = "sum, prod, min, max and scans take the integers, f32 and f64, arrays of them, a `Vec` or a `Box` of a slice, and in place also a slice: `&mut values[..]`"
)]
pub trait Operands<R>: Contribution<R, Item: Reducible> {}

#[diagnostic::do_not_recommend]
impl<R, X: Contribution<R, Item: Reducible>> Operands<R> for X {}

/// What reductions of bits combine, with `R` as the result of the call: as [`Operands`], of integers, and `bool`.
#[diagnostic::on_unimplemented(
    message = "the bits of `{Self}` cannot be combined",
    label = "not what has bits to combine",
    note = "in place: `team.and(world, &mut x)`; as a value: `let y = team.and(world, x)`; a symmetric object: `team.and(world, &OBJECT)`",
    note = "and, or and xor take `bool`, the integers, arrays of them, a `Vec` or a `Box` of a slice, and in place also a slice: `&mut values[..]`"
)]
pub trait BitOperands<R>: Contribution<R, Item: BitReducible> {}

#[diagnostic::do_not_recommend]
impl<R, X: Contribution<R, Item: BitReducible>> BitOperands<R> for X {}

/// A number that can be reduced: an integer, f32 or f64. What it takes to be an element of a generic library is in it: a
/// number is [`PlainData`], and what collectives take by value.
///
/// ```no_run
/// use shmem::prelude::*;
///
/// /// The least and the greatest of what all PEs have.
/// fn extremes<T: shmem::Number>(world: &World, mine: T) -> (T, T) {
///     (world.min(mine), world.max(mine))
/// }
/// ```
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

/// What has bits that can be combined: an integer, or the [`Truth`] that a `bool` is.
pub trait BitNumber: BitReducible<Bits = Self> {
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

impl<T: BitReducible, const N: usize> BitReducible for [T; N]
where
    [T; N]: Pod,
{
    type Bits = T::Bits;
}

impl sealed::Sealed for Truth {}
impl BitReducible for Truth {
    type Bits = Self;
}

impl BitNumber for Truth {
    fn anded(self, other: Self) -> Self {
        self.and(other)
    }

    fn ored(self, other: Self) -> Self {
        self.or(other)
    }

    fn xored(self, other: Self) -> Self {
        self.xor(other)
    }
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

        $(impl BitReducible for $t {
            type Bits = $t;
        }

        impl BitNumber for $t {
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
