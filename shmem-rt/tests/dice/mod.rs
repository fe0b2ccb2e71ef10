//! Random choices that are the same on every PE.

use std::fmt::Debug;
use std::ops::Range;

/// A linear congruential generator. From the same seed, all PEs draw the same numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below `n`.
    pub(crate) fn below<N: TryInto<u64, Error: Debug> + TryFrom<u64, Error: Debug>>(&mut self, n: N) -> N {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n: u64 = n.try_into().expect("a number that is not negative");
        N::try_from((self.0 >> 33) % n).expect("a number below one of its type")
    }

    /// Returns a range of indices of a list with `len` elements.
    #[allow(dead_code, reason = "not every program asks for parts")]
    pub(crate) fn range(&mut self, len: usize) -> Range<usize> {
        let first = self.below(len + 1);
        first..first + self.below(len - first + 1)
    }
}
