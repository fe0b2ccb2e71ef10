//! The job's request for a partition, the statics in it, and the machine's grant.

use core::fmt;

use serde::{Deserialize, Serialize};
use shmem_grammar::{Kind, MAX_PARTITION_NAME, Traits};

use super::declaration::Declaration;
use crate::fixed_text::Text;

/// The origin of a partition's traits, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable, by name.
    Environment(String),
    /// `partitions!` in a program, or the first static in a built-in partition.
    Program {
        /// File of the declaration.
        file: Text<96>,
        /// Line of the declaration.
        line: u32,
    },
    /// No declaration: an unchanged built-in partition without statics.
    BuiltIn,
}

/// The job's request for a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionSpec {
    /// The ID, 1..=255.
    pub id: u32,
    /// The name; `partition23` if only the environment defines the partition.
    pub name: Text<MAX_PARTITION_NAME>,
    /// Bytes of the heap, statics included.
    pub size: u64,
    /// The traits that were given. A size that was not given is in [`size`](Self::size) alone.
    pub traits: Traits,
    /// The origin of the traits.
    pub origin: Origin,
    /// Whether kind, policy or page size is given, so that pages are populated at start.
    pub explicit: bool,
    /// The path of the file of a partition with [`Kind::Pmem`](super::Kind::Pmem), to which each PE appends its number (`heap.0`).
    /// PEs may have different paths.
    pub file: Option<String>,
}

impl PartitionSpec {
    /// Whether the contents are to survive the job.
    pub fn is_in_file(&self) -> bool {
        self.traits.kind == Some(Kind::Pmem)
    }

    /// The name in messages: ``partition 2 `fast` ``.
    pub fn title(&self) -> String {
        format!("partition {} `{}`", self.id, self.name)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(variable) => f.write_str(variable),
            Self::Program { file, line } => write!(f, "{file}:{line}"),
            Self::BuiltIn => f.write_str("the built-in partition"),
        }
    }
}

/// The sort of pages of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pages {
    /// Base pages; if advised, the kernel may merge them.
    Base,
    /// Base pages merged into huge ones (`MADV_COLLAPSE`).
    Transparent,
    /// Pages of the huge-page pool.
    HugeTlb,
}

/// The grant for one PE's part of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// Bytes of the heap.
    pub size: u64,
    /// Bytes of a page.
    pub pgsize: u64,
    /// The sort of pages.
    pub pages: Pages,
    /// The kind of memory; `None`: not requested, or not placed.
    #[serde(with = "kind_number")]
    pub kind: Option<Kind>,
    /// Number of pages on each NUMA node, by node number, from the kernel; empty: not known,
    /// or no page exists yet.
    pub nodes: Vec<(u32, u64)>,
    /// Whether all pages exist already.
    pub populated: bool,
    /// Wishes that were not granted, each with its reason, in words.
    pub downgrades: Vec<String>,
}

impl Grant {
    /// Base pages, made at their first touch: the grant without a wish.
    pub fn plain(size: u64, pgsize: u64) -> Self {
        let (nodes, downgrades) = (Vec::new(), Vec::new());
        Self { size, pgsize, pages: Pages::Base, kind: None, nodes, populated: false, downgrades }
    }
}

/// A kind as its number; 0: none.
mod kind_number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use shmem_grammar::Kind;

    pub(super) fn serialize<S: Serializer>(kind: &Option<Kind>, to: S) -> Result<S::Ok, S::Error> {
        kind.map_or(0, |kind| kind as u32).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Kind>, D::Error> {
        u32::deserialize(from).map(Kind::from_number)
    }
}

/// A symmetric static's record in the binary. Numbers and texts: any bits are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StaticEntry {
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Smallest page size that the object wants; 0: no wish.
    pub pgsize: u64,
    /// The declaration of the partition.
    pub partition: Declaration,
    /// The object's name.
    pub name: Text<64>,
    /// `module_path!()` of the declaration.
    pub module: Text<96>,
    /// File of the declaration.
    pub file: Text<96>,
    /// Line of the declaration.
    pub line: u32,
    /// In place of padding.
    pub(crate) reserved: u32,
}
