//! A partition as this job asks for it: declarations and environment joined.

use super::kind::Traits;
use crate::text::Text;

/// Where a trait of a partition comes from, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable, by name.
    Environment(String),
    /// `partitions!` in a program.
    Program {
        /// File of the declaration.
        file: Text<96>,
        /// Line of the declaration.
        line: u32,
    },
    /// Nobody said anything: a built-in partition as it is.
    BuiltIn,
}

/// A partition as this job asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionSpec {
    /// 1..=255.
    pub id: u32,
    /// Its name; for one that exists in the environment only, `partition23`.
    pub name: Text<32>,
    /// Bytes of the heap, statics included.
    pub size: u64,
    /// The traits, as far as somebody gave them (`size` is always given here).
    pub traits: Traits,
    /// Who asked.
    pub origin: Origin,
    /// Whether kind, policy or page size was asked for by somebody (environment or `partitions!`):
    /// then its pages are populated at start.
    pub explicit: bool,
}
