//! Symmetric heaps: offsets of objects in a partition.
//!
//! A partition starts with its statics. [`statics`] lays them out in equal order on all PEs, from the records in the binary's
//! [`section`](crate::linker_section). The rest of a partition is its heap, whose free memory an [`Allocator`] manages. The
//! [`Ledger`] records the blocks of all heaps of a job. It numbers allocations in lockstep, and reclaims allocations that every PE
//! has dropped. This module computes offsets only; it does not access symmetric memory.

mod allocator;
mod error;
mod ledger;
pub mod statics;

pub use allocator::{Allocator, MAX_ALIGN, MIN_ALIGN, Usage};
pub use error::HeapError;
pub use ledger::{Allocation, Ledger, Made, Owner, Reclaimed, Released};
