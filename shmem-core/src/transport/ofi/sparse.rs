//! Tables of which few entries are used, such as those by PE or by channel.
//!
//! A table has two levels of blocks, each allocated when it is first used. An empty table has one pointer and its lock for each 512
//! entries.

use std::sync::OnceLock;

const BLOCK: usize = 16;

const BLOCKS: usize = 32;

const REGION: usize = BLOCK * BLOCKS;

/// A value for each number, in blocks that are allocated when one of their values is first used.
pub(super) struct Sparse<T> {
    regions: Box<[OnceLock<Box<Region<T>>>]>,
}

type Region<T> = [OnceLock<Box<[T; BLOCK]>>; BLOCKS];

impl<T: Default> Sparse<T> {
    pub(super) fn new(count: usize) -> Self {
        Self { regions: (0..count.div_ceil(REGION)).map(|_| OnceLock::new()).collect() }
    }

    /// The value for a number, if its block exists.
    #[inline(always)]
    pub(super) fn get(&self, number: usize) -> Option<&T> {
        let region = self.regions.get(number / REGION)?.get()?;
        region[number / BLOCK % BLOCKS].get().map(|block| &block[number % BLOCK])
    }

    /// The value for a number. Allocates its block if needed.
    #[inline(always)]
    pub(super) fn entry(&self, number: usize) -> &T {
        self.get(number).unwrap_or_else(|| self.make(number))
    }

    #[cold]
    fn make(&self, number: usize) -> &T {
        let region = || Box::new(core::array::from_fn(|_| OnceLock::new()));
        let block = || Box::new(core::array::from_fn(|_| T::default()));
        let region = self.regions[number / REGION].get_or_init(region);
        &region[number / BLOCK % BLOCKS].get_or_init(block)[number % BLOCK]
    }

    /// All numbers in blocks that exist, with their values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let regions = self.regions.iter().enumerate();
        let regions = regions.filter_map(|(k, region)| Some((k * REGION, region.get()?)));
        let blocks = regions.flat_map(|(first, region)| {
            let blocks = region.iter().enumerate();
            blocks.filter_map(move |(k, block)| Some((first + k * BLOCK, block.get()?)))
        });
        blocks.flat_map(|(first, block)| block.iter().enumerate().map(move |(k, value)| (first + k, value)))
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU32, Ordering};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Some regions, the last one incomplete.
    const COUNT: usize = 3 * REGION - 7;

    proptest! {
        #[test]
        fn each_number_has_a_value_of_its_own(numbers in vec(0..COUNT, 0..40)) {
            let sparse = Sparse::<AtomicU32>::new(COUNT);
            let mut counts = [0; COUNT];
            for number in numbers {
                counts[number] += 1;
                sparse.entry(number).fetch_add(1, Ordering::Relaxed);
            }
            for (number, count) in counts.iter().enumerate() {
                let there = sparse.get(number).map_or(0, |value| value.load(Ordering::Relaxed));
                prop_assert_eq!(there, *count);
            }
            let blocks: Vec<_> = counts.chunks(BLOCK).filter(|block| block.iter().any(|count| *count > 0)).collect();
            prop_assert_eq!(sparse.iter().count(), blocks.len() * BLOCK);
            for (number, value) in sparse.iter() {
                prop_assert_eq!(value.load(Ordering::Relaxed), counts.get(number).copied().unwrap_or(0));
            }
            prop_assert!(sparse.get(REGION * 100).is_none());
        }
    }
}
