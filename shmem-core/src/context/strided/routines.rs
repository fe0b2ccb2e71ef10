//! The routines whose strides are arguments.

use super::blocks::{Blocks, Walk};
use super::sized::{check_size, sized_routine, sized_routines};
use super::table::{routine, routines};
use super::{get_blocks, put_blocks};
use crate::context::raw::locate;
use crate::data::PlainData;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{On, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;
use crate::strided::Level;
use crate::transport::Remote;

/// Strided remote memory access with strides that are arguments. For regions of arrays, and for what can
/// be checked and planned while compiling, there is `strided!`.
///
/// Blocks of `iput` and `iget` are single elements. Those of `ibput` and `ibget` are several, those of
/// `iputmem` and `igetmem` bytes. A stride is the distance from the start of a block to that of the next,
/// in elements or bytes as the blocks are. How a transfer is carried out is chosen when it runs, as
/// `SHMEM_STRIDED_ALGORITHM` and the calibration say.
///
/// The routines of the specification that are named after the size of their elements are there, too: `iput8`, `iput16`, `iput32`,
/// `iput64`, `iput128`, and so for `ibput`, `iget` and `ibget`. Each is the routine without the number, and refuses elements of another size
/// when it is compiled.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{On, Stores, Strided};
///
/// /// Writes every eighth element of `column`, and reads it back.
/// fn exchange(world: &impl Stores, column: On<'_, [f64]>) {
///     world.iput(column, &[1.0, 2.0, 3.0], 8, 1, 3);
///     let mut back = [0.0; 3];
///     world.iget(&mut back, column, 1, 8, 3);
/// }
/// ```
pub trait Strided: Initiator {
    routines! {
        [] [&] [where Self: Stores]
        /// Writes `count` elements. The source may be reused on return; the data is visible to every PE after
        /// `quiet` or a barrier.
        ///
        /// # Panics
        ///
        /// If a stride is 0, or the last element does not lie in the place or the source.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_iput`.
        iput: put elements, Iput;

        /// Writes `count` blocks of `block` elements. Otherwise as [`iput`](Self::iput).
        ///
        /// # Panics
        ///
        /// If a stride is less than the block, or the last block does not lie in the place or the source.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_ibput`.
        ibput: put blocks, Ibput;

        /// Writes `count` blocks of `block` bytes, `to_stride` bytes apart there and `source_stride` here.
        ///
        /// # Panics
        ///
        /// If a stride is less than the block, the last block does not lie in the source, or the blocks do not
        /// lie in one partition.
        ///
        /// Source: "Extending Strided Communication Interface in OpenSHMEM" (2015), `shmem_iputmem`.
        iputmem: put bytes, Iputmem;
    }

    routines! {
        [] [&] []
        /// Reads `count` elements; they are there on return.
        ///
        /// # Panics
        ///
        /// As [`iput`](Self::iput).
        ///
        /// Source: OpenSHMEM 1.6, `shmem_iget`.
        iget: get elements, Iget;

        /// Reads `count` blocks of `block` elements; they are there on return.
        ///
        /// # Panics
        ///
        /// As [`ibput`](Self::ibput).
        ///
        /// Source: OpenSHMEM 1.6, `shmem_ibget`.
        ibget: get blocks, Ibget;

        /// Reads `count` blocks of `block` bytes, `from_stride` bytes apart there and `into_stride` here; they
        /// are there on return.
        ///
        /// # Panics
        ///
        /// As [`iputmem`](Self::iputmem).
        ///
        /// Source: "Extending Strided Communication Interface in OpenSHMEM" (2015), `shmem_igetmem`.
        igetmem: get bytes, Igetmem;
    }

    sized_routines! {
        [] put [&]
        8: iput8, ibput8;
        16: iput16, ibput16;
        32: iput32, ibput32;
        64: iput64, ibput64;
        128: iput128, ibput128;
    }

    sized_routines! {
        [] get [&]
        8: iget8, ibget8;
        16: iget16, ibget16;
        32: iget32, ibget32;
        64: iget64, ibget64;
        128: iget128, ibget128;
    }
}

impl<I: Initiator + ?Sized> Strided for I {}

#[inline]
#[track_caller]
pub(super) fn put_elements<T: PlainData>(
    endpoint: &Endpoint,
    to: On<'_, [T]>,
    source: &[T],
    (to_stride, source_stride): (usize, usize),
    block: usize,
    count: usize,
    family: Family,
) {
    Blocks { unit: "elements", block, count }.check(
        Walk { name: "place", len: to.len(), stride: to_stride },
        Walk { name: "source", len: source.len(), stride: source_stride },
    );
    let (block, level) = in_bytes::<T>(block, count, to_stride, source_stride);
    let to = Remote { pe: to.pe(), segment: to.segment(), offset: to.offset() };
    // SAFETY: `check` found every block inside the place, which every PE has, and inside the source, to
    // which nobody writes while it is borrowed.
    unsafe { put_blocks(endpoint, to, source.as_ptr().cast(), block, level, align_of::<T>(), family) };
}

#[inline]
#[track_caller]
pub(super) fn get_elements<T: PlainData>(
    endpoint: &Endpoint,
    into: &mut [T],
    from: On<'_, [T]>,
    (into_stride, from_stride): (usize, usize),
    block: usize,
    count: usize,
    family: Family,
) {
    Blocks { unit: "elements", block, count }.check(
        Walk { name: "destination", len: into.len(), stride: into_stride },
        Walk { name: "place", len: from.len(), stride: from_stride },
    );
    let (block, level) = in_bytes::<T>(block, count, into_stride, from_stride);
    let from = Remote { pe: from.pe(), segment: from.segment(), offset: from.offset() };
    // SAFETY: `check` found every block inside the place, which every PE has, and inside `into`, which is borrowed
    // exclusively.
    unsafe { get_blocks(endpoint, into.as_mut_ptr().cast(), from, block, level, align_of::<T>(), family) };
}

#[inline]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "those of the routine's specification")]
pub(super) fn put_mem(
    endpoint: &Endpoint,
    to: SymAddr,
    source: &[u8],
    (to_stride, source_stride): (usize, usize),
    block: usize,
    count: usize,
    pe: Pe,
    family: Family,
) {
    let blocks = Blocks { unit: "bytes", block, count };
    let hull = blocks.hull(to_stride);
    blocks.check(
        Walk { name: "place", len: usize::MAX, stride: to_stride },
        Walk { name: "source", len: source.len(), stride: source_stride },
    );
    let (segment, offset) = locate(endpoint, family, to, hull);
    let (place, from) = (Remote { pe, segment, offset }, source.as_ptr());
    let level = Level { count, to: to_stride, from: source_stride };
    // SAFETY: `locate` found all blocks in a segment, which is memory of every PE, `check` those of the
    // source in it.
    unsafe { put_blocks(endpoint, place, from, block, level, 1, family) };
}

#[inline]
#[track_caller]
#[expect(clippy::too_many_arguments, reason = "those of the routine's specification")]
pub(super) fn get_mem(
    endpoint: &Endpoint,
    into: &mut [u8],
    from: SymAddr,
    (into_stride, from_stride): (usize, usize),
    block: usize,
    count: usize,
    pe: Pe,
    family: Family,
) {
    let blocks = Blocks { unit: "bytes", block, count };
    let hull = blocks.hull(from_stride);
    blocks.check(
        Walk { name: "destination", len: into.len(), stride: into_stride },
        Walk { name: "place", len: usize::MAX, stride: from_stride },
    );
    let (segment, offset) = locate(endpoint, family, from, hull);
    let (place, to) = (Remote { pe, segment, offset }, into.as_mut_ptr());
    let level = Level { count, to: into_stride, from: from_stride };
    // SAFETY: `locate` found all blocks in a segment, which is memory of every PE, `check` those of `into` in
    // it, which is borrowed exclusively.
    unsafe { get_blocks(endpoint, to, place, block, level, 1, family) };
}

/// One loop over blocks of `block` elements of `T`, in bytes, after [`check`](Blocks::check).
///
/// What would be no number is never used: of no blocks, the length and the strides; of one, the strides. With
/// more, `check` has found that all are at most the length of a slice, which has a number of bytes.
#[inline(always)]
fn in_bytes<T>(block: usize, count: usize, to: usize, from: usize) -> (usize, Level) {
    let bytes = size_of::<T>();
    (block.wrapping_mul(bytes), Level { count, to: to.wrapping_mul(bytes), from: from.wrapping_mul(bytes) })
}
