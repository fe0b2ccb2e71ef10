//! What can go wrong in the control plane. (Data-plane failures end the job; mistakes of the
//! program panic.)

/// The crate's result.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error of initialisation, allocation or context creation. The same on every PE.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A partition, or the environment that describes it, is not usable.
    #[error(transparent)]
    Partition(#[from] crate::partition::PartitionError),
    /// Memory could not be reserved, mapped or populated.
    #[error(transparent)]
    Memory(#[from] crate::memory::MemoryError),
    /// A heap has no room, or a pointer is not one of its blocks.
    #[error(transparent)]
    Heap(#[from] crate::heap::HeapError),
    /// No resource is left for another context.
    #[error(transparent)]
    Resource(#[from] crate::context::Exhausted),
    /// The job could not be brought together.
    #[error("{0}")]
    Bootstrap(String),
}
