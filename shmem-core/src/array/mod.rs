//! Arrays whose chunks are on NUMA nodes.
//!
//! A [`Chunking`] cuts an array into chunks, one or more for each node of the PE. [`Single`], [`Separate`] and
//! [`Cyclic`] are one range of elements in row-major order, placed page by page, which need not end where chunks end.
//! [`Multi`] has a range for each chunk, and a table to find elements (`geometry`). [`Chosen`] is one of these, chosen
//! at run time.
//!
//! `rows` and `address` compute addresses; only `elements`, `chunk` and `view` turn them into references. A [`NumaArray`] is a handle,
//! as [`SymBox`](crate::object::SymBox) is. `shmem-rt` makes and places its memory.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel).

mod address;
mod chunk;
mod chunking;
mod elements;
mod geometry;
mod handle;
mod index;
mod kind;
mod place;
mod rows;
mod storage;
#[cfg(test)]
mod tests;
mod view;

pub use chunk::{ChunkMut, ChunkRef};
pub use chunking::{ArrayError, Chunking, MOST_CHUNKS, array_bytes};
pub use elements::{ChunkIter, ChunkIterMut, ChunkRuns, ChunkRunsMut};
pub use elements::{Elements, Iter, IterMut, Runs, RunsMut, Slices};
pub use geometry::ArrayRange;
pub use handle::NumaArray;
pub use index::{ArrayIndex, Indices};
pub use kind::StorageKind;
pub use place::{ArrayHere, ArrayOn, ArrayPlace, ArrayPlaceIndex, Copied, OwnCopy};
pub use storage::{Chosen, Contiguous, Cyclic, Multi, Separate, Single, Storage};
pub use view::{ArrayMut, ArrayRef};
