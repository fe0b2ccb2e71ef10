//! Partitions that outlive the job, with objects by name.
//!
//! ```text
//! open     opening at the start: all PEs agree on one persist, read the names in their files, and reserve the named objects
//! persist  the collective that saves all of these partitions
//! names    objects by name, on the heaps of these partitions
//! ```
//!
//! The head of `shmem_core::memory`'s module `pmem` has the argument why the files survive crashes.

mod names;
mod open;
mod persist;

pub(crate) use open::{open, open_all, shelve};
