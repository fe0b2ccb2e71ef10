//! Mechanism of `shmem-rt`, usable without a job: partitions and their traits, symmetric memory,
//! heaps, segments, transports and contexts.
//!
//! Nothing here knows of launchers, teams or phases; those stand in `shmem-rt`, which imports this
//! crate and never the other way round. Inside, imports point downwards in this order:
//!
//! ```text
//! context      what operations are issued through (Endpoint, Resource)
//! transport    how bytes reach another PE: shared memory inline, everything else behind a trait
//! object       handles of symmetric objects: Symmetric, SymBox, On
//! heap         layout of statics, the deterministic allocator, deferred reclaim
//! memory       memfds, page sizes, the arena in which every on-node PE has its place
//! segment      which part of a PE's place belongs to which partition
//! partition    what a partition is asked to be, and what it was granted
//! system       the words every PE keeps for the runtime: doorbell, barriers, its own record
//! sync         waiting: doorbell and barrier algorithms, checked with loom
//! data, pe, error, message, text, primitive
//! ```

pub mod context;
pub mod data;
pub mod error;
pub mod heap;
pub mod memory;
pub mod message;
pub mod object;
pub mod partition;
pub mod pe;
pub mod primitive;
pub mod segment;
pub mod sync;
pub mod system;
pub mod text;
pub mod transport;
