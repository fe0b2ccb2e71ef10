//! Symmetric heaps: where objects lie in a partition.

mod released;

pub use released::Released;

/// A heap has no room, or what was given back is not one of its blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("placeholder")]
pub enum HeapError {}
