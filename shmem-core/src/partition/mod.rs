//! Symmetric memory partitions: requests, their origins, and grants.
//!
//! A partition is a part of symmetric memory with traits: size, page size, kind of memory, and a policy (how strictly the other
//! traits are meant). It is declared by `partitions!` (in a section of the binary), by the environment, or built in.
//! [`Table::resolve`] joins these origins; a [`Grant`] describes the memory that a machine gave. This module makes no system calls.
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), with the decisions in `docs/design.md`.

mod declaration;
mod declared;
mod environment;
mod error;
mod report;
mod resolve;
mod spec;
mod table;
#[cfg(test)]
mod tests {
    mod environment;
    mod report;
    mod resolve;
}
mod run_time_request;

pub use declaration::{BUILT_IN, Declaration, Partition, default, fast, normal};
pub use environment::{
    DEFAULT_HEAP_BYTES, DEFAULT_PARTITION_BYTES, Environment, PARTITION_VARIABLE, SIZE_VARIABLE,
};
pub use error::PartitionError;
pub use report::{downgrades, report};
pub use run_time_request::NewPartition;
pub use shmem_grammar::{
    Kind, MAX_PARTITION_ID, MIN_PAGE, Policy, SizeError, TraitError, Traits, check_traits, nearest,
    parse_size, parse_traits, parse_traits_and_file, round_size, short_size, show_size,
};
pub use spec::{Grant, Origin, Pages, PartitionSpec, StaticEntry};
pub use table::Table;

/// Upper limit on the partitions of a job.
pub const MAX_PARTITIONS: usize = 127;
