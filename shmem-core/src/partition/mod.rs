//! Symmetric memory partitions: what is asked, by whom, and what was granted.
//!
//! A partition is a part of symmetric memory with traits: size, page size, kind of memory, and a
//! policy that says how strictly the traits are meant. It is declared by `partitions!` (name, ID and
//! default traits, in a section of the binary), by the environment (traits, by ID or name), or built
//! in. [`Table::resolve`] joins the three; what the machine gave is a [`Grant`].
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), with the decisions in
//! `docs/design.md`.

mod declaration;
mod grant;
mod kind;
mod spec;

pub use declaration::{BUILT_IN, Declaration, Partition, default, fast, normal};
pub use grant::{Grant, Pages};
pub use kind::{Kind, Policy, Traits};
pub use spec::{Origin, PartitionSpec};

/// Largest partition ID.
pub const MAX_PARTITION_ID: u32 = 255;

/// Most partitions in one job.
pub const MAX_PARTITIONS: usize = 127;

/// A partition, or what describes it, is not usable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("placeholder")]
pub enum PartitionError {}
