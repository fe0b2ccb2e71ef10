//! Partitions that outlive the job, with objects by name. At the start all PEs [`open`] their files, agree on one persist, and read
//! the names in them. The head of `shmem_core::memory`'s module `pmem` has the argument why the files survive crashes.

mod names;
mod open;
mod persist;

pub(crate) use open::{open, open_all, shelve};
