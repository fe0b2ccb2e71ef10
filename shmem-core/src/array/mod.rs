//! Arrays whose chunks lie on NUMA nodes.
//!
//! An array is cut into chunks ([`Chunking`]), and each chunk has a home: a NUMA node of the PE. Threads of
//! that node work on the chunk, and its memory lies there, as far as the storage allows:
//!
//! * [`Single`], [`Separate`] and [`Cyclic`] are one range of elements in row-major order. An element is
//!   found as in a slice, but memory is placed by pages, which need not end where chunks end.
//! * [`Multi`] has a range per chunk. Everything lies where it belongs, and it takes a table to find an
//!   element (module `geometry`).
//! * [`Chosen`] is one of these, chosen when the program runs.
//!
//! Inside, `rows` computes addresses of elements in their order, `address` those of elements by index, and
//! only `elements`, `chunk` and `view` turn addresses into references.
//!
//! A [`NumaArray`] is a handle, as [`SymBox`](crate::object::SymBox) is: it can do nothing without a
//! world. Nothing here makes or places memory; that is the business of `shmem-rt`.
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
pub use chunking::{ArrayError, Chunking, MOST_CHUNKS};
pub use elements::{ChunkIter, ChunkIterMut, ChunkRuns, ChunkRunsMut};
pub use elements::{Elements, Iter, IterMut, Runs, RunsMut, Slices};
pub use geometry::{Part, Parts};
pub use handle::{Keep, NumaArray};
pub use index::{ArrayIndex, Indices};
pub use kind::StorageKind;
pub use place::{ArrayHere, ArrayOn, ArrayPlaceIndex};
pub use storage::{Chosen, Contiguous, Cyclic, Multi, Separate, Single, Storage};
pub use view::{ArrayMut, ArrayRef};
