//! How elements of reductions become one: of each type of C, by each operation.
//!
//! A [`Fold`] combines a slice with those behind it, so the compiler makes vectors of it. Nothing need be aligned: what C gives is
//! read and written as bytes.

use shmem::raw::collective::Fold;
use shmem_core::observe::Family;

use crate::long_double;
use crate::types::{
    Char, ComplexDouble, ComplexFloat, Double, Float, Int, Int8, Int16, Int32, Int64, Item, Long, LongDouble,
    LongLong, PtrDiff, SChar, Short, Size, UChar, UInt, UInt8, UInt16, UInt32, UInt64, ULong, ULongLong,
    UShort,
};

/// Combines so many elements with as many others, which come behind them. Neither need be aligned, and they lie apart.
pub type Combine = unsafe fn(into: *mut u8, from: *const u8, elements: usize);

/// An operation of reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The largest.
    Max,
    /// The least.
    Min,
    /// The sum; integers wrap.
    Sum,
    /// The product; integers wrap.
    Prod,
}

impl Operation {
    /// Its row in the table of operations.
    pub fn family(self) -> Family {
        match self {
            Self::And => Family::And,
            Self::Or => Family::Or,
            Self::Xor => Family::Xor,
            Self::Max => Family::Max,
            Self::Min => Family::Min,
            Self::Sum => Family::Sum,
            Self::Prod => Family::Prod,
        }
    }
}

/// Elements that are combined bit by bit.
pub trait Bitwise: Item {
    /// Bitwise and.
    const AND: Combine;
    /// Bitwise or.
    const OR: Combine;
    /// Bitwise exclusive or.
    const XOR: Combine;
}

/// Elements of which one is the largest.
pub trait Ordered: Item {
    /// The larger one.
    const MAX: Combine;
    /// The lesser one.
    const MIN: Combine;
}

/// Elements that are added.
pub trait Arithmetic: Item {
    /// The sum.
    const SUM: Combine;
    /// The product.
    const PROD: Combine;
    /// Whether either depends on the order.
    const ROUNDS: bool;
}

/// The fold by `&`, `|` or `^` of elements of a type.
pub fn bitwise<T: Bitwise>(operation: Operation, name: &'static str) -> Fold {
    let combine = match operation {
        Operation::And => T::AND,
        Operation::Or => T::OR,
        Operation::Xor => T::XOR,
        other => unreachable!("{other:?} is not bitwise"),
    };
    Fold { combine, size: size_of::<T>(), rounds: false, name }
}

/// The fold by which the largest or the least of elements is found.
pub fn ordered<T: Ordered>(operation: Operation, name: &'static str) -> Fold {
    let combine = match operation {
        Operation::Max => T::MAX,
        Operation::Min => T::MIN,
        other => unreachable!("{other:?} is no order"),
    };
    Fold { combine, size: size_of::<T>(), rounds: false, name }
}

/// The fold by which elements are added or multiplied.
pub fn arithmetic<T: Arithmetic>(operation: Operation, name: &'static str) -> Fold {
    let combine = match operation {
        Operation::Sum => T::SUM,
        Operation::Prod => T::PROD,
        other => unreachable!("{other:?} is no arithmetic"),
    };
    Fold { combine, size: size_of::<T>(), rounds: T::ROUNDS, name }
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
    and<P: Integer> of P = P::and;
    or<P: Integer> of P = P::or;
    xor<P: Integer> of P = P::xor;
    max<P: Number> of P = |a, b| if a < b { b } else { a };
    min<P: Number> of P = |a, b| if b < a { b } else { a };
    sum<P: Number> of P = P::add;
    prod<P: Number> of P = P::mul;
    complex_sum<P: Number> of [P; 2] = |[a, b], [c, d]| [P::add(a, c), P::add(b, d)];
    complex_prod<P: Number> of [P; 2] = |[a, b], [c, d]| {
        [P::sub(P::mul(a, c), P::mul(b, d)), P::add(P::mul(a, d), P::mul(b, c))]
    };
}

/// Numbers of Rust that those of C are.
trait Number: Copy + PartialOrd {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
}

