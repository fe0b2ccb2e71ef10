//! Strided put and get: `shmem_iput`, `shmem_ibput` and similar routines, by the runtime's planner of strided transfers.

use std::ffi::c_int;

use shmem_core::context::untyped;
use shmem_core::observe::{Effect, Family};
use shmem_core::strided::Level;

use crate::context::Call;
use crate::errors::refuse;
use crate::rma::{bytes_of, remote};
use crate::table::routines;
use crate::types::Item;
use crate::world;

routines! {
    standard_rma {
        ctx "" "_iput" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) [shmem_iput 0]
            = items::<T>, Family::Iput;
        ctx "" "_iget" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) [shmem_iget 0]
            = items::<T>, Family::Iget;
        ctx "" "_ibput" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int)
            [shmem_ibput 0] = blocks::<T>, Family::Ibput;
        ctx "" "_ibget" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int)
            [shmem_ibget 0] = blocks::<T>, Family::Ibget;
    }
    sizes {
        ctx "iput" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) []
            = items::<T>, Family::Iput;
        ctx "iget" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize, pe: c_int) []
            = items::<T>, Family::Iget;
        ctx "ibput" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) []
            = blocks::<T>, Family::Ibput;
        ctx "ibget" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, bsize: usize, nblocks: usize, pe: c_int) []
            = blocks::<T>, Family::Ibget;
    }
}

unsafe fn items<T: Item>(
    call: Call,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: c_int,
    family: Family,
) {
    // SAFETY: the elements at `source` are readable for a put, or those at `dest` writable for a get (caller).
    unsafe { blocks(call, dest, source, dst, sst, 1, nelems, pe, family) };
}

/// Writes blocks to a PE, or reads blocks from it, as `family` says. If there are 0 bytes, only checks the arguments.
///
/// # Safety
///
/// The blocks at `source` must be readable for a put. The blocks at `dest` must be writable for a get.
pub(crate) unsafe fn blocks<T: Item>(
    call: Call,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: c_int,
    family: Family,
) {
    let routine = call.routine();
    world::current(routine);
    for (name, stride) in [("dst", dst), ("sst", sst)] {
        if stride < 1 || nblocks > 1 && (stride as usize) < bsize {
            let why = format_args!("is {stride}: a stride is at least 1, and at least the size of a block");
            refuse(routine, name, why);
        }
    }
    let block = bytes_of::<T>(call, bsize);
    let [to, from] = [dst, sst].map(|stride| bytes_of::<T>(call, stride as usize));
    if bsize == 0 || nblocks == 0 {
        call.pe(pe);
        return;
    }
    let level = Level { count: nblocks, to, from };
    // SAFETY: the caller keeps this function's contract.
    unsafe { move_bytes(call, dest.cast(), source.cast(), block, level, pe, family) };
}

/// # Safety
///
/// The blocks at `source` must be readable for a put, those at `dest` writable for a get. There must be at least one byte. No
/// stride may be below the size of a block, so that blocks are disjoint.
unsafe fn move_bytes(
    call: Call,
    dest: *mut u8,
    source: *const u8,
    block: usize,
    level: Level,
    pe: c_int,
    family: Family,
) {
    let Level { count, to, from } = level;
    let gets = family.effect() == Effect::Get;
    let (there, argument, stride) =
        if gets { (source, "source", from) } else { (dest.cast_const(), "dest", to) };
    let place = remote(call, there, hull(call.routine(), block, count, stride), argument, pe);
    let endpoint = call.endpoint();
    let align = alignment([dest.addr(), source.addr(), block, to, from]);
    match gets {
        // SAFETY: the blocks at `place` are in a segment (`remote`). The blocks at `dest` are writable and disjoint (caller).
        true => unsafe { untyped::get_blocks(endpoint, dest, place, block, level, align, family) },
        // SAFETY: the blocks at `place` are in a segment (`remote`) and disjoint. Those at `source`, in one object of C, are
        // readable (caller).
        false => unsafe { untyped::put_blocks(endpoint, place, source, block, level, align, family) },
    }
}

/// Returns the number of bytes from the start of the first block to the end of the last block.
fn hull(routine: &str, block: usize, count: usize, stride: usize) -> usize {
    let behind = (count - 1).checked_mul(stride).and_then(|last| last.checked_add(block));
    behind.unwrap_or_else(|| {
        refuse(routine, "nelems", format_args!("is {count}: at this stride they end behind all memory"))
    })
}

/// Returns the largest power of two, at most 16, that divides all `words`.
fn alignment(words: [usize; 5]) -> usize {
    let all = words.iter().fold(0, |all, word| all | word);
    1 << all.trailing_zeros().min(4)
}
