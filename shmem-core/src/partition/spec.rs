//! The job's request for a partition, the records of the statics in it, and the machine's grant.

use core::fmt;

use serde::{Deserialize, Serialize};
use shmem_grammar::{Kind, MAX_PARTITION_NAME, Traits};

use super::declaration::Declaration;
use crate::text::Text;

/// The origin of a partition's traits, for error texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The environment variable with this name.
    Environment(String),
    /// A declaration by `partitions!`, or the first static in a built-in partition.
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
    /// ID of the partition, 1..=255.
    pub id: u32,
    /// Name of the partition; `partition23` if only the environment defines it.
    pub name: Text<MAX_PARTITION_NAME>,
    /// Bytes of the heap, statics included.
    pub size: u64,
    /// The traits that were given. A default size is in [`size`](Self::size) only.
    pub traits: Traits,
    /// The origin of the traits.
    pub origin: Origin,
    /// Whether the program or the environment gives kind, policy or page size. Then pages are populated at start, except in a file.
    pub explicit: bool,
    /// Path of the partition's file, for [`Kind::Pmem`](super::Kind::Pmem). Each PE appends its number (`heap.0`). PEs may have
    /// different paths.
    pub file: Option<String>,
}

impl PartitionSpec {
    /// Whether the partition is in a file, so that its contents survive the job.
    pub fn is_in_file(&self) -> bool {
        self.traits.kind == Some(Kind::Pmem)
    }

    /// The partition in error texts: ``partition 2 `fast` ``.
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
    /// Base pages, which the kernel may merge if it is advised to.
    Base,
    /// Base pages merged into huge ones (`MADV_COLLAPSE`).
    Transparent,
    /// Pages of the huge-page pool.
    HugeTlb,
}

/// The memory that one PE was granted for a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// Bytes of the heap.
    pub size: u64,
    /// Bytes of a page.
    pub pgsize: u64,
    /// The sort of pages.
    pub pages: Pages,
    /// The granted kind of memory; `None`: no kind was requested, or none was granted.
    #[serde(with = "kind_number")]
    pub kind: Option<Kind>,
    /// Number of pages on each NUMA node, by node number, as the kernel says; empty: unknown, or no page exists yet.
    pub nodes: Vec<(u32, u64)>,
    /// Whether all pages exist already.
    pub populated: bool,
    /// Wishes that were not granted, each with its reason, in words.
    pub downgrades: Vec<String>,
}

impl Grant {
    /// Returns the grant without a wish: base pages, made at their first touch.
    pub fn plain(size: u64, pgsize: u64) -> Self {
        let (nodes, downgrades) = (Vec::new(), Vec::new());
        Self { size, pgsize, pages: Pages::Base, kind: None, nodes, populated: false, downgrades }
    }
}

/// Serialises a kind as its number; 0: no kind.
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

/// The record of a symmetric static in the binary. It consists of numbers and texts, so any bits are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StaticEntry {
    /// Bytes of the object.
    pub size: u64,
    /// Alignment of the object, in bytes.
    pub align: u64,
    /// Smallest page size that the object asks for, in bytes; 0: no wish.
    pub pgsize: u64,
    /// The declaration of the object's partition.
    pub partition: Declaration,
    /// The object's name.
    pub name: Text<64>,
    /// `module_path!()` at the object's declaration.
    pub module: Text<96>,
    /// File of the object's declaration.
    pub file: Text<96>,
    /// Line of the object's declaration.
    pub line: u32,
    /// A field in place of padding.
    pub(crate) reserved: u32,
}
