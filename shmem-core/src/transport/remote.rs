//! Where in another PE's memory.

use crate::pe::Pe;

/// Bytes in another PE's memory.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// The PE.
    pub pe: Pe,
    /// Index of the segment, which is the index of its key.
    pub segment: u32,
    /// Bytes from the start of the PE's slot.
    pub offset: usize,
}
