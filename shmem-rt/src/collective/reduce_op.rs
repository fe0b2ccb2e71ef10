//! Types that can be reduced; [numbers](Number) with their operations; and [`ReduceOp`], an operation on bytes, by which one engine
//! serves all types and operations, of Rust and of C.

use core::marker::PhantomData;
use core::ops::{BitAnd, BitOr, BitXor};
use std::panic::Location;

use bytemuck::Pod;
use shmem_core::context::{Both, Contribution, Truth};
use shmem_core::planted_fault::mutant;
use shmem_core::symmetric_data::PlainData;

use crate::caller::at;
use crate::group::{CallSignature, Collective};

/// Data that can be reduced: a number, or an array of such data, element by element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    note = "sum, prod, min, max and scans take the integers, f32 and f64, and arrays of them; other plain data is combined by an operation of your own: `world.reduce(x, join)`"
)]
pub trait Reducible: PlainData + sealed::Sealed {
    /// The type of the numbers in the data.
    type Number: Number;
}

/// Data whose bits can be combined: an integer, or an array of such data.
#[diagnostic::on_unimplemented(
    message = "the bits of `{Self}` cannot be combined",
    note = "and, or and xor take the integers, and arrays of them, and `bool`"
)]
pub trait BitReducible: PlainData + sealed::Sealed {
    /// The type of the numbers whose bits are combined.
    type Bits: BitNumber;
}

/// The argument of a reduction: a [`Contribution`] of numbers. `R` is the result of the call: `world.sum(&mut x)` changes `x`,
/// `let y = world.sum(x)` returns the sum, and `world.sum(&OBJECT)` changes the own copy of a symmetric object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    label = "not what can be reduced",
    note = "in place: `world.sum(&mut x)`; as a value: `let y = world.sum(x)`; a symmetric object: `world.sum(&OBJECT)`",
    note = "sum, prod, min, max and scans take the integers, f32 and f64, arrays of them, tuples of two to four, a `Vec` or a `Box` of a slice, and in place also a slice: `&mut values[..]`; other plain data is combined by an operation of your own: `world.reduce(x, join)`"
)]
pub trait Operands<R>: Contribution<R, Item: Reducible> {}

#[diagnostic::do_not_recommend]
impl<R, X: Contribution<R, Item: Reducible>> Operands<R> for X {}

/// The argument of a reduction of bits: as [`Operands`], of integers and `bool`.
#[diagnostic::on_unimplemented(
    message = "the bits of `{Self}` cannot be combined",
    label = "not what has bits to combine",
    note = "in place: `team.and(world, &mut x)`; as a value: `let y = team.and(world, x)`; a symmetric object: `team.and(world, &OBJECT)`",
    note = "and, or and xor take `bool`, the integers, arrays of them, a `Vec` or a `Box` of a slice, and in place also a slice: `&mut values[..]`"
)]
pub trait BitOperands<R>: Contribution<R, Item: BitReducible> {}

#[diagnostic::do_not_recommend]
impl<R, X: Contribution<R, Item: BitReducible>> BitOperands<R> for X {}

/// A number that can be reduced: an integer, f32 or f64. A generic library needs no other bound: a number is [`PlainData`], and
/// collectives take it by value.
///
/// ```no_run
/// use shmem::prelude::*;
///
/// /// The least and the greatest of what all PEs have.
/// fn extremes<T: shmem::Number>(world: &World, mine: T) -> (T, T) {
///     (world.min(mine), world.max(mine))
/// }
/// ```
// Contributions are cut at multiples of 16 bytes. The size of a number is a power of two of at most 16 bytes, so no
// number is cut. A `Both` has up to 64 bytes, but is the only item of a contribution.
pub trait Number: Reducible<Number = Self> {
    /// The neutral element of the sum.
    const ZERO: Self;

    /// Whether sums and products are rounded, and so depend on their order.
    #[doc(hidden)]
    const ROUNDS: bool = false;

    /// Returns the sum; integers wrap.
    fn added(self, other: Self) -> Self;

    /// Returns the product; integers wrap.
    fn multiplied(self, other: Self) -> Self;

