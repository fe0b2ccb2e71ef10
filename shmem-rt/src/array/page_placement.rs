//! Places the pages of an array on the nodes of its chunks, and measures the share of elements that are on these nodes.

use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::array::{NumaArray, Storage};
use shmem_core::memory::{MemoryError, Request, Spread};
use shmem_core::partition::{Grant, Kind, show_size};
use shmem_core::symmetric_data::SymmetricData;
use shmem_launch::diagnostics::say;

use super::construction::Maker;
use super::page_owners::Bound;
use crate::error::{Error, Result};
use crate::nearest_memory::{memory_near, several};
use crate::thread::ThreadLevel;
use crate::world::World;

impl<const D: usize> Maker<'_, D> {
    /// Returns for each node the request for memory that its chunks' pages need. Empty unless pages are strictly bound.
    pub(super) fn taken(&self, bound: impl FnOnce() -> Vec<Bound>) -> Vec<Request> {
        if self.spread != Spread::Bound {
            return Vec::new();
        }
        self.demands(bound().into_iter().map(|(range, chunk)| (chunk, range.len())))
    }

    /// As [`taken`](Self::taken), for several ranges, but counts only pages that are not on their chunk's node yet.
    pub(super) fn missing(
        &self,
        places: impl IntoIterator<Item = (usize, Vec<Bound>)>,
    ) -> Result<Vec<Request>> {
        let mut missing = Vec::new();
        for (start, bound) in places {
            for (range, chunk) in bound {
                let Some(node) = self.nodes.get(chunk) else { continue };
                let pages = self.pages(start + range.start..start + range.end)?.unwrap_or_default();
                let elsewhere = pages.iter().filter(|page| **page != Some(*node)).count();
                missing.push((chunk, elsewhere * self.job.site.base_page()));
            }
        }
        Ok(self.demands(missing))
    }

    fn demands(&self, chunks: impl IntoIterator<Item = (usize, usize)>) -> Vec<Request> {
        let mut demands: BTreeMap<u32, usize> = BTreeMap::new();
        for (chunk, bytes) in chunks {
            let Some(node) = self.nodes.get(chunk).filter(|_| bytes > 0) else { continue };
            *demands.entry(*node).or_default() += bytes;
        }
        demands.into_iter().map(|(node, bytes)| self.demand(Some(node), bytes)).collect()
    }

    /// Returns the request for `bytes` bytes of the array on `node`, or on any node if `node` is `None`.
    pub(super) fn demand(&self, node: Option<u32>, bytes: usize) -> Request {
        let placement = self.placement(node, self.kind);
        Request { what: self.what.clone(), placement, populate: true, ..Request::plain("", bytes) }
    }

    /// Places and populates the pages of chunks, which begin at `start` in the calling PE's slot. A page on a wrong
    /// node is discarded and populated again, because moving a page costs more.
    ///
    /// # Safety
    ///
    /// There must be no reference to the pages on any PE.
    pub(super) unsafe fn place(&self, start: usize, bound: &[Bound]) -> Result<()> {
        let (arena, slot) = (&self.job.memory.arena, self.job.site.slot);
        let Some((last, _)) = bound.last() else { return Ok(()) };
        let at = |range: &Range<usize>| start + range.start..start + range.end;
        if !self.nodes.is_empty() {
            let node = |chunk: usize| core::slice::from_ref(&self.nodes[chunk]);
            let ranges: Vec<_> = bound.iter().map(|(range, chunk)| (at(range), node(*chunk))).collect();
            match arena.place_ranges(slot, &ranges, self.spread) {
                Err(error) if error.no_nodes() && self.spread != Spread::Bound => {
                    self.say(&format!("is not placed by chunk: {error}"));
                    return Ok(arena.populate(slot, start..start + last.end)?);
                }
                placed => placed?,
            }
            for (range, chunk) in bound {
                let there = self.pages(at(range))?;
                if there.iter().flatten().flatten().any(|node| *node != self.nodes[*chunk]) {
                    // SAFETY: no PE has a reference to the pages (caller).
                    unsafe { arena.discard(slot, at(range)) }?;
                }
            }
        }
        arena.populate(slot, start..start + last.end).map_err(|error| self.unmade(error))?;
        self.verify(start, bound)
    }

    pub(super) fn unmade(&self, error: MemoryError) -> Error {
        self.placed(format!("there is no memory left for it ({error})"))
    }

    pub(super) fn verify(&self, start: usize, bound: &[Bound]) -> Result<()> {
        if self.nodes.is_empty() {
            return Ok(());
        }
        let (mut all, mut astray, mut missed) = (0, 0, 0);
        for (range, chunk) in bound {
            let Some(pages) = self.pages(start + range.start..start + range.end)? else {
                self.say("the system does not tell on which nodes its pages are");
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
        let free = self
            .job
            .site
            .topology()
            .nodes()
            .iter()
            .find(|node| node.number == missed)
            .map_or(0, |node| node.free);
        let reason = format!(
            "{astray} of {all} pages are not on the nodes of their chunks, for example not on node {missed}, which had {} free at the start",
            show_size(free)
        );
        if self.spread == Spread::Bound {
            return Err(self.placed(reason));
        }
        self.say(&reason);
        Ok(())
    }

    /// Warns if new memory has smaller pages than its partition.
    pub(super) fn compare(&self, new: &Grant) {
        if new.pgsize < self.grant.pgsize && !new.downgrades.is_empty() {
            self.say(&new.downgrades.join("; "));
        }
    }

    /// Returns the node of each page, or `None` if the system does not report nodes.
    fn pages(&self, range: Range<usize>) -> Result<Option<Vec<Option<u32>>>> {
        match self.job.memory.arena.nodes_of(self.job.site.slot, range, self.job.site.base_page()) {
            Err(error) if error.no_nodes() => Ok(None),
            pages => Ok(Some(pages?)),
        }
    }

    /// Prints a warning, at most once for each source line that makes an array.
    pub(super) fn say(&self, reason: &str) {
        if self.job.first_time_at(self.location, "") {
            let me = self.job.bootstrap.number();
            say(&format!("shmem: warning: PE {me}: {}: {reason}", self.what));
        }
    }
}

impl<L: ThreadLevel> World<L> {
    /// Returns the share (0 to 1) of the calling PE's elements that are on the node of their chunk, as the kernel
    /// reports it. For a kind of memory that has nodes of its own, such as HBM, the nearest such node counts. An
    /// element is on the node of its first byte. Not collective.
    ///
    /// The share is 1 on a machine with one memory node.
    ///
    /// # Errors
    ///
    /// If the system does not report the nodes of pages.
    ///
    /// Source: "NUMA-Aware Array Storage" (Chapel), "affinity between execution and storage".
    pub fn affinity<T: SymmetricData, const D: usize, S: Storage>(
        &self,
        array: &NumaArray<T, D, S>,
    ) -> Result<f64> {
        let (job, page) = (self.job(), self.job().site.base_page());
        let topology = job.site.topology();
        if !several(topology) {
            return Ok(1.0);
        }
        let kind = self.kind_of_memory(array.parts()[0].segment);
        let homes = array.nodes().iter().map(|&home| (home, memory_near(topology, home, kind)));
        let memory: BTreeMap<u32, Option<u32>> = homes.collect();
        let at_home = array.elements_at_home(
            page,
            |bytes| job.memory.arena.nodes_of(job.site.slot, bytes, page),
            |home, node| memory[&home] == Some(node),
        )?;
        Ok(at_home as f64 / array.len() as f64)
    }

    /// Returns the calling PE's kind of memory in the partition of a segment, if the partition requests a kind.
    fn kind_of_memory(&self, segment: u32) -> Option<Kind> {
        let job = self.job();
        let partition =
            job.memory.segments.list().into_iter().find(|(index, _)| *index == segment)?.1.partition;
        let partitions = job.memory.partitions.read();
        let at = partitions.table().position_of(partition).ok()?;
        partitions.table().specs()[at].traits.kind.and(partitions.granted(at, self.my_pe()).kind)
    }
}
