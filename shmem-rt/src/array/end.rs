//! What is undone when the memory of an array goes back.

use core::ops::Range;

use shmem_core::heap::Allocation;
use shmem_core::memory::Spread;

use crate::job::Job;
use crate::report;

/// What else ends with an allocation.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The segment that was made for it.
    Segment(u32),
    /// Its pages: those of the heap come from these nodes again.
    Pages {
        /// Bytes from the start of a place.
        range: Range<usize>,
        /// The partition's nodes.
        nodes: Vec<u32>,
        /// How the partition uses them.
        spread: Spread,
    },
}

impl Job {
    /// Undoes what was done for allocations that all PEs have given up, quiet, and have met since.
    pub(crate) fn settle(&self, freed: &[Allocation]) {
        for allocation in freed {
            let end = self.later().ends.remove(&allocation.id);
            match end {
                None => {}
                Some(End::Segment(index)) => {
                    self.ledger().remove_heap(index);
                    self.remove_segment(index);
                }
                Some(End::Pages { range, nodes, spread }) => {
                    let back = self.arena.place_range(self.slot, range.clone(), &nodes, spread, false);
                    self.later().misplaced.add(range);
                    match back {
                        Ok(()) => {}
                        // Nothing was placed, which was said when the array was made.
                        Err(error) if error.no_nodes() => {}
                        Err(error) => {
                            report::say(&format!("shmem: warning: freed pages keep their nodes: {error}"));
                        }
                    }
                }
            }
        }
    }
}
