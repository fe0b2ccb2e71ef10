//! The state of each feature in a running job: fields of the [job](crate::job). Upper layers implement the operations.

pub(crate) mod contexts_domains;
pub(crate) mod dynamic_memory;
pub(crate) mod endpoint_reports;
pub(crate) mod names;
pub(crate) mod object_names;
pub(crate) mod partitions;
pub(crate) mod persistent_partition;
pub(crate) mod team_indexes;
pub(crate) mod team_memory;
pub(crate) mod team_uses;
pub(crate) mod threads;
