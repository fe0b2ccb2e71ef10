//! Faces for the C library (`shmem-c`), for which levels, kinds and lengths are values, and which keeps by itself what types
//! keep for a program in Rust.

pub mod collective;
pub mod context;
pub mod globals;
pub mod job;
