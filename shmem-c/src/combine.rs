//! The operations of reductions, for each element type of C.
//!
//! A [`Fold`] combines slices, so that the compiler can vectorise it. Elements may be unaligned.

use std::ops::{BitAnd, BitOr, BitXor};

use shmem::c_interface::collective::Fold;
use shmem_core::observe::Family;

use crate::types::{Arithmetic, Numeric};

/// A reduction's operation, for one element type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    /// Combines the elements at `into` with those of a higher rank at `from`. The two ranges are disjoint, and may be unaligned.
    combine: unsafe fn(into: *mut u8, from: *const u8, elements: usize),
    rounds: bool,
    pub(crate) family: Family,
}

impl Reduction {
    pub(crate) fn fold<T>(self, routine: &'static str) -> Fold {
        Fold { combine: self.combine, size: size_of::<T>(), rounds: self.rounds, name: routine }
    }
}

pub(crate) trait Bits:
    Arithmetic + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
}

impl<N: Arithmetic + BitAnd<Output = N> + BitOr<Output = N> + BitXor<Output = N>> Bits for N {}

pub(crate) trait Ordered: Arithmetic + PartialOrd {}

impl<N: Arithmetic + PartialOrd> Ordered for N {}

macro_rules! reductions {
    ($($name:ident<$N:ident: $bound:ident> = $op:expr, $rounds:expr, $family:ident;)*) => {$(
        pub(crate) const fn $name<T: Numeric<Number: $bound>>() -> Reduction {
            const fn of<$N: $bound>() -> Reduction {
                /// # Safety
                ///
                /// `elements` elements must be readable and writable at `into`, and readable at `from`. The two ranges must be
                /// disjoint.
                unsafe fn combine<$N: $bound>(into: *mut u8, from: *const u8, elements: usize) {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { each::<$N>(into, from, elements, $op) }
                }
                Reduction { combine: combine::<$N>, rounds: $rounds, family: Family::$family }
            }
            of::<T::Number>()
        }
    )*};
}
reductions! {
    and<N: Bits> = N::bitand, false, And;
    or<N: Bits> = N::bitor, false, Or;
    xor<N: Bits> = N::bitxor, false, Xor;
    max<N: Ordered> = |a, b| if a < b { b } else { a }, false, Max;
    min<N: Ordered> = |a, b| if b < a { b } else { a }, false, Min;
    sum<N: Arithmetic> = N::plus, N::ROUNDS, Sum;
    prod<N: Arithmetic> = N::times, N::ROUNDS, Prod;
}

/// Replaces each element at `into` by `op` of it and the element at `from`.
///
/// # Safety
///
/// `elements` elements must be readable and writable at `into`, and readable at `from`. The two ranges must be disjoint.
#[inline(always)]
unsafe fn each<T: Copy>(into: *mut u8, from: *const u8, elements: usize, op: impl Fn(T, T) -> T) {
    let (into, from) = (into.cast::<T>(), from.cast::<T>());
    for k in 0..elements {
        let (left, right) = (into.wrapping_add(k), from.wrapping_add(k));
        // SAFETY: both elements are readable (caller).
        let (a, b) = (unsafe { left.read_unaligned() }, unsafe { right.read_unaligned() });
        // SAFETY: the element at `left` is writable (caller).
        unsafe { left.write_unaligned(op(a, b)) };
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::types::{ComplexDouble, ComplexFloat, Double, Float, Int, Long, SChar, Short, UChar, ULong};

    #[track_caller]
    fn check<P: bytemuck::Pod + PartialEq + Debug>(by: Reduction, left: &[P], right: &[P], expected: &[P]) {
        let bytes = size_of_val(left);
        // One byte off, so that nothing is aligned.
        let (mut into, mut from) = (vec![0; bytes + 1], vec![0; bytes + 1]);
        into[1..].copy_from_slice(bytemuck::cast_slice(left));
        from[1..].copy_from_slice(bytemuck::cast_slice(right));
        // SAFETY: both have so many elements behind their first byte, and lie apart.
        unsafe { (by.combine)(into[1..].as_mut_ptr(), from[1..].as_ptr(), left.len().min(right.len())) };
        let found: Vec<P> =
            into[1..].chunks_exact(size_of::<P>()).map(bytemuck::pod_read_unaligned).collect();
        assert_eq!(found, expected, "{:?}", by.family);
    }

    /// What conformance programs do not reduce: signs, numbers that wrap and round, infinities.
    #[test]
    fn elements_are_combined_as_numbers_of_their_type() {
        check(and::<Short>(), &[0x0f_u16, 0xff00, 1], &[0x3c, 0x0ff0, 1], &[0x0c, 0x0f00, 1]);
        check(or::<Short>(), &[0x0f_u16, 0xff00, 1], &[0x3c, 0x0ff0, 1], &[0x3f, 0xfff0, 1]);
        check(xor::<Short>(), &[0x0f_u16, 0xff00, 1], &[0x3c, 0x0ff0, 1], &[0x33, 0xf0f0, 0]);
        check(max::<SChar>(), &[-1_i8, 5], &[1, -7], &[1, 5]);
        check(max::<UChar>(), &[255_u8, 5], &[1, 7], &[255, 7]);
        check(min::<Long>(), &[-1_i64, 5], &[1, -7], &[-1, -7]);
        check(min::<ULong>(), &[u64::MAX, 5], &[1, 7], &[1, 5]);
        check(min::<Double>(), &[-0.5, 5.0], &[0.25, f64::NEG_INFINITY], &[-0.5, f64::NEG_INFINITY]);
        check(max::<Float>(), &[-0.5_f32, 5.0], &[0.25, f32::INFINITY], &[0.25, f32::INFINITY]);
        check(sum::<SChar>(), &[127_i8, -3], &[1, 1], &[-128, -2]);
        check(prod::<Int>(), &[1 << 30, -3_i32], &[4, 7], &[0, -21]);
        check(sum::<Double>(), &[1.0], &[f64::EPSILON / 4.0], &[1.0]);
        check(prod::<Float>(), &[1.5_f32], &[-2.0], &[-3.0]);
        check(
            prod::<ComplexDouble>(),
            &[ComplexDouble(1.0, 2.0)],
            &[ComplexDouble(3.0, -4.0)],
            &[ComplexDouble(11.0, 2.0)],
        );
        check(
            sum::<ComplexFloat>(),
            &[ComplexFloat(0.0, 1.0)],
            &[ComplexFloat(2.0, 1.0)],
            &[ComplexFloat(2.0, 2.0)],
        );
    }
}
