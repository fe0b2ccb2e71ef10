//! What strided transfers are compared with.

use std::hint::black_box;
use std::ops::Range;

use shmem_core::strided::Pattern;

use super::{Direction, Spread};
use crate::baseline::memcpy;

/// Bytes of a cache line.
const LINE: usize = 64;

/// One put or get of a library that does no more than it must: a call, a look whether the address
/// `symmetric` lies in the slot of the PE, and the C library's `memcpy`.
///
/// # Safety
///
/// `to` must be writable and `from` readable for `bytes` bytes.
#[inline(never)]
unsafe fn move_one(place: &Range<usize>, symmetric: usize, to: *mut u8, from: *const u8, bytes: usize) {
    if symmetric < place.start || symmetric + bytes > place.end {
        panic!("a block outside the place");
    }
    // SAFETY: the caller's promise.
    unsafe { memcpy(to, from, bytes) };
}

/// Algorithm 1 as users write it: a loop of puts, or of gets. `place` is the symmetric side.
///
/// # Safety
///
/// Every block of `spread` must be readable from `from` on, and writable from `to` on.
#[inline(never)]
pub(crate) unsafe fn loop_of_puts(
    spread: &Spread,
    place: &Range<usize>,
    to: *mut u8,
    from: *const u8,
    direction: Direction,
) {
    let (mut to, mut from) = (to, from);
    for _ in 0..spread.count {
        let symmetric = match direction {
            Direction::Put => to as usize,
            Direction::Get => from as usize,
        };
        // SAFETY: a block (caller).
        unsafe { move_one(black_box(place), symmetric, to, from, spread.block) };
        (to, from) = (to.wrapping_add(spread.to), from.wrapping_add(spread.from));
    }
}

/// Algorithm 1 for blocks in two loops, as users write it: a put for each.
///
/// # Safety
///
/// As [`loop_of_puts`], for every block of `pattern`.
#[inline(never)]
pub(crate) unsafe fn loops_of_puts(pattern: &Pattern, place: &Range<usize>, to: *mut u8, from: *const u8) {
    let [outer, inner] = pattern.inner();
    for row in 0..outer.count {
        let (to, from) = (to.wrapping_add(row * outer.to), from.wrapping_add(row * outer.from));
        let row = Spread { block: pattern.block(), count: inner.count, to: inner.to, from: inner.from };
        // SAFETY: a row of blocks (caller).
        unsafe { loop_of_puts(&row, place, to, from, Direction::Put) };
    }
}

/// The limit for blocks in two loops: [`lines`] of each row.
///
/// # Safety
///
/// As [`loops_of_puts`].
#[inline(never)]
pub(crate) unsafe fn lines_of_rows(pattern: &Pattern, to: *mut u8, from: *const u8) {
    let [outer, inner] = pattern.inner();
    let spread = Spread { block: pattern.block(), count: inner.count, to: inner.to, from: inner.from };
    for row in 0..outer.count {
        // SAFETY: a row of blocks (caller).
        unsafe { loads(&spread, from.wrapping_add(row * outer.from)) };
    }
    for row in 0..outer.count {
        // SAFETY: a row of blocks (caller).
        unsafe { stores(&spread, to.wrapping_add(row * outer.to)) };
    }
}

/// The limit: first one load from each line of the source, then one store to each of the destination.
/// Lines that several blocks share are visited once for each block.
///
/// # Safety
///
/// As [`loop_of_puts`].
#[inline(never)]
pub(crate) unsafe fn lines(spread: &Spread, to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe { loads(spread, from) };
    // SAFETY: the caller's promise.
    unsafe { stores(spread, to) };
}

/// # Safety
///
/// As [`lines`].
#[inline(never)]
unsafe fn loads(spread: &Spread, from: *const u8) {
    each_line(spread, spread.from, |at| {
        // SAFETY: a byte of a block (caller). Volatile: the compiler may not drop it.
        unsafe { from.wrapping_add(at).read_volatile() };
    });
}

/// # Safety
///
/// As [`lines`].
#[inline(never)]
unsafe fn stores(spread: &Spread, to: *mut u8) {
    each_line(spread, spread.to, |at| {
        // SAFETY: a byte of a block (caller).
        unsafe { to.wrapping_add(at).write_volatile(1) };
    });
}

/// Calls `each` for each line of each block, with nothing around it that would be felt.
#[inline(always)]
fn each_line(spread: &Spread, stride: usize, mut each: impl FnMut(usize)) {
    let mut block = 0;
    if spread.block <= LINE {
        for _ in 0..spread.count {
            each(block);
            block += stride;
        }
        return;
    }
    for _ in 0..spread.count {
        let mut at = 0;
        while at < spread.block {
            each(block + at);
            at += LINE;
        }
        block += stride;
    }
}
