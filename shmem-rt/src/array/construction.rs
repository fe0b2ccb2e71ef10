//! Steps of making an array that all storages share.

use std::panic::Location;

use shmem_core::array::{ArrayRange, Chunking, StorageKind};
use shmem_core::heap::Allocation;
use shmem_core::memory::{Placement, Request, Spread};
use shmem_core::partition::{Grant, Kind, PartitionSpec, Policy, Traits, show_size};

use crate::collective::Agreed;
use crate::dynamic_segments;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;

/// A function that writes first elements to new parts of this PE's slot. The flag says whether the parts are zero already.
pub(super) type Fill<'a> = &'a dyn Fn(&[ArrayRange], bool);

pub(super) struct Maker<'a, const D: usize> {
    pub(super) job: &'a Job,
    pub(super) agreed: &'a Agreed<'a>,
    pub(super) chunking: &'a Chunking<D>,
    /// Bytes of an element; `align` is its alignment.
    pub(super) element: usize,
    pub(super) align: usize,
    pub(super) homes: &'a Homes,
    pub(super) spec: &'a PartitionSpec,
    /// The segment of the partition; `grant` describes the memory that this PE got for it.
    pub(super) segment: u32,
    pub(super) grant: &'a Grant,
    /// Bytes of the largest pages of the partition on any PE.
    pub(super) page: u64,
    /// Whether any PE has huge pages in the partition.
    pub(super) huge: bool,
    /// Whether the array has less than a page per chunk, and neither the program nor `SHMEM_ARRAY_STORAGE` names a storage.
    pub(super) too_small: bool,
    /// Name of the array in error texts, with the source line that makes it.
    pub(super) what: String,
    pub(super) location: &'static Location<'static>,
    /// NUMA node of each chunk's memory on this PE; empty if chunks are not placed.
    pub(super) nodes: Vec<u32>,
    /// How strictly pages are placed: [`Spread::Bound`] or [`Spread::Preferred`].
    pub(super) spread: Spread,
    /// The kind of memory, if the partition asks for one.
    pub(super) kind: Option<Kind>,
    pub(super) fill: Fill<'a>,
}

/// The memory of a new array: its parts, and the ids of their allocations in the ledger.
pub(super) struct Memory {
    pub(super) kind: StorageKind,
    pub(super) parts: Vec<ArrayRange>,
    pub(super) ids: Vec<u64>,
}

