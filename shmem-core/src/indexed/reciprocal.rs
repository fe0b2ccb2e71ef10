//! Division by a number that stays.

/// A divisor, and what it is multiplied with instead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reciprocal {
    divisor: u64,
    /// The largest number that is no more than 2^64 / `divisor`, or one less.
    factor: u64,
}

impl Reciprocal {
    /// That of a number; 0 is taken for 1.
    pub(super) fn of(divisor: usize) -> Self {
        let divisor = (divisor as u64).max(1);
        Self { divisor, factor: u64::MAX / divisor }
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub(super) fn divide(self, number: usize) -> (usize, usize) {
        let (number, Self { divisor, factor }) = (number as u64, self);
        // `factor` is at least (2^64 - divisor) / divisor. So the product is less than the quotient by no more than
        // number / 2^64, which is less than 1: rounded down it is the quotient, or one less.
        let quotient = ((u128::from(number) * u128::from(factor)) >> 64) as u64;
        let rest = number - quotient * divisor;
        let is_short = rest >= divisor;
        let rest = if is_short { rest - divisor } else { rest };
        ((quotient + u64::from(is_short)) as usize, rest as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of all lengths, and those beside powers of two.
    fn numbers() -> impl Strategy<Value = usize> {
        let any = (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| (number >> shift) as usize);
        let beside =
            (0..64_u32, 0..3_usize).prop_map(|(bit, by)| (1_usize << bit).wrapping_sub(1).wrapping_add(by));
        prop_oneof![any, beside]
    }

    proptest! {
        #[test]
        fn it_divides_as_the_processor_does(number in numbers(), divisor in numbers(), times in numbers()) {
            let divisor = divisor.max(1);
            let reciprocal = Reciprocal::of(divisor);
            let multiple = times.wrapping_mul(divisor);
            for number in [number, multiple, multiple.wrapping_sub(1), usize::MAX] {
                prop_assert_eq!(reciprocal.divide(number), (number / divisor, number % divisor));
            }
        }
    }
}
