//! Errors of partitions, before any memory is requested.

use shmem_grammar::MAX_PARTITION_ID;

use super::MAX_PARTITIONS;

/// A partition, or its description, is not usable. Messages name its origin, what is allowed and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum PartitionError {
    /// A malformed environment variable, or two that contradict each other.
    #[error("{0}")]
    Environment(String),
    /// A declaration of the program that is wrong by itself, or contradicts the environment.
    #[error("{0}")]
    Declared(String),
    #[error(
        "{count} partitions are asked for, and a job has at most {MAX_PARTITIONS}, the built-in ones (`default`, `fast`, `normal`) counted; one partition for each kind of memory and page size is enough, since a heap holds any number of objects"
    )]
    TooMany { count: usize },
    /// A request for a partition at run time is invalid.
    #[error("the new partition{0}")]
    New(String),
    #[error(
        "{partition} exists since the start of the job (from {origin}) and as long as it; only what `create_partition` made can be dropped"
    )]
    Permanent { partition: String, origin: String },
    #[error(
        "{partition} cannot be dropped: {allocations} in it; drop or free what is there on every PE first"
    )]
    InUse { partition: String, allocations: String },
    #[error("there is no partition {asked}; there are {existing}{hint}")]
    NoSuchPartition { asked: String, existing: String, hint: String },
}

impl PartitionError {
    /// An ID or name of two partitions.
    pub(super) fn taken_twice(what: &str, first: &str, second: &str, remedy: &str) -> Self {
        Self::Declared(format!("{what} is taken twice: by {first}, and by {second}; {remedy}"))
    }

    pub(super) fn new_id(id: u32) -> Self {
        Self::New(format!(
            " wants the ID {id}; an ID lies in 1..={MAX_PARTITION_ID}; give one of these, or none: then a free one is taken"
        ))
    }
}
