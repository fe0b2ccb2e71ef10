//! Arrays whose chunks are on NUMA nodes ([`NumaArray`]): how they are made and freed ([`World::array`](crate::World::array)).
//!
//! ```text
//! builder                 what is asked
//! construction            what all storages have in common, and which nodes chunks live on
//! one_range_storages      in the heap, or in a segment of its own
//! multi_storage           in pools of segments bound to one node
//! page_owners             which chunk each page belongs to
//! page_placement          binds pages to the nodes of their chunks, populates them, and measures where they are
//! first_elements          the first elements
//! par_iter, thread_pools  parallel iterators, on threads of the chunks' nodes
//! ```
//!
//! Making an array is collective, as allocation is: PEs agree on the arguments, take the same steps, and agree whether
//! a PE has failed. The memory of an array is one range, or with storage `multi` one range for each chunk. The ledger, which
//! records all heap blocks, has one allocation for each range. So an array is dropped and reclaimed like any object.
//! `dynamic_segments` then removes segments and restores the placement of pages.
//!
//! On a machine with one memory node, pages are not placed. New memory is always mapped, then bound to nodes, then
//! populated, and only then registered and announced to other PEs.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel).

mod builder;
mod construction;
mod first_elements;
mod multi_storage;
mod one_range_storages;
mod page_owners;
mod page_placement;
#[cfg(feature = "rayon")]
mod par_iter;
#[cfg(feature = "rayon")]
mod thread_pools;

pub use builder::ArrayBuilder;
#[cfg(feature = "rayon")]
pub use par_iter::{Chunkwise, ParArray, ParArrayMut};
pub use shmem_core::array::{
    ArrayError, ArrayHere, ArrayIndex, ArrayMut, ArrayOn, ArrayPlace, ArrayPlaceIndex, ArrayRange, ArrayRef,
    Chosen, ChunkMut, ChunkRef, Chunking, Contiguous, Copied, Cyclic, Indices, Multi, NumaArray, OwnCopy,
    Separate, Single, Storage, StorageKind,
};
#[cfg(feature = "rayon")]
pub use thread_pools::NodePools;
