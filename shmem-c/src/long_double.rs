//! `long double`, of which Rust knows nothing: how such numbers are combined.
//!
//! On x86-64 they are those of the x87 unit, of 80 bits in 16 bytes, of which the last six are never read nor written; elsewhere
//! numbers of 128 bits, for which the compiler's own library has functions. Both are told to the assembler: a function of C's
//! calling convention is a loop over elements that lie anywhere.

use core::arch::naked_asm;

macro_rules! folds {
    ($($(#[$doc:meta])* $name:ident = $inner:ident: $($code:expr),*;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// So many elements must be writable from `into` on, and readable from `from` on, and the two lie apart.
        pub(crate) unsafe fn $name(into: *mut u8, from: *const u8, elements: usize) {
            // SAFETY: the caller's promise.
            unsafe { $inner(into, from, elements) }
        }

        /// # Safety
        ///
        /// As its Rust form.
        #[unsafe(naked)]
        unsafe extern "C" fn $inner(into: *mut u8, from: *const u8, elements: usize) {
            naked_asm!($($code),*)
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
macro_rules! arithmetic {
    ($instruction:literal) => {
        concat!(
            "test rdx, rdx\n",
            "jz 3f\n",
            "2: fld tbyte ptr [rdi]\n",
            "fld tbyte ptr [rsi]\n",
            $instruction,
            "\n",
            "fstp tbyte ptr [rdi]\n",
            "add rdi, 16\n",
            "add rsi, 16\n",
            "dec rdx\n",
            "jnz 2b\n",
            "3: ret"
        )
    };
}

/// `$keeps` jumps where the left one stays, behind a comparison of the right one with it. Where one is no number, it stays.
#[cfg(target_arch = "x86_64")]
macro_rules! order {
    ($keeps:literal) => {
        concat!(
            "test rdx, rdx\n",
            "jz 3f\n",
            "2: fld tbyte ptr [rdi]\n",
            "fld tbyte ptr [rsi]\n",
            "fcomip st, st(1)\n",
            "fstp st(0)\n",
            "jp 4f\n",
            $keeps,
            " 4f\n",
            "mov rax, [rsi]\n",
            "mov [rdi], rax\n",
            "movzx eax, word ptr [rsi + 8]\n",
            "mov [rdi + 8], ax\n",
            "4: add rdi, 16\n",
            "add rsi, 16\n",
            "dec rdx\n",
            "jnz 2b\n",
            "3: ret"
        )
    };
}

#[cfg(target_arch = "x86_64")]
folds! {
    /// Their sums.
    sum = sum_x87: arithmetic!("faddp st(1), st");
    /// Their products.
    prod = prod_x87: arithmetic!("fmulp st(1), st");
    /// The larger ones.
    max = max_x87: order!("jbe");
    /// The lesser ones.
    min = min_x87: order!("jae");
}

#[cfg(target_arch = "aarch64")]
macro_rules! loop_of {
    ($($code:literal)*) => {
        concat!(
            "stp x29, x30, [sp, #-48]!\n",
            "mov x29, sp\n",
            "stp x19, x20, [sp, #16]\n",
            "str x21, [sp, #32]\n",
            "mov x19, x0\n",
            "mov x20, x1\n",
            "mov x21, x2\n",
            "2: cbz x21, 3f\n",
            $($code, "\n",)*
            "add x19, x19, #16\n",
            "add x20, x20, #16\n",
            "sub x21, x21, #1\n",
            "b 2b\n",
            "3: ldr x21, [sp, #32]\n",
            "ldp x19, x20, [sp, #16]\n",
            "ldp x29, x30, [sp], #48\n",
            "ret"
        )
    };
}

#[cfg(target_arch = "aarch64")]
folds! {
    /// Their sums.
    sum = sum_quad: loop_of!("ldr q0, [x19]" "ldr q1, [x20]" "bl __addtf3" "str q0, [x19]");
    /// Their products.
    prod = prod_quad: loop_of!("ldr q0, [x19]" "ldr q1, [x20]" "bl __multf3" "str q0, [x19]");
    /// The larger ones.
    max = max_quad: loop_of!(
        "ldr q0, [x20]" "ldr q1, [x19]" "bl __gttf2" "cmp w0, #0" "b.le 4f" "ldr q0, [x20]" "str q0, [x19]" "4:"
    );
    /// The lesser ones.
    min = min_quad: loop_of!(
        "ldr q0, [x20]" "ldr q1, [x19]" "bl __lttf2" "cmp w0, #0" "b.ge 4f" "ldr q0, [x20]" "str q0, [x19]" "4:"
    );
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// A number of 80 bits: its significand, its exponent with the sign above; and six bytes that mean nothing.
    fn number(significand: u64, exponent: u16) -> [u8; 16] {
        let mut bytes = [0xaa; 16];
        bytes[..8].copy_from_slice(&significand.to_le_bytes());
        bytes[8..10].copy_from_slice(&exponent.to_le_bytes());
        bytes
    }

    const TOP: u64 = 1 << 63;

    /// Of a small integer.
    fn integer(n: i64) -> [u8; 16] {
        if n == 0 {
            return number(0, 0);
        }
        let shift = n.unsigned_abs().leading_zeros();
        let sign = if n < 0 { 0x8000 } else { 0 };
        number(n.unsigned_abs() << shift, (16383 + 63 - shift as u16) | sign)
    }

    fn folded(
        combine: unsafe fn(*mut u8, *const u8, usize),
        left: &[[u8; 16]],
        right: &[[u8; 16]],
    ) -> Vec<[u8; 16]> {
        let mut into = left.to_vec();
        // SAFETY: both have so many elements, and lie apart.
        unsafe { combine(into.as_mut_ptr().cast(), right.as_ptr().cast(), left.len().min(right.len())) };
        into
    }

    #[test]
    fn they_are_combined_with_all_their_bits() {
        let integers = |numbers: &[i64]| numbers.iter().map(|n| integer(*n)).collect::<Vec<_>>();
        let (left, right) = (integers(&[3, -5, 0]), integers(&[4, 7, -1]));
        assert_eq!(folded(sum, &left, &right), integers(&[7, 2, -1]));
        assert_eq!(folded(prod, &left[..2], &right), integers(&[12, -35]));
        assert_eq!(folded(max, &left, &right), integers(&[4, 7, 0]));
        assert_eq!(folded(min, &left, &right), integers(&[3, -5, -1]));
        // 2^63 + 1 has 64 bits: a `double` has not so many.
        let (most, one) = (number(TOP, 16383 + 63), integer(1));
        assert_eq!(folded(sum, &[most], &[one]), [number(TOP | 1, 16383 + 63)]);
        assert_eq!(folded(sum, &[one], &[]), [one]);
    }

    #[test]
    fn what_is_no_number_takes_no_place() {
        let (nan, one) = (number(3 << 62, 0x7fff), integer(1));
        for combine in [max, min] {
            assert_eq!(folded(combine, &[one], &[nan]), [one]);
        }
    }
}
