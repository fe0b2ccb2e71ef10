//! Arrays whose chunks are on NUMA nodes.
//!
//! A [`Chunking`] cuts an array into chunks, one or more for each NUMA node of the PE. Arrays of the storages [`Single`],
//! [`Separate`] and [`Cyclic`] are one range of elements in row-major order. The range's pages are placed on nodes, and a page may
//! contain the border of two chunks. An array of [`Multi`] has a range for each chunk, and a table that finds elements
//! (`geometry`). [`Chosen`] is one of these four, chosen at run time.
//!
//! `element_address` computes addresses; only `access`, `iterators`, `chunk` and `view` turn them into references. A [`NumaArray`]
//! is a handle, as [`SymBox`](crate::object::SymBox) is. `shmem-rt` allocates its memory and places its pages.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel).

mod access;
mod chunk;
mod chunking;
mod element_address;
mod geometry;
mod handle;
mod index;
mod iterators;
mod on_pe;
mod storage;
#[cfg(test)]
mod tests;
mod view;

pub use chunk::{ChunkMut, ChunkRef};
pub use chunking::{ArrayError, Chunking, MOST_CHUNKS, array_bytes};
pub use geometry::ArrayRange;
pub use handle::NumaArray;
pub use index::{ArrayIndex, ArrayPlaceIndex};
pub use iterators::{Elements, Indices, Slices};
pub use on_pe::{ArrayHere, ArrayOn, ArrayPlace, Copied, OwnCopy};
pub use storage::{Chosen, Contiguous, Cyclic, Multi, Separate, Single, Storage, StorageKind};
pub use view::{ArrayMut, ArrayRef};
