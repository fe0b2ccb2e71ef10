//! Strided put and get with strides as arguments, as OpenSHMEM's routines.

use super::{get_blocks, put_blocks};
use crate::context::putmem::bytes_at;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{On, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;
use crate::strided::Level;
use crate::symmetric_data::PlainData;
use crate::transport::Remote;

/// Strided remote memory access with strides as arguments. (`strided!` transfers regions, and plans constant ones at compile time.)
///
/// A block is a single element in `iput` and `iget`, several elements in `ibput` and `ibget`, and several bytes in `iputmem` and
/// `igetmem`. A stride is the distance between the starts of consecutive blocks, in elements, or in bytes for `iputmem` and
/// `igetmem`. `SHMEM_STRIDED_ALGORITHM` selects the algorithm at run time.
///
/// The specification's routines for an element size, such as `shmem_iput64`, are these routines for elements of that size.
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
    /// Writes `count` elements. The source may be reused on return. The data is visible to every PE after `quiet` or a barrier.
    ///
    /// # Panics
    ///
    /// If a stride is 0, or the last element is outside `to` or `source`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_iput`.
    #[inline]
    #[track_caller]
    fn iput<T: PlainData>(
        &self,
        to: On<'_, [T]>,
        source: &[T],
        to_stride: usize,
        source_stride: usize,
        count: usize,
    ) where
        Self: Stores,
    {
        put_elements(self.endpoint(), to, source, (to_stride, source_stride), 1, count, Family::Iput);
    }

    /// Writes `count` blocks of `block` elements. The source may be reused on return. The data is visible to every PE after `quiet`
    /// or a barrier.
    ///
    /// # Panics
    ///
    /// If a stride is 0 or less than the block, or the last block is outside `to` or `source`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ibput`.
    #[inline]
    #[track_caller]
    fn ibput<T: PlainData>(
        &self,
        to: On<'_, [T]>,
        source: &[T],
        to_stride: usize,
        source_stride: usize,
        block: usize,
        count: usize,
    ) where
        Self: Stores,
    {
        put_elements(self.endpoint(), to, source, (to_stride, source_stride), block, count, Family::Ibput);
    }

    /// Writes `count` blocks of `block` bytes. The stride is `to_stride` on `pe`, and `source_stride` in `source`.
    ///
    /// # Panics
    ///
    /// If a stride is 0 or less than the block, the last block is outside `source`, or the blocks at `to` are not inside one
    /// partition.
    ///
    /// Source: "Extending Strided Communication Interface in OpenSHMEM" (2015), `shmem_iputmem`.
    #[inline]
    #[track_caller]
    #[expect(clippy::too_many_arguments, reason = "those of the routine's specification, in its order")]
    fn iputmem(
        &self,
        to: SymAddr,
        source: &[u8],
        to_stride: usize,
        source_stride: usize,
        block: usize,
        count: usize,
        pe: Pe,
    ) where
        Self: Stores,
    {
        let endpoint = self.endpoint();
        let to = bytes_at(endpoint, Family::Iputmem, to, Blocks { block, count }.hull(to_stride), pe);
        put_elements(endpoint, to, source, (to_stride, source_stride), block, count, Family::Iputmem);
    }

    /// Reads `count` elements. The data has arrived on return.
    ///
    /// # Panics
    ///
    /// If a stride is 0, or the last element is outside `from` or `into`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_iget`.
    #[inline]
    #[track_caller]
    fn iget<T: PlainData>(
        &self,
        into: &mut [T],
        from: On<'_, [T]>,
        into_stride: usize,
        from_stride: usize,
        count: usize,
    ) {
        get_elements(self.endpoint(), into, from, (into_stride, from_stride), 1, count, Family::Iget);
    }

    /// Reads `count` blocks of `block` elements. The data has arrived on return.
    ///
    /// # Panics
    ///
    /// If a stride is 0 or less than the block, or the last block is outside `from` or `into`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ibget`.
    #[inline]
    #[track_caller]
    fn ibget<T: PlainData>(
        &self,
        into: &mut [T],
        from: On<'_, [T]>,
        into_stride: usize,
        from_stride: usize,
        block: usize,
        count: usize,
    ) {
        get_elements(self.endpoint(), into, from, (into_stride, from_stride), block, count, Family::Ibget);
    }

    /// Reads `count` blocks of `block` bytes, at stride `from_stride` on `pe` and `into_stride` in `into`. Complete on return.
    ///
    /// # Panics
    ///
    /// If a stride is 0 or less than the block, the last block is outside `into`, or the blocks at `from` are not inside one
    /// partition.
    ///
    /// Source: "Extending Strided Communication Interface in OpenSHMEM" (2015), `shmem_igetmem`.
    #[inline]
    #[track_caller]
    #[expect(clippy::too_many_arguments, reason = "those of the routine's specification, in its order")]
    fn igetmem(
        &self,
        into: &mut [u8],
        from: SymAddr,
        into_stride: usize,
        from_stride: usize,
        block: usize,
        count: usize,
        pe: Pe,
    ) {
        let endpoint = self.endpoint();
        let from = bytes_at(endpoint, Family::Igetmem, from, Blocks { block, count }.hull(from_stride), pe);
        get_elements(endpoint, into, from, (into_stride, from_stride), block, count, Family::Igetmem);
    }
}

