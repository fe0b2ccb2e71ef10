//! What `shmem-info` tells: one module per section, each of which gives its text.
//!
//! Nothing is printed or decided here that a running job does otherwise. Layouts come from
//! [`shmem_core::heap::statics`], partitions from [`shmem_core::partition::Table`], variables from
//! [`env`](crate::env). What a machine has is read below a [`Root`], so that tests can invent machines.

mod binary;
mod environment;
mod layout;
mod pages;
mod partitions;
mod plan;
mod topology;
mod transports;

pub use crate::root::Root;
pub use binary::{Binary, BinaryError};
pub use environment::environment;
pub use layout::{Statics, statics};
pub use pages::{Pool, TransparentPages, pages};
pub use partitions::{Resolved, partitions, resolve};
pub use plan::plans;
pub use topology::topology;
pub use transports::{transports, try_fabric};

/// A section cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InfoError {
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
