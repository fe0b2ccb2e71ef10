//! The routines whose strides are arguments, as operations of a scope.

use super::routines::{get_elements, get_mem, put_elements, put_mem};
use super::sized::{check_size, sized_routine, sized_routines};
use crate::context::nonblocking::Scope;
use crate::data::PlainData;
use crate::endpoint::{Initiator, Stores};
use crate::object::{On, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;

/// Strided puts, as those of [`Strided`](super::Strided), which may go on until the end of the scope. `strided!`
/// takes a scope, too.
impl<'env, I: Stores + ?Sized> Scope<'_, 'env, I> {
    /// Starts writing `count` elements.
    ///
    /// # Panics
    ///
    /// If a stride is 0, or the last element does not lie in the place or the source.
    #[inline]
    #[track_caller]
    pub fn iput<T: PlainData>(
        &self,
        to: On<'_, [T]>,
        source: &'env [T],
        to_stride: usize,
        source_stride: usize,
        count: usize,
    ) {
        let strides = (to_stride, source_stride);
        put_elements(self.endpoint(), to, source, strides, 1, count, Family::IputNbi);
    }

    /// Starts writing `count` blocks of `block` elements.
    ///
    /// # Panics
    ///
    /// If a stride is less than the block, or the last block does not lie in the place or the source.
    #[inline]
    #[track_caller]
    pub fn ibput<T: PlainData>(
        &self,
        to: On<'_, [T]>,
        source: &'env [T],
        to_stride: usize,
        source_stride: usize,
        block: usize,
        count: usize,
    ) {
        let strides = (to_stride, source_stride);
        put_elements(self.endpoint(), to, source, strides, block, count, Family::IbputNbi);
    }

    /// Starts writing `count` blocks of `block` bytes.
    ///
    /// # Panics
    ///
    /// If a stride is less than the block, the last block does not lie in the source, or the blocks do not
    /// lie in one partition.
    #[inline]
    #[track_caller]
    #[expect(clippy::too_many_arguments, reason = "those of the routine's specification, in its order")]
    pub fn iputmem(
        &self,
        to: SymAddr,
        source: &'env [u8],
        to_stride: usize,
        source_stride: usize,
        block: usize,
        count: usize,
        pe: Pe,
    ) {
        let strides = (to_stride, source_stride);
        put_mem(self.endpoint(), to, source, strides, block, count, pe, Family::IputmemNbi);
    }

    sized_routines! {
        [pub] put [&'env]
        8: iput8, ibput8;
        16: iput16, ibput16;
        32: iput32, ibput32;
        64: iput64, ibput64;
        128: iput128, ibput128;
    }
}

/// Strided gets, as those of [`Strided`](super::Strided), which may go on until the end of the scope. `strided!`
/// takes a scope, too.
impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    /// Starts reading `count` elements.
    ///
    /// # Panics
    ///
    /// If a stride is 0, or the last element does not lie in the place or the destination.
    #[inline]
    #[track_caller]
    pub fn iget<T: PlainData>(
        &self,
        into: &'env mut [T],
        from: On<'_, [T]>,
        into_stride: usize,
        from_stride: usize,
        count: usize,
    ) {
        let strides = (into_stride, from_stride);
        get_elements(self.endpoint(), into, from, strides, 1, count, Family::IgetNbi);
    }

    /// Starts reading `count` blocks of `block` elements.
    ///
    /// # Panics
    ///
    /// If a stride is less than the block, or the last block does not lie in the place or the destination.
    #[inline]
    #[track_caller]
    pub fn ibget<T: PlainData>(
        &self,
        into: &'env mut [T],
        from: On<'_, [T]>,
        into_stride: usize,
        from_stride: usize,
        block: usize,
        count: usize,
    ) {
        let strides = (into_stride, from_stride);
        get_elements(self.endpoint(), into, from, strides, block, count, Family::IbgetNbi);
    }

    /// Starts reading `count` blocks of `block` bytes.
    ///
    /// # Panics
    ///
    /// If a stride is less than the block, the last block does not lie in the destination, or the blocks do
    /// not lie in one partition.
    #[inline]
    #[track_caller]
    #[expect(clippy::too_many_arguments, reason = "those of the routine's specification, in its order")]
    pub fn igetmem(
        &self,
        into: &'env mut [u8],
        from: SymAddr,
        into_stride: usize,
        from_stride: usize,
        block: usize,
        count: usize,
        pe: Pe,
    ) {
        let strides = (into_stride, from_stride);
        get_mem(self.endpoint(), into, from, strides, block, count, pe, Family::IgetmemNbi);
    }

    sized_routines! {
        [pub] get [&'env]
        8: iget8, ibget8;
        16: iget16, ibget16;
        32: iget32, ibget32;
        64: iget64, ibget64;
        128: iget128, ibget128;
    }
}
