//! Untyped symmetric addresses, for `putmem` and its relatives, and extents in slots.

use core::fmt;

use crate::planted_fault::mutant;

/// A symmetric address: the calling PE's own address of a byte in symmetric memory, which names the
/// same byte on every PE.
///
/// From `Here::addr`, `World::malloc`, or `World::address` for a pointer that came from elsewhere.
/// A pointer from `On::ptr` is to another PE's memory, so not symmetric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SymAddr(*mut u8);

impl SymAddr {
    /// A symmetric address from a pointer. It is checked when an operation uses it.
    #[inline(always)]
    #[doc(hidden)]
    pub const fn assume(address: *mut u8) -> Self {
        Self(address)
    }

    /// The address `bytes` further on. It is checked when an operation uses it.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "as on pointers")]
    pub fn add(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// The address as this PE's pointer.
    #[inline(always)]
    pub fn as_ptr(self) -> *mut u8 {
        self.0
    }
}

impl fmt::Debug for SymAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SymAddr({:p})", self.0)
    }
}

/// The range of an object in every PE's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes from the start of a PE's slot.
    pub offset: usize,
    /// Size in bytes.
    pub bytes: usize,
}

impl Extent {
    /// Whether two ranges share a byte.
    pub fn overlaps(self, other: Self) -> bool {
        !mutant("overlap-not-seen")
            && self.offset < other.offset.saturating_add(other.bytes)
            && other.offset < self.offset.saturating_add(self.bytes)
    }
}
