//! Memory of the heaps: memfds, page sizes, and the arena.

/// Memory could not be reserved, mapped or populated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("placeholder")]
pub enum MemoryError {}
