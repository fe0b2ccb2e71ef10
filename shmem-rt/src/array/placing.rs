//! On which nodes the chunks of an array live, and having its pages come from there.

use core::ops::Range;
use std::collections::BTreeMap;
use std::panic::Location;

use shmem_core::memory::{MemoryError, Placement, Request, Spread};
use shmem_core::partition::{Grant, Kind, show_size};
use shmem_launch::say::say;

use super::bindings::Bound;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;

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
    /// The kind of memory that was asked for.
    pub(super) kind: Option<Kind>,
}

impl Placing {
    /// What pages that belong to chunks take of the nodes on which they must be.
    pub(super) fn taken(&self, bound: impl FnOnce() -> Vec<Bound>) -> Vec<Request> {
        if self.spread != Spread::Bound {
            return Vec::new();
        }
        self.demands(bound().into_iter().map(|(range, chunk)| (chunk, range.len())))
    }

    /// As [`taken`](Self::taken), for the pages of several places that are not there yet.
    pub(super) fn missing(
        &self,
        job: &Job,
        places: impl IntoIterator<Item = (usize, Vec<Bound>)>,
    ) -> Result<Vec<Request>> {
        let mut missing = Vec::new();
        for (start, bound) in places {
            for (range, chunk) in bound {
                let Some(node) = self.nodes.get(chunk) else { continue };
                let pages = self.pages(job, start + range.start..start + range.end)?.unwrap_or_default();
                let elsewhere = pages.iter().filter(|page| **page != Some(*node)).count();
                missing.push((chunk, elsewhere * job.site.base_page()));
            }
        }
        Ok(self.demands(missing))
    }

    /// What chunks demand of their nodes, by the bytes of each.
    fn demands(&self, chunks: impl IntoIterator<Item = (usize, usize)>) -> Vec<Request> {
        let mut demands: BTreeMap<u32, usize> = BTreeMap::new();
        for (chunk, bytes) in chunks {
            let Some(node) = self.nodes.get(chunk).filter(|_| bytes > 0) else { continue };
            *demands.entry(*node).or_default() += bytes;
        }
        demands.into_iter().map(|(node, bytes)| self.demand(Some(node), bytes)).collect()
    }

    /// The memory of an array, or a part of it, on one node or on any, which is about to be made.
    pub(super) fn demand(&self, node: Option<u32>, bytes: usize) -> Request {
        let mut placement = Placement::system();
        if let Some(node) = node {
            placement =
                Placement { kind: self.kind, nodes: vec![node], spread: self.spread, downgrade: None };
        }
        Request { what: self.what.clone(), placement, populate: true, ..Request::plain("", bytes) }
    }

    /// Places pages that belong to chunks, from `start` in the calling PE's slot on, and makes them. Their
    /// contents do not matter: what lies on another node is given back and made anew, which costs less than
    /// moving it.
    ///
    /// # Safety
    ///
    /// Nothing refers to the pages, on any PE.
    pub(super) unsafe fn place(&self, job: &Job, start: usize, bound: &[Bound]) -> Result<()> {
        let (arena, slot) = (&job.memory.arena, job.site.slot);
        let Some((last, _)) = bound.last() else { return Ok(()) };
        let at = |range: &Range<usize>| start + range.start..start + range.end;
        if !self.nodes.is_empty() {
            let node = |chunk: usize| core::slice::from_ref(&self.nodes[chunk]);
            let ranges: Vec<_> = bound.iter().map(|(range, chunk)| (at(range), node(*chunk))).collect();
            match arena.place_ranges(slot, &ranges, self.spread) {
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
        arena.populate(slot, start..start + last.end).map_err(|error| self.unmade(error))?;
        self.verify(job, start, bound)
    }

    /// The error for pages that could not be made.
    pub(super) fn unmade(&self, error: MemoryError) -> Error {
        let reason = format!("there is no memory left for it ({error})");
        ErrorKind::Placed { what: self.what.clone(), reason }.into()
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
            job.site.topology().nodes().iter().find(|node| node.number == missed).map_or(0, |node| node.free);
        let reason = format!(
            "{astray} of {all} pages are not on the nodes of their chunks, for example not on node {missed}, which had {} free at the start",
            show_size(free)
        );
        if self.spread == Spread::Bound {
            return Err(ErrorKind::Placed { what: self.what.clone(), reason }.into());
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
        match job.memory.arena.nodes_of(job.site.slot, range, job.site.base_page()) {
            Err(error) if error.no_nodes() => Ok(None),
            pages => Ok(Some(pages?)),
        }
    }

    /// Says once for each place in the program what is not as it should be.
    pub(super) fn say(&self, job: &Job, reason: &str) {
        if job.first_time_at(self.location, "") {
            let me = job.bootstrap.number();
            say(&format!("shmem: warning: PE {me}: {}: {reason}", self.what));
        }
    }
}

/// The homes of the chunks on the calling PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Homes {
    /// The nodes of this PE's CPUs; empty: the machine does not tell of nodes.
    own: Vec<u32>,
    /// The most nodes that any PE has: on how many nodes an array is laid out.
    most: usize,
}

impl Homes {
    pub(super) fn new(own: Vec<u32>, most: usize) -> Self {
        Self { own, most: most.max(1) }
    }

    /// On how many nodes arrays are laid out, the same on every PE.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Which of the [`most`](Self::most) nodes a chunk belongs to, the same on every PE.
    pub(super) fn class(&self, chunk: usize) -> usize {
        chunk % self.most
    }

    /// The node of a class of chunks on this PE; a PE with fewer nodes has several classes on one.
    pub(super) fn of_class(&self, class: usize) -> Option<u32> {
        self.own.get(class % self.own.len().max(1)).copied()
    }

    /// The node of each chunk on this PE; empty: not known.
    pub(super) fn of_chunks(&self, chunks: usize) -> Vec<u32> {
        (0..chunks).map_while(|chunk| self.of_class(self.class(chunk))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_go_round_the_nodes() {
        let homes = Homes::new(vec![0, 2], 2);
        assert_eq!(homes.of_chunks(5), [0, 2, 0, 2, 0]);
        // Another PE has four nodes: chunk 2 is that of class 2 everywhere.
        let homes = Homes::new(vec![5, 7], 4);
        assert_eq!(homes.of_chunks(6), [5, 7, 5, 7, 5, 7]);
        assert_eq!((homes.class(6), homes.of_class(3)), (2, Some(7)));
        assert_eq!(Homes::new(Vec::new(), 0).of_chunks(3), [0; 0]);
        assert_eq!(Homes::new(Vec::new(), 0).most(), 1);
    }
}
