//! Which kernel moves a pattern: a few comparisons with measured numbers.

use super::kernel::Kernel;
use super::pattern::Pattern;

/// The numbers that the choice compares with. Measured by `shmem-perf calibrate`; a constant plan uses
/// [`DEFAULT`](Self::DEFAULT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Bytes of the last level of cache that one PE can count on.
    pub last_level_cache: usize,
}

impl Thresholds {
    /// What holds on most machines.
    pub const DEFAULT: Self = Self { last_level_cache: 16 << 20 };
}

/// The kernel for a pattern that is not contiguous.
pub const fn choose(_pattern: &Pattern, _thresholds: &Thresholds) -> Kernel {
    Kernel::Rows
}
