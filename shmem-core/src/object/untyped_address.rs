//! Untyped symmetric addresses, for `putmem` and similar operations, and the extents of objects in slots.

use core::fmt;

use crate::planted_fault::mutant;

/// A symmetric address: the calling PE's own address of a byte in symmetric memory. It identifies the same byte on every PE.
///
/// `Here::addr` and `World::malloc` return such addresses. `World::address` converts a pointer to one. A pointer from `On::ptr` is
/// not symmetric, because it points to another PE's memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SymAddr(*mut u8);

impl SymAddr {
    /// Converts a pointer to a symmetric address, without a check. Every operation checks the addresses that it gets.
    #[inline(always)]
    #[doc(hidden)]
    pub const fn assume(address: *mut u8) -> Self {
        Self(address)
    }

    /// Returns the address plus `bytes`, without a check. Every operation checks the addresses that it gets.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "as on pointers")]
    pub fn add(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// Returns the address as a pointer of this PE.
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

/// The range of bytes of an object, the same in every PE's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes from the start of a PE's slot to the range.
    pub offset: usize,
    /// Size of the range in bytes.
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
