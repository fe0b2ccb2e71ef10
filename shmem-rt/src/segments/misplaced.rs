//! Free pages of heaps that lie where an array wanted them.
//!
//! They are kept for the next array, which finds most of them right. Anything else that takes them is to
//! have pages from where the partition wants them, so they are given back first.

use core::ops::Range;

use shmem_launch::say::say;

use crate::job::Job;

/// Has pages that a new block of a heap meets come from where the partition wants them, and makes them if it
/// has all its pages from the start. Nobody knows of the block yet.
pub(crate) fn renew_pages(job: &Job, block: &Range<usize>, populated: impl FnOnce() -> bool) {
    let ranges = job.memory.later.lock().misplaced.take(block);
    if ranges.is_empty() {
        return;
    }
    let populated = populated();
    for range in ranges {
        // SAFETY: this PE's ledger had the range free until now, and has not given the block away yet, so there is no
        // reference to it in this process. Other processes never have references to memory of this one. What a
        // stray address still writes there is lost.
        let discarded = unsafe { job.memory.arena.discard(job.site.slot, range.clone()) };
        let made = discarded.and_then(|()| match populated {
            true => job.memory.arena.populate(job.site.slot, range),
            false => Ok(()),
        });
        if let Err(error) = made {
            say(&format!("shmem: warning: pages of a heap lie where an array wanted them: {error}"));
        }
    }
}
