//! Free pages of heaps that lie where an array wanted them.
//!
//! They are kept for the next array, which finds most of them right. Anything else that takes them is to
//! have pages from where the partition wants them, so they are given back first.

use core::ops::Range;
use std::collections::BTreeMap;

use crate::job::Job;
use crate::report;

/// Ranges of a place that are free, in whole pages: their ends by their starts.
#[derive(Debug, Default)]
pub(crate) struct Misplaced(BTreeMap<usize, usize>);

impl Misplaced {
    /// Adds a range that shares nothing with the others.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        self.0.insert(range.start, range.end);
    }

    /// Takes out every range that meets a block, whole.
    fn take(&mut self, block: &Range<usize>) -> Vec<Range<usize>> {
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

impl Job {
    /// Has pages that a new block of a heap meets come from where the partition wants them, and makes them if it
    /// has all its pages from the start. Nobody knows of the block yet.
    pub(crate) fn renew_pages(&self, block: &Range<usize>, populated: impl FnOnce() -> bool) {
        let ranges = self.later().misplaced.take(block);
        if ranges.is_empty() {
            return;
        }
        let populated = populated();
        for range in ranges {
            // SAFETY: the range was free until now, all PEs have met since it was freed, and nobody knows of the
            // block that lies in a part of it.
            let discarded = unsafe { self.arena.discard(self.slot, range.clone()) };
            let made = discarded.and_then(|()| match populated {
                true => self.arena.populate(self.slot, range),
                false => Ok(()),
            });
            if let Err(error) = made {
                report::say(&format!(
                    "shmem: warning: pages of a heap lie where an array wanted them: {error}"
                ));
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
