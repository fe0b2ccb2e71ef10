//! Memory that was made after the start: segments, pools of arrays, and heap pages that arrays have moved.

use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::memory::{LaterRange, SlotLayout, Spread};
use shmem_core::partition::Traits;

/// One PE's segments that were made after the start.
pub(crate) struct Later {
    pub(crate) range: LaterRange,
    pub(crate) registrations: u64,
    /// Further cleanup when an array's allocation is freed, by its number.
    pub(crate) ends: BTreeMap<u64, End>,
    /// Equal on every PE.
    pub(crate) pools: Vec<Pool>,
    pub(crate) misplaced: Misplaced,
}

impl Later {
    pub(crate) fn new(layout: &SlotLayout) -> Self {
        let (ends, pools, misplaced) = (BTreeMap::new(), Vec::new(), Misplaced::default());
        Self { range: LaterRange::new(layout), registrations: 0, ends, pools, misplaced }
    }
}

/// Further cleanup when an allocation is freed.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The allocation's segment.
    Segment(u32),
    /// The placement of its pages: these heap pages are placed on the partition's nodes again.
    Pages {
        /// Bytes from the start of a slot.
        range: Range<usize>,
        /// The partition's nodes.
        nodes: Vec<u32>,
        /// How the partition uses these nodes.
        spread: Spread,
    },
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) traits: Traits,
    /// Index of the NUMA node among those of the PE.
    pub(crate) class: usize,
    pub(crate) segment: u32,
    /// Whether all its pages exist on this PE.
    pub(crate) populated: bool,
}

/// Free ranges of heaps whose pages are still placed for an array: ends by starts, in whole pages.
#[derive(Debug, Default)]
pub(crate) struct Misplaced(BTreeMap<usize, usize>);

impl Misplaced {
    /// Adds a range that overlaps no other.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        self.0.insert(range.start, range.end);
    }

    pub(crate) fn take(&mut self, block: &Range<usize>) -> Vec<Range<usize>> {
        let meets = self.0.range(..block.end).rev().take_while(|&(_, &end)| end > block.start);
        let met: Vec<_> = meets.map(|(&start, &end)| start..end).collect();
        for range in &met {
            self.0.remove(&range.start);
        }
        met
    }

    /// Removes a block: an array's, which places each page itself, or an unmapped one.
    pub(crate) fn leave_out(&mut self, block: &Range<usize>) {
        for Range { start, end } in self.take(block) {
            for rest in [start..block.start.min(end), block.end.max(start)..end] {
                if rest.start < rest.end {
                    self.add(rest);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_meets_a_block_is_taken_whole_and_an_array_leaves_the_rest() {
        let mut misplaced = Misplaced::default();
        for start in [0, 100, 200] {
            misplaced.add(start..start + 50);
        }
        assert_eq!(misplaced.take(&(50..100)), []);
        assert_eq!(misplaced.take(&(240..300)), vec![Range { start: 200, end: 250 }]);
        misplaced.leave_out(&(110..120));
        assert_eq!(misplaced.0, BTreeMap::from([(0, 50), (100, 110), (120, 150)]));
        misplaced.leave_out(&(30..125));
        assert_eq!(misplaced.0, BTreeMap::from([(0, 30), (125, 150)]));
        assert_eq!(misplaced.take(&(0..1000)).len(), 2);
    }
}
