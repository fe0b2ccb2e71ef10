//! Requests for the memory of one segment: a partition, or an array that is registered after init.

use shmem_grammar::{Kind, Traits};

use super::error::MemoryError;
use super::mapping::HUGE;
use super::placement::{Placement, Spread, placement};
use crate::partition::{Origin, PartitionSpec};
use crate::topology::Topology;

/// The largest huge page of any machine, which is the largest alignment of a partition.
const LARGEST_PAGE: u64 = 16 << 30;

/// A request for one segment's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The segment and its origin, as error texts begin.
    pub what: String,
    /// Bytes of the segment.
    pub bytes: usize,
    /// The requested traits. Their size is not used: [`bytes`](Self::bytes) is.
    pub traits: Traits,
    /// The NUMA nodes from which the memory comes.
    pub placement: Placement,
    /// Whether all pages are allocated at the start.
    pub populate: bool,
}

impl Request {
    /// Returns the request for a partition's memory. Fails if a mandatory kind of memory is not available.
    pub fn partition(spec: &PartitionSpec, topology: &Topology) -> Result<Self, MemoryError> {
        let what = match &spec.origin {
            Origin::BuiltIn => {
                format!("{} (built in; SHMEM_SYMMETRIC_PARTITION{} changes it)", spec.title(), spec.id)
            }
            origin => format!("{} ({origin})", spec.title()),
        };
        let placement = placement(spec, topology)?;
        let bytes = usize::try_from(spec.size).unwrap_or(usize::MAX);
        // Huge pages are always populated at the start, because none may be left at the first touch.
        let populate = (spec.explicit || spec.traits.pgsize.is_some()) && !spec.is_in_file();
        Ok(Self { what, bytes, traits: spec.traits, placement, populate })
    }

    /// A request for `bytes` bytes, without traits.
    pub fn plain(what: &str, bytes: usize) -> Self {
        let placement = Placement::system();
        Self { what: what.to_owned(), bytes, traits: Traits::NONE, placement, populate: false }
    }

    /// Whether the memory is a file that survives the job.
    pub fn is_in_file(&self) -> bool {
        self.traits.kind == Some(Kind::Pmem)
    }

    /// The NUMA nodes with the requested kind; `None`: any node.
    pub fn only_on(&self) -> Option<&[u32]> {
        let Placement { kind, nodes, spread, .. } = &self.placement;
        (kind.is_some() && *spread != Spread::System && !nodes.is_empty()).then_some(nodes.as_slice())
    }

    /// Alignment of the segment's start in bytes, sufficient for every page size that may be granted.
    pub fn room(&self) -> usize {
        match self.traits.pgsize.unwrap_or(0) {
            0..=0x20_0000 => HUGE,
            0x20_0001..=0x4000_0000 => 1 << 30,
            larger => larger.min(LARGEST_PAGE).next_power_of_two() as usize,
        }
    }
}
