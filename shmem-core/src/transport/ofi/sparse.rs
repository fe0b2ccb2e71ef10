//! What is kept for those PEs that one has to do with.

use std::sync::OnceLock;

/// PEs of a block.
pub(super) const BLOCK: usize = 64;

/// A value for each PE, in blocks that are made when one of their PEs is first asked for.
#[derive(Debug)]
pub(super) struct Sparse<T> {
    blocks: Box<[OnceLock<Box<[T; BLOCK]>>]>,
}

impl<T: Default> Sparse<T> {
    /// Bytes of a block.
    pub(super) const EACH: usize = size_of::<[T; BLOCK]>();

    /// Nothing yet for so many PEs.
    pub(super) fn new(pes: usize) -> Self {
        Self { blocks: (0..pes.div_ceil(BLOCK)).map(|_| OnceLock::new()).collect() }
    }

    /// Bytes for so many PEs before anything is kept for one.
    pub(super) const fn bytes(pes: usize) -> usize {
        pes.div_ceil(BLOCK) * size_of::<OnceLock<Box<[T; BLOCK]>>>()
    }

    /// What there is for a PE, if there is anything for it or for one near it.
    #[inline(always)]
    pub(super) fn get(&self, pe: usize) -> Option<&T> {
        self.blocks.get(pe / BLOCK)?.get().map(|block| &block[pe % BLOCK])
    }

    /// What there is for a PE.
    ///
    /// # Panics
    ///
    /// If there is no such PE, nor one near it.
    #[inline(always)]
    pub(super) fn entry(&self, pe: usize) -> &T {
        let make = || Box::new(core::array::from_fn(|_| T::default()));
        &self.blocks[pe / BLOCK].get_or_init(make)[pe % BLOCK]
    }

    /// The PEs of all blocks that there are, and what is kept for each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let blocks = self.blocks.iter().enumerate();
        let there = blocks.filter_map(|(number, block)| Some((number, block.get()?)));
        there.flat_map(|(number, block)| {
            block.iter().enumerate().map(move |(k, value)| (number * BLOCK + k, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU32, Ordering};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_pe_has_a_value_of_its_own(pes in vec(0..1000_usize, 0..40)) {
            let sparse = Sparse::<AtomicU32>::new(1000);
            let mut counts = [0; 1000];
            for pe in pes {
                counts[pe] += 1;
                sparse.entry(pe).fetch_add(1, Ordering::Relaxed);
            }
            for (pe, count) in counts.iter().enumerate() {
                let there = sparse.get(pe).map_or(0, |value| value.load(Ordering::Relaxed));
                prop_assert_eq!(there, *count);
            }
            let blocks: Vec<_> = counts.chunks(BLOCK).filter(|block| block.iter().any(|count| *count > 0)).collect();
            prop_assert_eq!(sparse.iter().count(), blocks.len() * BLOCK);
            for (pe, value) in sparse.iter() {
                prop_assert_eq!(value.load(Ordering::Relaxed), counts.get(pe).copied().unwrap_or(0));
            }
            prop_assert!(sparse.get(BLOCK * 100).is_none());
        }
    }
}