impl<const D: usize> Maker<'_, D> {
    /// Makes the array's memory.
    ///
    /// # Errors
    ///
    /// If memory is short or cannot be placed. The error is the same on every PE, and no memory stays allocated.
    #[track_caller]
    pub(super) fn make(&self, kind: StorageKind) -> Result<Memory> {
        match kind {
            StorageKind::Single => self.single(),
            _ if self.spec.is_in_file() => Err(self.placed(format!(
                "storage `{kind}` takes memory outside the heap, and {} is a file, of which there is only the heap; take storage `single`, or another partition",
                self.spec.title()
            ))),
            StorageKind::Separate | StorageKind::Cyclic { .. } => self.separate(kind),
            StorageKind::Multi => self.multi(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.chunking.len() * self.element
    }

    /// Returns whether an array of one range has its chunks on different nodes on any PE.
    pub(super) fn split(&self) -> bool {
        self.homes.most > 1 && self.chunking.chunks() > 1
    }

    /// Returns an error if the storage would split huge pages among nodes.
    #[track_caller]
    pub(super) fn refuse_huge_pages(&self, kind: StorageKind) -> Result<()> {
        if !self.huge || !self.split() {
            return Ok(());
        }
        let (partition, page) = (self.spec.title(), show_size(self.page));
        Err(self.placed(format!(
            "storage `{kind}` places pages of one range by chunk, and {partition} has pages of {page} that exist already; take storage `multi`, whose pools get such pages on each node, or a partition without PGSIZE"
        )))
    }

    #[track_caller]
    pub(super) fn placed(&self, reason: String) -> Error {
        ErrorKind::Refused(format!("{}: {reason}", self.what)).into()
    }

    pub(super) fn placement(&self, node: Option<u32>, kind: Option<Kind>) -> Placement {
        let on = |node| Placement { kind, nodes: vec![node], spread: self.spread, downgrade: None };
        node.map_or_else(Placement::system, on)
    }

    pub(super) fn request(&self, bytes: usize, node: Option<u32>) -> Request {
        let traits = Traits { size: None, ..self.spec.traits };
        let (placement, populate) = (self.placement(node, self.grant.kind), traits.pgsize.is_some());
        Request { what: self.what.clone(), bytes, traits, placement, populate }
    }

    /// Returns the request for memory whose pages are placed by chunk later.
    pub(super) fn request_split(&self, bytes: usize) -> Request {
        // With SYSDEFAULT, no huge pages are requested. A huge page could contain parts of two chunks.
        let traits = Traits { kind: Some(Kind::SysDefault), ..Traits::NONE };
        let (what, placement) = (self.what.clone(), Placement::system());
        Request { what, bytes, traits, placement, populate: false }
    }

    /// Checks on all PEs, before pages are allocated, that bound memory fits its nodes. The kernel kills a process that
    /// exceeds a bound node. `demands` returns requests for the memory that is not allocated yet.
    pub(super) fn agree_on_room(&self, demands: impl FnOnce() -> Result<Vec<Request>>) -> Result<()> {
        if self.spread != Spread::Bound {
            return Ok(());
        }
        let fits = demands().and_then(|demands| {
            demands.iter().try_for_each(|demand| dynamic_segments::check(self.job, demand))?;
            Ok(Vec::new())
        });
        self.agreed.settle(fits).map(drop)
    }

    /// Frees this PE's allocations for an array that could not be made.
    pub(super) fn undo(&self, ids: &[u64]) {
        let freed: Result<Vec<Allocation>, _> =
            ids.iter().map(|id| self.job.memory.ledger.lock().free(*id)).collect();
        let freed = freed.unwrap_or_else(|_| unreachable!("they were allocated just now"));
        // SAFETY: the array was made on no PE, because all PEs have agreed on the failure (`Agreed::settle`) or have
        // found the same error. So there is no handle of the array, and no address in it.
        unsafe { dynamic_segments::settle(self.job, &freed) };
    }
}

pub(super) fn strictness(spec: &PartitionSpec) -> Spread {
    match spec.traits.policy {
        Some(Policy::Mandatory) if spec.traits.kind.is_some() => Spread::Bound,
        _ => Spread::Preferred,
    }
}

/// Returns whether pages are not placed by chunk: the system places them, or discarding them would leave holes in a file.
pub(super) fn is_elsewhere(spec: &PartitionSpec) -> bool {
    let systems =
        spec.traits.kind == Some(Kind::SysDefault) || spec.traits.policy == Some(Policy::SysDefault);
    systems || spec.is_in_file()
}

/// The NUMA nodes on which the calling PE has its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Homes {
    /// The nodes of this PE's CPUs; empty if not known.
    own: Vec<u32>,
    /// The largest number of nodes of any PE. The layout of arrays depends on it.
    pub(super) most: usize,
}

impl Homes {
    pub(super) fn new(own: Vec<u32>, most: usize) -> Self {
        Self { own, most: most.max(1) }
    }

    /// Returns the class of a chunk, below `most` and the same on every PE. A PE has all chunks of a class on one node.
    pub(super) fn class(&self, chunk: usize) -> usize {
        chunk % self.most
    }

    /// Returns this PE's node for a class of chunks. If the PE has fewer nodes than there are classes, classes share a node.
    pub(super) fn of_class(&self, class: usize) -> Option<u32> {
        self.own.get(class % self.own.len().max(1)).copied()
    }

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
        // Another PE has four nodes: chunk 2 has class 2 everywhere.
        let homes = Homes::new(vec![5, 7], 4);
        assert_eq!(homes.of_chunks(6), [5, 7, 5, 7, 5, 7]);
        assert_eq!((homes.class(6), homes.of_class(3)), (2, Some(7)));
        assert_eq!(Homes::new(Vec::new(), 0).of_chunks(3), [0; 0]);
        assert_eq!(Homes::new(Vec::new(), 0).most, 1);
    }
}
