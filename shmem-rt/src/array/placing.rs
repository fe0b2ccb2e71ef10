//! Having the pages of an array come from the nodes of its chunks, and making them.

use core::ops::Range;
use std::collections::BTreeMap;
use std::panic::Location;

use shmem_core::memory::{Machine, Spread};
use shmem_core::partition::{Grant, show_size};

use super::bindings::Bound;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::report;

/// How the memory of an array is placed on the calling PE.
#[derive(Clone, Debug)]
pub(super) struct Placing {
    /// What the array is, for messages.
    pub(super) what: String,
    /// The call that makes it.
    pub(super) location: &'static Location<'static>,
    /// The node from which the memory of each chunk comes; empty: wherever it is touched.
    pub(super) nodes: Vec<u32>,
    /// [`Spread::Bound`] or [`Spread::Preferred`].
    pub(super) spread: Spread,
}

impl Placing {
    /// Places pages that belong to chunks, from `start` in the calling PE's place on, and makes them. Their
    /// contents do not matter: what lies on another node is given back and made anew, which costs less than
    /// moving it.
    ///
    /// # Safety
    ///
    /// Nothing refers to the pages, on any PE.
    pub(super) unsafe fn place(&self, job: &Job, start: usize, bound: &[Bound]) -> Result<()> {
        let (arena, slot) = (&job.arena, job.slot);
        let Some((last, _)) = bound.last() else { return Ok(()) };
        let at = |range: &Range<usize>| start + range.start..start + range.end;
        if !self.nodes.is_empty() {
            let node = |chunk: usize| core::slice::from_ref(&self.nodes[chunk]);
            let ranges: Vec<_> = bound.iter().map(|(range, chunk)| (at(range), node(*chunk))).collect();
            match arena.place_ranges(slot, &ranges, self.spread, false) {
                Err(error) if error.no_nodes() && self.spread != Spread::Bound => {
                    self.say(job, &format!("is not placed by chunk: {error}"));
                    return Ok(arena.populate(slot, start..start + last.end)?);
                }
                placed => placed?,
            }
            for (range, chunk) in bound {
                let there = self.pages(job, at(range))?;
                if there.iter().flatten().flatten().any(|node| *node != self.nodes[*chunk]) {
                    // SAFETY: the caller's promise.
                    unsafe { arena.discard(slot, at(range)) }?;
                }
            }
        }
        arena.populate(slot, start..start + last.end)?;
        self.verify(job, start, bound)
    }

    /// Checks that chunks of so many bytes fit on the nodes that they must be on, if all PEs of this machine do
    /// the same. A page too many would not be an error but the end of a process.
    pub(super) fn fits(&self, job: &Job, bytes: impl Fn(usize) -> usize) -> Result<()> {
        if self.spread != Spread::Bound {
            return Ok(());
        }
        let mut asked = BTreeMap::new();
        for (chunk, node) in self.nodes.iter().enumerate() {
            *asked.entry(*node).or_insert(0_u64) += bytes(chunk) as u64;
        }
        let (pes, machine) = (job.arena.slots(), Machine::default());
        for (node, each) in asked {
            let left = machine.left_on(node);
            if each.saturating_mul(pes as u64) > left {
                let (each, left) = (show_size(each), show_size(left));
                let reason = format!(
                    "POLICY=MANDATORY needs {each} on node {node} for each of {pes} PEs, and {left} are left there; make it smaller, or take a partition with POLICY=PREFERRED"
                );
                return Err(Error::Placed { what: self.what.clone(), reason });
            }
        }
        Ok(())
    }

    /// Looks where the pages have come to lie.
    pub(super) fn verify(&self, job: &Job, start: usize, bound: &[Bound]) -> Result<()> {
        if self.nodes.is_empty() {
            return Ok(());
        }
        let (mut all, mut astray, mut missed) = (0, 0, 0);
        for (range, chunk) in bound {
            let Some(pages) = self.pages(job, start + range.start..start + range.end)? else {
                self.say(job, "the system does not tell on which nodes its pages are");
                return Ok(());
            };
            all += pages.len();
            let elsewhere = pages.iter().filter(|page| **page != Some(self.nodes[*chunk])).count();
            if elsewhere > 0 {
                missed = self.nodes[*chunk];
            }
            astray += elsewhere;
        }
        if astray == 0 {
            return Ok(());
        }
        let free =
            job.topology().nodes().iter().find(|node| node.number == missed).map_or(0, |node| node.free);
        let reason = format!(
            "{astray} of {all} pages are not on the nodes of their chunks, for example not on node {missed}, which had {} free at the start",
            show_size(free)
        );
        if self.spread == Spread::Bound {
            return Err(Error::Placed { what: self.what.clone(), reason });
        }
        self.say(job, &reason);
        Ok(())
    }

    /// Says it where new memory has smaller pages than the partition that it should be like.
    pub(super) fn compare(&self, job: &Job, new: &Grant, partition: &Grant) {
        if new.pgsize < partition.pgsize && !new.downgrades.is_empty() {
            self.say(job, &new.downgrades.join("; "));
        }
    }

    /// The node of each page; `None`: the system does not tell.
    fn pages(&self, job: &Job, range: Range<usize>) -> Result<Option<Vec<Option<u32>>>> {
        match job.arena.nodes_of(job.slot, range, job.base_page()) {
            Err(error) if error.no_nodes() => Ok(None),
            pages => Ok(Some(pages?)),
        }
    }

    /// Says once for each place in the program what is not as it should be.
    pub(super) fn say(&self, job: &Job, reason: &str) {
        if job.first_time_at(self.location) {
            let me = job.bootstrap.number();
            report::say(&format!("shmem: warning: PE {me}: {}: {reason}", self.what));
        }
    }
}
