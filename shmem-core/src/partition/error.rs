//! Errors of partitions, before any memory is requested.

use super::MAX_PARTITIONS;

/// The error that a partition, or its description, is not usable. The text names the origin, what is allowed, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PartitionError(String);

impl PartitionError {
    /// Makes an error with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The error that a request for a partition at run time is invalid.
    pub fn of_request(why: impl core::fmt::Display) -> Self {
        Self(format!("the new partition{why}"))
    }

    pub(super) fn too_many(count: usize) -> Self {
        Self(format!(
            "{count} partitions are asked for, and a job has at most {MAX_PARTITIONS}, the built-in ones (`default`, `fast`, `normal`) counted; one partition for each kind of memory and page size is enough, since a heap holds any number of objects"
        ))
    }

    /// The error that two partitions have one ID or name.
    pub(super) fn taken_twice(what: &str, first: &str, second: &str, remedy: &str) -> Self {
        Self(format!("{what} is taken twice: by {first}, and by {second}; {remedy}"))
    }
}