    /// Returns the smaller number: `-0.0` is smaller than `0.0`, and any number is preferred to a NaN.
    fn lesser(self, other: Self) -> Self;

    /// Returns the larger number: `-0.0` is smaller than `0.0`, and any number is preferred to a NaN.
    fn greater(self, other: Self) -> Self;

    /// Returns the number with one fixed NaN in place of every NaN, because arithmetic may produce any of them.
    #[doc(hidden)]
    #[must_use]
    fn settled(self) -> Self {
        self
    }
}

/// A number whose bits can be combined: an integer, or [`Truth`], which represents a `bool`.
pub trait BitNumber:
    BitReducible<Bits = Self> + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
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

impl BitNumber for Truth {}

impl<A: sealed::Sealed, B: sealed::Sealed> sealed::Sealed for Both<A, B> {}

impl<A: Number, B: Number> Reducible for Both<A, B> {
    type Number = Self;
}

/// Combines tuples element by element.
impl<A: Number, B: Number> Number for Both<A, B> {
    const ZERO: Self = Self::new(A::ZERO, B::ZERO);
    const ROUNDS: bool = A::ROUNDS || B::ROUNDS;

    fn added(self, other: Self) -> Self {
        self.join(other, A::added, B::added)
    }

    fn multiplied(self, other: Self) -> Self {
        self.join(other, A::multiplied, B::multiplied)
    }

    fn lesser(self, other: Self) -> Self {
        self.join(other, A::lesser, B::lesser)
    }

    fn greater(self, other: Self) -> Self {
        self.join(other, A::greater, B::greater)
    }

    fn settled(self) -> Self {
        self.each(A::settled, B::settled)
    }
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        impl Reducible for $t {
            type Number = $t;
        }
        impl BitReducible for $t {
            type Bits = $t;
        }

        impl Number for $t {
            const ZERO: Self = 0;

            #[inline(always)]
            fn added(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn multiplied(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                self.min(other)
            }

            #[inline(always)]
            fn greater(self, other: Self) -> Self {
                self.max(other)
            }
        }

        impl BitNumber for $t {}
    )*};
}
integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// Minimum and maximum give the same bits in any order: they compare the numbers and, for zeroes, the signs. (Loops that compare
/// one integer key instead are not vectorised.)
macro_rules! floats {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        impl Reducible for $t {
            type Number = $t;
        }

        impl Number for $t {
            const ZERO: Self = 0.0;
            const ROUNDS: bool = true;

            #[inline(always)]
            fn added(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn multiplied(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                if self == other {
                    // Equal numbers have equal bits, except zeroes. The smaller zero is `-0.0`, which has the sign bit of either.
                    return $t::from_bits(self.to_bits() | other.to_bits());
                }
                if self < other || other.is_nan() { self } else { other }
            }

            #[inline(always)]
            fn greater(self, other: Self) -> Self {
                if self == other {
                    return $t::from_bits(self.to_bits() & other.to_bits());
                }
                if self > other || other.is_nan() { self } else { other }
            }

            #[inline(always)]
            fn settled(self) -> Self {
                if self.is_nan() { $t::NAN } else { self }
            }
        }
    )*};
}
floats!(f32 f64);

/// A binary operation on items of a fixed number of bytes.
pub(super) trait ReduceOp {
    fn size(&self) -> usize;

    /// Whether the result is the same in any order.
    fn is_exact(&self) -> bool;

    /// Writes `left` combined with `right`, item by item, to `into`. Without `left`, `into` contains the left operands. All slices
    /// have the same number of whole items, at any alignment.
    fn combine(&self, into: &mut [u8], left: Option<&[u8]>, right: &[u8]);

    /// Replaces every NaN of a result by one fixed NaN.
    fn settle(&self, _results: &mut [u8]) {}
}

#[derive(Clone, Copy)]
pub(super) struct Typed<N, O, S> {
    op: O,
    settled: S,
    is_exact: bool,
    items: PhantomData<fn(N)>,
}

impl<N: Pod, O: Fn(N, N) -> N, S: Fn(N) -> N> Typed<N, O, S> {
    pub(super) fn new(op: O, settled: S, is_exact: bool) -> Self {
        Self { op, settled, is_exact, items: PhantomData }
    }
}

