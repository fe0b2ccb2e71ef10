//! How elements of reductions become one: of each type of C, by each operation.
//!
//! A [`Fold`] combines a slice with those behind it, so the compiler makes vectors of it. Nothing need be aligned: what C gives is
//! read and written as bytes.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Sub};

use shmem::raw::collective::Fold;
use shmem_core::observe::Family;

use crate::long_double;
use crate::types::{ComplexDouble, ComplexFloat, Item, LongDouble, Number, Numeric};

/// Combines so many elements with as many others, which come behind them. Neither need be aligned, and they lie apart.
pub type Combine = unsafe fn(into: *mut u8, from: *const u8, elements: usize);

/// What elements become one by.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    combine: Combine,
    /// Whether the result depends on the order.
    rounds: bool,
    /// Its row in the table of operations.
    pub family: Family,
}

impl Reduction {
    const fn exact(combine: Combine, family: Family) -> Self {
        Self { combine, rounds: false, family }
    }

    /// The fold of elements of a type, for a routine.
    pub fn fold<T>(self, routine: &'static str) -> Fold {
        Fold { combine: self.combine, size: size_of::<T>(), rounds: self.rounds, name: routine }
    }
}

/// Elements that are combined bit by bit.
pub trait Bitwise: Item {
    /// Bitwise and.
    const AND: Reduction;
    /// Bitwise or.
    const OR: Reduction;
    /// Bitwise exclusive or.
    const XOR: Reduction;
}

/// Elements of which one is the largest.
pub trait Ordered: Item {
    /// The larger one.
    const MAX: Reduction;
    /// The lesser one.
    const MIN: Reduction;
}

/// Elements that are added.
pub trait Arithmetic: Item {
    /// The sum; integers wrap.
    const SUM: Reduction;
    /// The product; integers wrap.
    const PROD: Reduction;
}

/// Combines elements one by one.
///
/// # Safety
///
/// So many elements must be writable from `into` on, and readable from `from` on, and the two lie apart.
#[inline(always)]
unsafe fn each<T: Copy>(into: *mut u8, from: *const u8, elements: usize, op: impl Fn(T, T) -> T) {
    let (into, from) = (into.cast::<T>(), from.cast::<T>());
    for k in 0..elements {
        let (left, right) = (into.wrapping_add(k), from.wrapping_add(k));
        // SAFETY: one of so many that are readable (caller).
        let (a, b) = (unsafe { left.read_unaligned() }, unsafe { right.read_unaligned() });
        // SAFETY: one of so many that are writable (caller).
        unsafe { left.write_unaligned(op(a, b)) };
    }
}

macro_rules! folds {
    ($($name:ident<$T:ident: $bound:ident> of $element:ty = $op:expr;)*) => {$(
        /// # Safety
        ///
        /// As [`each`].
        unsafe fn $name<$T: $bound>(into: *mut u8, from: *const u8, elements: usize) {
            // SAFETY: the caller's promise.
            unsafe { each::<$element>(into, from, elements, $op) }
        }
    )*};
}
folds! {
    and<P: Bits> of P = P::bitand;
    or<P: Bits> of P = P::bitor;
    xor<P: Bits> of P = P::bitxor;
    max<P: Number> of P = |a, b| if a < b { b } else { a };
    min<P: Number> of P = |a, b| if b < a { b } else { a };
    sum<P: Number> of P = P::plus;
    prod<P: Number> of P = P::times;
    complex_sum<P: Real> of [P; 2] = |[a, b], [c, d]| [a + c, b + d];
    complex_prod<P: Real> of [P; 2] = |[a, b], [c, d]| [a * c - b * d, a * d + b * c];
}

/// Numbers that have bits.
trait Bits: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> {}

impl<T: Copy + BitAnd<Output = T> + BitOr<Output = T> + BitXor<Output = T>> Bits for T {}

/// Parts of complex numbers.
trait Real: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}

impl<T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>> Real for T {}

impl<T: Numeric<Number: Bits>> Bitwise for T {
    const AND: Reduction = Reduction::exact(and::<T::Number>, Family::And);
    const OR: Reduction = Reduction::exact(or::<T::Number>, Family::Or);
    const XOR: Reduction = Reduction::exact(xor::<T::Number>, Family::Xor);
}

impl<T: Numeric> Ordered for T {
    const MAX: Reduction = Reduction::exact(max::<T::Number>, Family::Max);
    const MIN: Reduction = Reduction::exact(min::<T::Number>, Family::Min);
}

impl<T: Numeric> Arithmetic for T {
    const SUM: Reduction =
        Reduction { combine: sum::<T::Number>, rounds: T::Number::ROUNDS, family: Family::Sum };
    const PROD: Reduction =
        Reduction { combine: prod::<T::Number>, rounds: T::Number::ROUNDS, family: Family::Prod };
}

