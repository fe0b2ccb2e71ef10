//! What the macros may name. Not for use by hand, and outside every promise of compatibility.
//!
//! Expansions say `::shmem::__private::X` and nothing else of this crate, so that a program may
//! shadow or re-export whatever it likes.

pub use shmem_core::data::SymmetricData;
pub use shmem_core::object::{Descriptor, Symmetric};
pub use shmem_core::partition::{Declaration, Kind, Partition, Policy, Traits, default};

pub use bytemuck::{Pod, Zeroable};
