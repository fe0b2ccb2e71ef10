//! Where an object lies.

use crate::primitive::mutant;

/// Bytes of one object in every PE's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes from the start of a PE's slot.
    pub offset: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Extent {
    /// Whether two objects share a byte.
    pub fn overlaps(self, other: Self) -> bool {
        !mutant("overlap-not-seen")
            && self.offset < other.offset.saturating_add(other.bytes)
            && other.offset < self.offset.saturating_add(self.bytes)
    }
}
