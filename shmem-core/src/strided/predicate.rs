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

    /// All of them by name, as a table of a machine keeps them.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [("last_level_cache", self.last_level_cache as u64)].into_iter()
    }

    /// With one of them changed. `None` if there is none of this name, or the value does not fit it.
    #[must_use]
    pub fn with(self, name: &str, value: u64) -> Option<Self> {
        match name {
            "last_level_cache" => Some(Self { last_level_cache: value.try_into().ok()? }),
            _ => None,
        }
    }
}

/// The kernel for a pattern that is not contiguous.
pub const fn choose(_pattern: &Pattern, _thresholds: &Thresholds) -> Kernel {
    Kernel::Rows
}
