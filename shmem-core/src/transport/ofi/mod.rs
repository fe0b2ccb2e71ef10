//! PEs on other nodes, through libfabric.

pub mod engine;
pub mod strided;
