//! Arithmetic of `long double`, a type that Rust does not have, in assembly.
//!
//! On x86-64, `long double` is the 80-bit type of the x87 unit, in 16 bytes with six bytes of padding at the end. On 64-bit Arm it
//! has 128 bits, and the compiler's library has functions for its arithmetic.

use core::arch::asm;
use core::cmp::Ordering;

use crate::types::{Arithmetic, LongDouble, Numeric};

impl Numeric for LongDouble {
    type Number = Self;
}

impl PartialEq for LongDouble {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other).is_some_and(Ordering::is_eq)
    }
}

/// Runs instructions of the x87 unit on two numbers. The unit's registers are empty before and after.
#[cfg(target_arch = "x86_64")]
macro_rules! x87 {
    ($left:expr, $right:expr => $($code:literal)* $(, $flag:ident = $register:ident)*) => {
        asm!(
            "fld tbyte ptr [{left}]", "fld tbyte ptr [{right}]", $($code,)*
            left = in(reg) $left, right = in(reg) $right, $($flag = out(reg_byte) $register,)*
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _, out("st(4)") _, out("st(5)") _, out("st(6)") _,
            out("st(7)") _, options(nostack)
        )
    };
}

#[cfg(target_arch = "x86_64")]
impl Arithmetic for LongDouble {
    const ROUNDS: bool = true;

    #[inline]
    fn plus(mut self, other: Self) -> Self {
        // SAFETY: the instructions read both numbers, and write the first ten bytes of the left one.
        unsafe { x87!(&raw mut self, &raw const other => "faddp st(1), st" "fstp tbyte ptr [{left}]") };
        self
    }

    #[inline]
    fn times(mut self, other: Self) -> Self {
        // SAFETY: the instructions read both numbers, and write the first ten bytes of the left one.
        unsafe { x87!(&raw mut self, &raw const other => "fmulp st(1), st" "fstp tbyte ptr [{left}]") };
        self
    }
}

#[cfg(target_arch = "x86_64")]
impl PartialOrd for LongDouble {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let (above, below, unordered): (u8, u8, u8);
        // SAFETY: the instructions only read both numbers.
        unsafe {
            x87!(
                other, self => "fcomip st, st(1)" "seta {above}" "setb {below}" "setp {unordered}" "fstp st(0)",
                above = above, below = below, unordered = unordered
            );
        }
        (unordered == 0).then(|| above.cmp(&below))
    }
}

/// Calls a function of two numbers, and then runs `$code`. The function preserves x20 and x21, the numbers' addresses.
#[cfg(target_arch = "aarch64")]
macro_rules! quad {
    ($left:expr, $right:expr => $function:literal $code:literal $(, $given:ident)?) => {
        asm!(
            "ldr q0, [x20]", "ldr q1, [x21]", concat!("bl ", $function), $code,
            in("x20") $left, in("x21") $right, $(lateout("x0") $given,)? clobber_abi("C")
        )
    };
}

#[cfg(target_arch = "aarch64")]
impl Arithmetic for LongDouble {
    const ROUNDS: bool = true;

    #[inline]
    fn plus(mut self, other: Self) -> Self {
        // SAFETY: the instructions read both numbers, and write the left one.
        unsafe { quad!(&raw mut self, &raw const other => "__addtf3" "str q0, [x20]") };
        self
    }

    #[inline]
    fn times(mut self, other: Self) -> Self {
        // SAFETY: the instructions read both numbers, and write the left one.
        unsafe { quad!(&raw mut self, &raw const other => "__multf3" "str q0, [x20]") };
        self
    }
}

#[cfg(target_arch = "aarch64")]
impl PartialOrd for LongDouble {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let (unordered, order): (i32, i32);
        // SAFETY: the instructions only read both numbers.
        unsafe { quad!(&raw const *self, &raw const *other => "__unordtf2" "", unordered) };
        // SAFETY: the instructions only read both numbers.
        unsafe { quad!(&raw const *self, &raw const *other => "__letf2" "", order) };
        (unordered == 0).then(|| order.cmp(&0))
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const TOP: u64 = 1 << 63;

    /// A number: its significand, and its exponent with the sign above.
    fn number(significand: u64, exponent: u16) -> LongDouble {
        // The last six bytes are padding.
        LongDouble([significand, 0xaaaa_aaaa_aaaa_0000 | u64::from(exponent)])
    }

    #[test]
    fn they_have_all_their_bits_and_no_order_with_what_is_no_number() {
        // 2^63 + 1 has 64 bits, more than a `double`.
        let (one, most, nan) = (number(TOP, 16383), number(TOP, 16383 + 63), number(3 << 62, 0x7fff));
        let (half, minus) = (number(TOP, 16382), number(TOP, 0x8000 | 16383));
        assert_eq!(most.plus(one).0, number(TOP | 1, 16383 + 63).0);
        assert_eq!(most.times(half).0, number(TOP, 16382 + 63).0);
        assert_eq!(minus.times(most).0, number(TOP, 0x8000 | (16383 + 63)).0);
        let table = [
            (minus, half, Some(Ordering::Less)),
            (most, one, Some(Ordering::Greater)),
            (one, one, Some(Ordering::Equal)),
            (one, nan, None),
            (nan, one, None),
            (nan, nan, None),
        ];
        for (left, right, order) in table {
            assert_eq!(left.partial_cmp(&right), order, "{left:?}, {right:?}");
        }
    }
}
