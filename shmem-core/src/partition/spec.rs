//! A partition as this job asks for it: declarations and environment joined.

use core::fmt;

use shmem_grammar::{Kind, MAX_PARTITION_NAME, Traits};

use crate::text::Text;

/// Bytes of the default heap (partition 1) when nobody gives its size. Small: memory is reserved, and
/// exists only where it is touched.
pub const DEFAULT_HEAP_BYTES: u64 = 64 << 20;

/// Bytes of every other partition when nobody gives its size.
pub const DEFAULT_PARTITION_BYTES: u64 = 64 << 20;

/// Where a trait of a partition comes from, for messages.
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
    /// Nobody said anything: a built-in partition as it is, without statics.
    BuiltIn,
}

/// A partition as this job asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionSpec {
    /// 1..=255.
    pub id: u32,
    /// Its name; for one that exists in the environment only, `partition23`.
    pub name: Text<MAX_PARTITION_NAME>,
    /// Bytes of the heap, statics included.
    pub size: u64,
    /// The traits, as far as somebody gave them: without a size here, [`size`](Self::size) is the
    /// default size.
    pub traits: Traits,
    /// Who asked.
    pub origin: Origin,
    /// Whether kind, policy or page size was asked for by somebody (environment, `partitions!`, or
    /// an object): then its pages are populated at start.
    pub explicit: bool,
    /// The path of the file that it lies in, with [`Kind::Pmem`](super::Kind::Pmem): each PE's own file has the PE's number
    /// behind it, `heap.0`. It may differ between PEs.
    pub file: Option<String>,
}

impl PartitionSpec {
    /// Whether the contents are to survive the job.
    pub fn is_in_file(&self) -> bool {
        self.traits.kind == Some(Kind::Pmem)
    }

    /// How messages name it: ``partition 2 `fast` ``.
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
