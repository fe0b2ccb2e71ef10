//! What can keep a section from being shown.

use crate::binary::BinaryError;

/// A section cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InfoError {
    /// A binary cannot be read.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The environment has a value that a variable does not take.
    #[error(transparent)]
    Environment(#[from] Box<shmem_launch::env::EnvError>),
    /// Blocks of a strided transfer overlap.
    #[error("blocks of {block} bytes overlap at a stride of {stride}; the stride must be at least the block")]
    Overlap {
        /// Bytes of a block.
        block: usize,
        /// Bytes from block to block.
        stride: usize,
    },
    /// Blocks of a strided transfer reach further than any memory.
    #[error("{count} blocks of {block} bytes at a stride of {stride} are more than any memory has")]
    Endless {
        /// Bytes of a block.
        block: usize,
        /// Number of blocks.
        count: usize,
        /// Bytes from block to block.
        stride: usize,
    },
    /// Partitions, or the environment that describes them, are not usable.
    #[error(transparent)]
    Partition(#[from] shmem_core::partition::PartitionError),
    /// A partition must have memory that this machine does not have.
    #[error(transparent)]
    Placement(#[from] shmem_core::memory::PlacementError),
    /// Statics cannot be laid out.
    #[error(transparent)]
    Layout(#[from] shmem_core::heap::statics::LayoutError),
}