impl<I: Initiator + ?Sized> Strided for I {}

#[inline]
#[track_caller]
fn put_elements<T: PlainData>(
    endpoint: &Endpoint,
    to: On<'_, [T]>,
    source: &[T],
    (to_stride, source_stride): (usize, usize),
    block: usize,
    count: usize,
    family: Family,
) {
    let blocks = Blocks { block, count };
    blocks.check::<T>("place", to.len(), to_stride);
    blocks.check::<T>("source", source.len(), source_stride);
    let (block, level) = blocks.in_bytes::<T>(to_stride, source_stride);
    let to = Remote { pe: to.pe(), segment: to.segment(), offset: to.offset() };
    // SAFETY: `check` found every block inside the place, which every PE has, and inside the source, which is borrowed.
    unsafe { put_blocks(endpoint, to, source.as_ptr().cast(), block, level, align_of::<T>(), family) };
}

#[inline]
#[track_caller]
fn get_elements<T: PlainData>(
    endpoint: &Endpoint,
    into: &mut [T],
    from: On<'_, [T]>,
    (into_stride, from_stride): (usize, usize),
    block: usize,
    count: usize,
    family: Family,
) {
    let blocks = Blocks { block, count };
    blocks.check::<T>("destination", into.len(), into_stride);
    blocks.check::<T>("place", from.len(), from_stride);
    let (block, level) = blocks.in_bytes::<T>(into_stride, from_stride);
    let from = Remote { pe: from.pe(), segment: from.segment(), offset: from.offset() };
    // SAFETY: `check` found every block inside the place, which every PE has, and inside `into`, which is borrowed exclusively.
    unsafe { get_blocks(endpoint, into.as_mut_ptr().cast(), from, block, level, align_of::<T>(), family) };
}

#[derive(Clone, Copy)]
struct Blocks {
    block: usize,
    count: usize,
}

impl Blocks {
    /// Panics unless the blocks are disjoint and inside memory of `len` elements. Panic texts call this memory `name`.
    #[inline(always)]
    #[track_caller]
    fn check<T>(self, name: &'static str, len: usize, stride: usize) {
        let Self { block, count } = self;
        if count > 0 && (stride == 0 || stride < block || self.hull(stride) > len) {
            let unit = if size_of::<T>() == 1 { "bytes" } else { "elements" };
            // Separate arguments, because a struct would be written to memory before the branch.
            refuse(unit, block, count, name, len, stride);
        }
    }

    /// Returns the bytes of a block, and the count of blocks with both strides in bytes.
    ///
    /// A product that overflows is wrong, but not used: without blocks no size is used, and with one block no stride is. With more
    /// blocks, [`check`](Self::check) has found that every product is at most the bytes of the slice.
    #[inline(always)]
    fn in_bytes<T>(self, to: usize, from: usize) -> (usize, Level) {
        let bytes = |elements: usize| elements.wrapping_mul(size_of::<T>());
        (bytes(self.block), Level { count: self.count, to: bytes(to), from: bytes(from) })
    }

    /// Returns the number of elements that the blocks span, gaps included; saturates.
    #[inline(always)]
    fn hull(self, stride: usize) -> usize {
        match self.count {
            0 => 0,
            count => (count - 1).saturating_mul(stride).saturating_add(self.block),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse(unit: &str, block: usize, count: usize, name: &str, len: usize, stride: usize) -> ! {
    if stride == 0 {
        panic!("the stride of the {name} is 0; a stride must be at least 1");
    }
    if stride < block {
        panic!(
            "blocks of {block} {unit} overlap at a stride of {stride} in the {name}; the stride must be at least the block"
        );
    }
    let end = (count - 1).saturating_mul(stride).saturating_add(block);
    panic!("the {name} has {len} {unit}, but {count} blocks of {block} at a stride of {stride} end at {end}");
}
