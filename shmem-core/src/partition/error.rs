//! Errors of partitions, before any memory is requested.

use super::MAX_PARTITIONS;

/// A partition, or its description, is not usable. The message names its origin, what is allowed and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PartitionError(String);

impl PartitionError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// A request for a partition at run time is invalid.
    pub fn of_request(why: impl core::fmt::Display) -> Self {
        Self(format!("the new partition{why}"))
    }

    pub(super) fn too_many(count: usize) -> Self {
        Self(format!(
            "{count} partitions are asked for, and a job has at most {MAX_PARTITIONS}, the built-in ones (`default`, `fast`, `normal`) counted; one partition for each kind of memory and page size is enough, since a heap holds any number of objects"
        ))
    }

    /// Two partitions have one ID or name.
    pub(super) fn taken_twice(what: &str, first: &str, second: &str, remedy: &str) -> Self {
        Self(format!("{what} is taken twice: by {first}, and by {second}; {remedy}"))
    }
}
