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
    Overlap { block: usize, stride: usize },
    /// Blocks of a strided transfer reach further than any memory.
    #[error("{count} blocks of {block} bytes at a stride of {stride} are more than any memory has")]
    Endless { block: usize, count: usize, stride: usize },
    /// More PEs than plans are made for, or none.
    #[error("--pes {pes}: plans are made for 1 to {most} PEs")]
    Pes { pes: usize, most: usize },
    /// Nodes that cannot have as many PEs each.
    #[error(
        "--pes {pes} --per-node {per_node}: nodes have equally many PEs in a plan; give a number of PEs that is a multiple of those on a node"
    )]
    Uneven { pes: usize, per_node: usize },
    /// More bytes than plans are made for.
    #[error(
        "--bytes {bytes}: among {pes} PEs, one has more than {most} then, up to which plans are made; give fewer"
    )]
    Long { bytes: String, pes: usize, most: String },
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
