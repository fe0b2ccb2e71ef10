//! The random numbers of RandomAccess: a shift register with linear feedback.
//!
//! A number is a polynomial over the field of two elements, bit by bit, and the next one is that times x,
//! modulo x^64 + x^2 + x + 1. So the number in position n is x^n, which squaring reaches in 64 steps from anywhere:
//! each PE begins where its share of the stream does.

/// What x^64 is, modulo the polynomial.
const POLYNOMIAL: u64 = 7;

/// The numbers from a position on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    last: u64,
}

impl Stream {
    /// The stream without its first `skipped` numbers.
    pub(crate) fn behind(skipped: u64) -> Self {
        let bits = (0..u64::BITS).rev().map(|bit| skipped >> bit & 1 == 1);
        let last = bits.fold(1, |power, odd| {
            let square = product(power, power);
            if odd { times_x(square) } else { square }
        });
        Self { last }
    }
}

impl Iterator for Stream {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.last = times_x(self.last);
        Some(self.last)
    }
}

#[inline]
fn times_x(power: u64) -> u64 {
    let carry = if power >> 63 == 1 { POLYNOMIAL } else { 0 };
    power << 1 ^ carry
}

fn product(a: u64, b: u64) -> u64 {
    let bits = (0..u64::BITS).rev().map(|bit| b >> bit & 1 == 1);
    bits.fold(0, |sum, is_set| times_x(sum) ^ if is_set { a } else { 0 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_jump_is_as_many_steps(skipped in 0..5000_usize) {
            let mut walked = Stream::behind(0);
            walked.by_ref().take(skipped).for_each(drop);
            prop_assert_eq!(Stream::behind(skipped as u64), walked);
        }
    }

    #[test]
    fn the_stream_begins_with_two_and_has_the_period_of_hpcc() {
        assert_eq!(Stream::behind(0).take(3).collect::<Vec<_>>(), [2, 4, 8]);
        let period = 1_317_624_576_693_539_401;
        assert_eq!(Stream::behind(period), Stream::behind(0));
        let primes = [7, 73, 127, 337, 92_737, 649_657];
        assert_eq!(primes.iter().product::<u64>(), period);
        for prime in primes {
            assert_ne!(Stream::behind(period / prime), Stream::behind(0), "it is not a part of that");
        }
    }
}
