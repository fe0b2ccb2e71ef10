//! What is undone when an allocation goes back that was more than a block of a heap.

use shmem_core::heap::Allocation;
use shmem_launch::say::say;

use crate::job::Job;
use crate::state::later::End;

/// Undoes what was done for allocations.
///
/// # Safety
///
/// All PEs have given them up, have been quiet, and have met since, in an agreed collective.
pub(crate) unsafe fn settle(job: &Job, freed: &[Allocation]) {
    for allocation in freed {
        let end = job.memory.later.lock().ends.remove(&allocation.id);
        match end {
            None => {}
            Some(End::Segment(index)) => {
                job.memory.ledger.lock().remove_heap(index);
                // SAFETY: the allocation was all of the segment, and all PEs have given it up (caller).
                unsafe { super::remove(job, index) };
            }
            Some(End::Pages { range, nodes, spread }) => {
                let back = job.memory.arena.place_range(job.site.slot, range.clone(), &nodes, spread, false);
                job.memory.later.lock().misplaced.add(range);
                match back {
                    Ok(()) => {}
                    // Nothing was placed, which was said when the array was made.
                    Err(error) if error.no_nodes() => {}
                    Err(error) => {
                        say(&format!("shmem: warning: freed pages keep their nodes: {error}"));
                    }
                }
            }
        }
    }
}