impl Ordered for LongDouble {
    const MAX: Reduction = Reduction::exact(long_double::max, Family::Max);
    const MIN: Reduction = Reduction::exact(long_double::min, Family::Min);
}

/// Those that are no numbers of Rust.
macro_rules! arithmetic {
    ($($T:ident by $sum:expr, $prod:expr;)*) => {$(
        impl Arithmetic for $T {
            const SUM: Reduction = Reduction { combine: $sum, rounds: true, family: Family::Sum };
            const PROD: Reduction = Reduction { combine: $prod, rounds: true, family: Family::Prod };
        }
    )*};
}
arithmetic! {
    LongDouble by long_double::sum, long_double::prod;
    ComplexFloat by complex_sum::<f32>, complex_prod::<f32>;
    ComplexDouble by complex_sum::<f64>, complex_prod::<f64>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Double, Float, Int, Long, SChar, Short, UChar, ULong};

    /// Combines elements of so many numbers each that lie anywhere.
    fn folded_by<P: bytemuck::Pod>(numbers: usize, by: Reduction, left: &[P], right: &[P]) -> Vec<P> {
        assert!(left.len() == right.len() && left.len().is_multiple_of(numbers));
        let bytes = size_of_val(left);
        // One byte off, so that nothing is aligned.
        let (mut into, mut from) = (vec![0; bytes + 1], vec![0; bytes + 1]);
        into[1..].copy_from_slice(bytemuck::cast_slice(left));
        from[1..].copy_from_slice(bytemuck::cast_slice(right));
        // SAFETY: both have so many elements behind their first byte, and lie apart.
        unsafe { (by.combine)(into[1..].as_mut_ptr(), from[1..].as_ptr(), left.len() / numbers) };
        into[1..].chunks_exact(size_of::<P>()).map(bytemuck::pod_read_unaligned).collect()
    }

    fn folded<P: bytemuck::Pod>(by: Reduction, left: &[P], right: &[P]) -> Vec<P> {
        folded_by(1, by, left, right)
    }

    #[test]
    fn bits_are_combined_as_bits() {
        let (left, right) = ([0x0f_u16, 0xff00, 1], [0x3c_u16, 0x0ff0, 1]);
        assert_eq!(folded(Short::AND, &left, &right), [0x0c, 0x0f00, 1]);
        assert_eq!(folded(Short::OR, &left, &right), [0x3f, 0xfff0, 1]);
        assert_eq!(folded(Short::XOR, &left, &right), [0x33, 0xf0f0, 0]);
    }

    #[test]
    fn a_sign_counts_where_there_is_one() {
        assert_eq!(folded(SChar::MAX, &[-1_i8, 5], &[1, -7]), [1, 5]);
        assert_eq!(folded(UChar::MAX, &[255_u8, 5], &[1, 7]), [255, 7]);
        assert_eq!(folded(Long::MIN, &[-1_i64, 5], &[1, -7]), [-1, -7]);
        assert_eq!(folded(ULong::MIN, &[u64::MAX, 5], &[1, 7]), [1, 5]);
        assert_eq!(folded(Double::MIN, &[-0.5, 5.0], &[0.25, f64::NEG_INFINITY]), [-0.5, f64::NEG_INFINITY]);
        assert_eq!(folded(Float::MAX, &[-0.5_f32, 5.0], &[0.25, f32::INFINITY]), [0.25, f32::INFINITY]);
    }

    #[test]
    fn integers_wrap_and_reals_round() {
        assert_eq!(folded(SChar::SUM, &[127_i8, -3], &[1, 1]), [-128, -2]);
        assert_eq!(folded(Int::PROD, &[1 << 30, -3_i32], &[4, 7]), [0, -21]);
        assert_eq!(folded(Double::SUM, &[1.0], &[f64::EPSILON / 4.0]), [1.0]);
        assert_eq!(folded(Float::PROD, &[1.5_f32], &[-2.0]), [-3.0]);
    }

    #[test]
    fn complex_numbers_are_multiplied_as_such() {
        assert_eq!(folded_by(2, ComplexDouble::PROD, &[1.0, 2.0], &[3.0, -4.0]), [11.0, 2.0]);
        assert_eq!(
            folded_by(2, ComplexFloat::PROD, &[0.0_f32, 1.0, 2.0, 0.0], &[0.0, 1.0, 0.5, 3.0]),
            [-1.0, 0.0, 1.0, 6.0]
        );
        assert_eq!(folded_by(2, ComplexFloat::SUM, &[0.0_f32, 1.0], &[2.0, 1.0]), [2.0, 2.0]);
    }
}
