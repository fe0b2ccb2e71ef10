//! The attributes and macros of `shmem-rt`.
