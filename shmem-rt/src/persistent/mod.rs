//! Partitions that outlive the job: opened at the start, written down by `persist`, with their objects by
//! name.
//!
//! ```text
//! open     at the start: every PE opens its file and tells the others what it found; all come to one persist;
//!          their names are read, and what these stand for is reserved
//! persist  the collective that writes all of them down
//! names    objects by name, on the heaps of these partitions
//! ```
//!
//! What makes the files survive crashes stands at the head of `shmem_core::memory`'s module `pmem`.

mod names;
mod open;
mod persist;

pub(crate) use open::{open, open_all, shelve};
