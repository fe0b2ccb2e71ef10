//! What the machine gave.

use shmem_grammar::Kind;

/// What stands behind the pages of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Pages {
    /// Base pages; the kernel may merge them when told that it may.
    Base = 1,
    /// Base pages merged into huge ones (`MADV_COLLAPSE`).
    Transparent = 2,
    /// Pages of the huge-page pool.
    HugeTlb = 3,
}

impl Pages {
    /// Every sort of pages.
    pub const ALL: [Self; 3] = [Self::Base, Self::Transparent, Self::HugeTlb];
}

/// What one PE's part of a partition was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// Bytes of the heap.
    pub size: u64,
    /// Bytes of a page.
    pub pgsize: u64,
    /// What the pages are.
    pub pages: Pages,
    /// The kind of memory; `None`: no placement was asked or made.
    pub kind: Option<Kind>,
    /// Pages on each NUMA node, as the kernel says, in the order of the nodes' numbers; empty: not known,
    /// or no page exists yet.
    pub nodes: Vec<(u32, u64)>,
    /// Whether all pages exist already.
    pub populated: bool,
    /// What was asked and not given, each with its reason, in words.
    pub downgrades: Vec<String>,
    /// The file that it lies in and that survives the job.
    pub file: Option<FileGrant>,
}

/// The file of one PE's part of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileGrant {
    /// Its path.
    pub path: String,
    /// The number of the persist that it was opened at; 0: the heap is new.
    pub generation: u64,
}
