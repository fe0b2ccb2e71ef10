//! The state of each feature in a running job: fields of the [job](crate::job). The operations on them are in modules above it.

pub(crate) mod granted;
pub(crate) mod holdings;
pub(crate) mod indexes;
pub(crate) mod later;
pub(crate) mod names;
pub(crate) mod object_names;
pub(crate) mod partitions;
pub(crate) mod room;
pub(crate) mod shelf;
pub(crate) mod threads;
pub(crate) mod uses;