/// Those that have bits.
trait Integer: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($T:ty)*) => {$(
        impl Number for $T {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
        impl Integer for $T {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

macro_rules! reals {
    ($($T:ty)*) => {$(
        impl Number for $T {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}
reals! { f32 f64 }

// What the types of C are combined as: where only bits count, all of a size as one.
macro_rules! bits {
    ($($T:ident as $P:ty;)*) => {$(
        impl Bitwise for $T {
            const AND: Combine = and::<$P>;
            const OR: Combine = or::<$P>;
            const XOR: Combine = xor::<$P>;
        }
    )*};
}
bits! {
    Short as u16; Int as u32; Long as u64; LongLong as u64; UChar as u8; UShort as u16; UInt as u32; ULong as u64;
    ULongLong as u64; Int8 as u8; Int16 as u16; Int32 as u32; Int64 as u64; UInt8 as u8; UInt16 as u16; UInt32 as u32;
    UInt64 as u64; Size as usize;
}

macro_rules! ordered {
    ($($T:ident as $P:ty;)*) => {$(
        impl Ordered for $T {
            const MAX: Combine = max::<$P>;
            const MIN: Combine = min::<$P>;
        }
    )*};
}
ordered! {
    Char as std::ffi::c_char; SChar as i8; Short as i16; Int as i32; Long as i64; LongLong as i64; PtrDiff as isize;
    UChar as u8; UShort as u16; UInt as u32; ULong as u64; ULongLong as u64; Int8 as i8; Int16 as i16; Int32 as i32;
    Int64 as i64; UInt8 as u8; UInt16 as u16; UInt32 as u32; UInt64 as u64; Size as usize; Float as f32; Double as f64;
}

impl Ordered for LongDouble {
    const MAX: Combine = long_double::max;
    const MIN: Combine = long_double::min;
}

macro_rules! arithmetic {
    ($($T:ident as $P:ty, $rounds:literal;)*) => {$(
        impl Arithmetic for $T {
            const SUM: Combine = sum::<$P>;
            const PROD: Combine = prod::<$P>;
            const ROUNDS: bool = $rounds;
        }
    )*};
}
arithmetic! {
    Char as u8, false; SChar as u8, false; Short as u16, false; Int as u32, false; Long as u64, false;
    LongLong as u64, false; PtrDiff as usize, false; UChar as u8, false; UShort as u16, false; UInt as u32, false;
    ULong as u64, false; ULongLong as u64, false; Int8 as u8, false; Int16 as u16, false; Int32 as u32, false;
    Int64 as u64, false; UInt8 as u8, false; UInt16 as u16, false; UInt32 as u32, false; UInt64 as u64, false;
    Size as usize, false; Float as f32, true; Double as f64, true;
}

impl Arithmetic for LongDouble {
    const SUM: Combine = long_double::sum;
    const PROD: Combine = long_double::prod;
    const ROUNDS: bool = true;
}

impl Arithmetic for ComplexFloat {
    const SUM: Combine = complex_sum::<f32>;
    const PROD: Combine = complex_prod::<f32>;
    const ROUNDS: bool = true;
}

impl Arithmetic for ComplexDouble {
    const SUM: Combine = complex_sum::<f64>;
    const PROD: Combine = complex_prod::<f64>;
    const ROUNDS: bool = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Combines elements of so many numbers each that lie anywhere.
    fn folded_by<P: bytemuck::Pod>(numbers: usize, combine: Combine, left: &[P], right: &[P]) -> Vec<P> {
        assert!(left.len() == right.len() && left.len().is_multiple_of(numbers));
        let bytes = size_of_val(left);
        // One byte off, so that nothing is aligned.
        let (mut into, mut from) = (vec![0; bytes + 1], vec![0; bytes + 1]);
        into[1..].copy_from_slice(bytemuck::cast_slice(left));
        from[1..].copy_from_slice(bytemuck::cast_slice(right));
        // SAFETY: both have so many elements behind their first byte, and lie apart.
        unsafe { combine(into[1..].as_mut_ptr(), from[1..].as_ptr(), left.len() / numbers) };
        into[1..].chunks_exact(size_of::<P>()).map(bytemuck::pod_read_unaligned).collect()
    }

    fn folded<P: bytemuck::Pod>(combine: Combine, left: &[P], right: &[P]) -> Vec<P> {
        folded_by(1, combine, left, right)
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
