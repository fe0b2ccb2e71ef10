//! Partitions that outlive the job, whose objects have names. At the start all PEs [`open`] their files, agree on one persist, and
//! read the objects' names in the files. The head of `shmem_core::memory`'s module `pmem` proves that the files survive crashes.

mod names;
mod open;
mod persist;

pub(crate) use open::{open, open_all, shelve};
