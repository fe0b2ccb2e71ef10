//! What there is of the memory that came after the start, and what ends with it.

use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::memory::{LaterRange, SlotLayout, Spread};
use shmem_core::partition::Traits;

/// The segments that came after the start, as one PE keeps them.
pub(crate) struct Later {
    pub(crate) range: LaterRange,
    pub(crate) registrations: u64,
    /// What else ends with the allocations of arrays, by their numbers.
    pub(crate) ends: BTreeMap<u64, End>,
    /// The same on every PE.
    pub(crate) pools: Vec<Pool>,
    pub(crate) misplaced: Misplaced,
}

impl Later {
    pub(crate) fn new(layout: &SlotLayout) -> Self {
        let (ends, pools, misplaced) = (BTreeMap::new(), Vec::new(), Misplaced::default());
        Self { range: LaterRange::new(layout), registrations: 0, ends, pools, misplaced }
    }
}

/// What else ends with an allocation.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The segment that was made for it.
    Segment(u32),
    /// Its pages: those of the heap come from these nodes again.
    Pages {
        /// Bytes from the start of a slot.
        range: Range<usize>,
        /// The partition's nodes.
        nodes: Vec<u32>,
        /// How the partition uses them.
        spread: Spread,
    },
}

#[derive(Debug)]
pub(crate) struct Pool {
    /// What its partition asks of memory.
    pub(crate) traits: Traits,
    /// Which of the PE's nodes.
    pub(crate) class: usize,
    pub(crate) segment: u32,
    /// Whether all its pages exist on this PE.
    pub(crate) populated: bool,
}

/// Ranges of a slot that are free, in whole pages: their ends by their starts.
#[derive(Debug, Default)]
pub(crate) struct Misplaced(BTreeMap<usize, usize>);

impl Misplaced {
    /// Adds a range that shares nothing with the others.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        self.0.insert(range.start, range.end);
    }

    /// Takes out every range that meets a block, whole.
    pub(crate) fn take(&mut self, block: &Range<usize>) -> Vec<Range<usize>> {
        let meets = self.0.range(..block.end).rev().take_while(|&(_, &end)| end > block.start);
        let met: Vec<_> = meets.map(|(&start, &end)| start..end).collect();
        for range in &met {
            self.0.remove(&range.start);
        }
        met
    }

    /// Leaves out what an array takes, whose pages are looked at one by one, and what is gone.
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
