//! Symmetric heaps: offsets of objects in a partition.
//!
//! A partition starts with its statics ([`statics`]: one order on all PEs, computed from the records in the binary's
//! [`section`](crate::section)), and the rest is its heap, whose free memory an [`Allocator`] manages. The [`Ledger`] has the blocks
//! of all heaps of a job: it numbers allocations in lockstep and reclaims those that every PE has dropped. All of it is arithmetic on
//! offsets; nothing here reads or writes symmetric memory.

mod allocator;
mod error;
mod ledger;
pub mod statics;

pub use allocator::{Allocator, MAX_ALIGN, MIN_ALIGN, Usage};
pub use error::HeapError;
pub use ledger::{Allocation, Ledger, Made, Owner, Reclaimed, Released};
