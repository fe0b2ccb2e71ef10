//! Strided put and get: `shmem_iput` and its relatives, by the runtime's planner.
//!
//! The runtime moves blocks that lie apart at their destination. Strides that the specification leaves open, such as that of
//! a source read again and again, are moved one by one.

use std::ffi::c_int;

use shmem_core::context::untyped;
use shmem_core::observe::Family;
use shmem_core::strided::Level;

use crate::refusal::refuse;
use crate::rma::{bytes_of, remote};
use crate::table::routines;
use crate::types::{Ctx, Item};
use crate::world::{self, stream};

routines! {
    standard_rma {
        ctx "" "_iput" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) [shmem_iput 0]
            = iput::<T>;
        ctx "" "_iget" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) [shmem_iget 0]
            = iget::<T>;
        ctx "" "_ibput" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int)
            [shmem_ibput 0] = ibput::<T>;
        ctx "" "_ibget" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int)
            [shmem_ibget 0] = ibget::<T>;
    }
    sizes {
        ctx "iput" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) [] = iput::<T>;
        ctx "iget" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) [] = iget::<T>;
        ctx "ibput" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) []
            = ibput::<T>;
        ctx "ibget" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) []
            = ibget::<T>;
    }
}

/// Blocks as C gives them, in elements.
#[derive(Clone, Copy)]
struct Blocks {
    dst: isize,
    sst: isize,
    block: usize,
    count: usize,
}

unsafe fn iput<T: Item>(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe {
        put(ctx, routine, dest, source, Blocks { dst, sst, block: 1, count: nelems }, pe, Family::Iput)
    };
}

unsafe fn iget<T: Item>(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe {
        get(ctx, routine, dest, source, Blocks { dst, sst, block: 1, count: nelems }, pe, Family::Iget)
    };
}

unsafe fn ibput<T: Item>(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: c_int,
) {
    let blocks = Blocks { dst, sst, block: bsize, count: nblocks };
    // SAFETY: the caller's promise.
    unsafe { put(ctx, routine, dest, source, blocks, pe, Family::Ibput) };
}

unsafe fn ibget<T: Item>(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: c_int,
) {
    let blocks = Blocks { dst, sst, block: bsize, count: nblocks };
    // SAFETY: the caller's promise.
    unsafe { get(ctx, routine, dest, source, blocks, pe, Family::Ibget) };
}

impl Blocks {
    /// Bytes of a block, and from one to the next; `None` of nothing. Refused where a stride is none.
    fn level<T>(self, routine: &str) -> Option<(usize, Level)> {
        world::current(routine);
        let Self { dst, sst, block, count } = self;
        for (name, stride) in [("dst", dst), ("sst", sst)] {
            if stride < 1 {
                refuse(routine, name, format_args!("is {stride}: a stride is at least 1"));
            }
        }
        let bytes = bytes_of::<T>(routine, block);
        let [to, from] = [dst, sst].map(|stride| bytes_of::<T>(routine, stride as usize));
        (block > 0 && count > 0).then_some((bytes, Level { count, to, from }))
    }
}

/// From the first byte to behind the last one.
fn hull(routine: &str, block: usize, count: usize, stride: usize) -> usize {
    let behind = (count - 1).checked_mul(stride).and_then(|last| last.checked_add(block));
    behind.unwrap_or_else(|| {
        refuse(routine, "nelems", format_args!("is {count}: at this stride they end behind all memory"))
    })
}

/// What all of these are multiples of.
fn alignment(words: [usize; 5]) -> usize {
    let all = words.iter().fold(0, |all, word| all | word);
    1 << all.trailing_zeros().min(4)
}

unsafe fn put<T: Item>(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut T,
    source: *const T,
    blocks: Blocks,
    pe: c_int,
    family: Family,
) {
    let Some((block, level)) = blocks.level::<T>(routine) else {
        stream(ctx, routine).pe(routine, pe);
        return;
    };
    // SAFETY: the caller's promise.
    unsafe { put_bytes(ctx, routine, dest.cast(), source.cast(), block, level, pe, family) };
}

/// Writes blocks.
///
/// # Safety
///
/// They must be readable.
pub(crate) unsafe fn put_bytes(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut u8,
    source: *const u8,
    block: usize,
    level: Level,
    pe: c_int,
    family: Family,
) {
    let Level { count, to, from } = level;
    let place = remote(ctx, routine, dest, hull(routine, block, count, to), "dest", pe);
    let endpoint = stream(ctx, routine).endpoint(routine);
    if count > 1 && (to < block || from < block) {
        for at in 0..count {
            let place = shmem_core::transport::Remote { offset: place.offset + at * to, ..place };
            // SAFETY: the block lies in the segment (`remote`), and can be read (caller).
            unsafe {
                untyped::put(endpoint, place, source.wrapping_add(at * from), block, Family::Put, location());
            }
        }
        return;
    }
    let align = alignment([dest.addr(), source.addr(), block, to, from]);
    // SAFETY: the blocks lie in the segment (`remote`), apart, and can be read (caller).
    unsafe { untyped::put_blocks(endpoint, place, source, block, level, align, family) };
}

unsafe fn get<T: Item>(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut T,
    source: *const T,
    blocks: Blocks,
    pe: c_int,
    family: Family,
) {
    let Some((block, level)) = blocks.level::<T>(routine) else {
        stream(ctx, routine).pe(routine, pe);
        return;
    };
    // SAFETY: the caller's promise.
    unsafe { get_bytes(ctx, routine, dest.cast(), source.cast(), block, level, pe, family) };
}

/// Reads blocks.
///
/// # Safety
///
/// As many must be writable.
pub(crate) unsafe fn get_bytes(
    ctx: Ctx,
    routine: &'static str,
    dest: *mut u8,
    source: *const u8,
    block: usize,
    level: Level,
    pe: c_int,
    family: Family,
) {
    let Level { count, to, from } = level;
    let place = remote(ctx, routine, source, hull(routine, block, count, from), "source", pe);
    let endpoint = stream(ctx, routine).endpoint(routine);
    if count > 1 && (to < block || from < block) {
        for at in 0..count {
            let place = shmem_core::transport::Remote { offset: place.offset + at * from, ..place };
            // SAFETY: the block lies in the segment (`remote`), and as much can be written (caller).
            unsafe {
                untyped::get(endpoint, dest.wrapping_add(at * to), place, block, Family::Get, location());
            }
        }
        return;
    }
    let align = alignment([dest.addr(), source.addr(), block, to, from]);
    // SAFETY: the blocks lie in the segment (`remote`), and as many can be written, apart (caller).
    unsafe { untyped::get_blocks(endpoint, dest, place, block, level, align, family) };
}

fn location() -> &'static std::panic::Location<'static> {
    std::panic::Location::caller()
}