impl<N: Pod, O: Fn(N, N) -> N, S: Fn(N) -> N> ReduceOp for Typed<N, O, S> {
    fn size(&self) -> usize {
        size_of::<N>()
    }

    fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn combine(&self, into: &mut [u8], left: Option<&[u8]>, right: &[u8]) {
        require_same(into, right);
        let (into, right) = (into.chunks_exact_mut(size_of::<N>()), right.chunks_exact(size_of::<N>()));
        let both = |left: &[u8], right: &[u8]| {
            (self.op)(bytemuck::pod_read_unaligned(left), bytemuck::pod_read_unaligned(right))
        };
        match left {
            Some(left) => {
                let operands = left.chunks_exact(size_of::<N>()).zip(right);
                into.zip(operands).for_each(|(into, (left, right))| {
                    into.copy_from_slice(bytemuck::bytes_of(&both(left, right)));
                });
            }
            None => into.zip(right).for_each(|(into, right)| {
                let both = both(into, right);
                into.copy_from_slice(bytemuck::bytes_of(&both));
            }),
        }
    }

    fn settle(&self, results: &mut [u8]) {
        if mutant("nan-unsettled") {
            return;
        }
        for result in results.chunks_exact_mut(size_of::<N>()) {
            let settled = (self.settled)(bytemuck::pod_read_unaligned(result));
            result.copy_from_slice(bytemuck::bytes_of(&settled));
        }
    }
}

pub(super) fn require_same(into: &[u8], operands: &[u8]) {
    assert!(into.len() == operands.len(), "a tile of {} bytes, and one of {}", into.len(), operands.len());
}

impl Collective<'_> {
    /// Runs a reduction by an operation of the program. A panic inside the operation ends the job, because the other PEs
    /// would wait for this one.
    pub(super) fn with_operation<I: Pod>(
        &self,
        signature: &CallSignature<'_>,
        op: impl Fn(I, I) -> I,
        reduce: impl FnOnce(&dyn ReduceOp),
    ) {
        let guarded = |one, other| {
            let unwinding = Unwinding { collective: self, signature };
            let result = op(one, other);
            core::mem::forget(unwinding);
            result
        };
        reduce(&Typed::new(guarded, |item| item, false));
    }
}

/// A guard that ends the job when a panic drops the guard.
struct Unwinding<'p> {
    collective: &'p Collective<'p>,
    signature: &'p CallSignature<'p>,
}

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        let CallSignature { operation, subject, location, .. } = self.signature;
        let said = format!(
            "a panic inside the operation of `{}({})` at {} ends the job: other PEs are in the same collective",
            operation.name,
            subject(),
            at(location.unwrap_or(const { Location::caller() }))
        );
        self.collective.team.job.abort(101, &said)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whole numbers in the order of floating ones, zeroes by their sign.
    fn key(number: f64) -> i64 {
        let bits = number.to_bits().cast_signed();
        bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => any::<f64>(),
            2 => (-2_i32..3).prop_map(f64::from),
            2 => prop_oneof![Just(-0.0), Just(0.0), Just(f64::INFINITY), Just(f64::NEG_INFINITY)],
            1 => any::<u64>().prop_map(|bits| f64::from_bits(bits | 0x7ff8 << 48)),
        ]
    }

    proptest! {
        /// In any order, and however they are put together.
        #[test]
        fn extremes_are_those_of_whole_numbers(
            numbers in proptest::collection::vec(number(), 1..9), at: proptest::sample::Index,
        ) {
            let (left, right) = numbers.split_at(at.index(numbers.len()));
            let of = |op: fn(f64, f64) -> f64| {
                let halves = [right, left].into_iter().filter_map(|half| half.iter().copied().reduce(op));
                halves.reduce(op).unwrap().settled().to_bits()
            };
            let real = numbers.iter().copied().filter(|number| !number.is_nan());
            let least = real.clone().min_by_key(|number| key(*number)).unwrap_or(f64::NAN);
            let most = real.max_by_key(|number| key(*number)).unwrap_or(f64::NAN);
            prop_assert_eq!(of(f64::lesser), least.to_bits());
            prop_assert_eq!(of(f64::greater), most.to_bits());
        }
    }
}
