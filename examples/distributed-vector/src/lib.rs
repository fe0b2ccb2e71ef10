//! A generic library over symmetric memory: a vector that all PEs have together.
//!
//! Its elements are dealt out in blocks, one to each PE. Any PE reads and writes single elements by their global index; all
//! of them together change the whole vector in a phase, each its own block as a plain slice. What the bounds of its
//! functions say is explained in `docs/libraries.md`.
#![forbid(unsafe_code)]

mod vector;

pub use vector::DistributedVector;
