//! Where PEs say that they are.

use core::fmt;

/// The address of each PE of a job, by number: as many bytes for each, in memory that may be shared among the PEs of a node.
/// Zeroes are no address.
pub struct Whereabouts {
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
    each: usize,
}

impl Whereabouts {
    /// Addresses of `each` bytes, one behind the other.
    ///
    /// # Panics
    ///
    /// If addresses have no bytes.
    pub fn new(bytes: Box<dyn AsRef<[u8]> + Send + Sync>, each: usize) -> Self {
        assert!(each > 0, "an address has some bytes");
        Self { bytes, each }
    }

    /// Bytes of an address.
    pub(super) fn each(&self) -> usize {
        self.each
    }

    /// The address of a PE, if there is one.
    pub(super) fn of(&self, pe: usize) -> Option<&[u8]> {
        let address = (*self.bytes).as_ref().chunks_exact(self.each).nth(pe)?;
        address.iter().any(|byte| *byte != 0).then_some(address)
    }

    /// How many PEs there are, with an address or without.
    pub(super) fn len(&self) -> usize {
        (*self.bytes).as_ref().len() / self.each
    }

    /// How many PEs have one.
    pub(super) fn count(&self) -> usize {
        let all = (*self.bytes).as_ref().chunks_exact(self.each);
        all.filter(|address| address.iter().any(|byte| *byte != 0)).count()
    }
}

impl fmt::Debug for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Whereabouts").field("each", &self.each).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_are_no_address() {
        let all = Whereabouts::new(Box::new(vec![0, 0, 0, 7, 0, 0, 1]), 2);
        assert_eq!([0, 1, 2, 3].map(|pe| all.of(pe)), [None, Some(&[0, 7][..]), None, None]);
        assert_eq!((all.len(), all.count()), (3, 1));
    }
}
