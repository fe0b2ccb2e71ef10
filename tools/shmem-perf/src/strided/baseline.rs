//! What strided transfers are compared with.

use std::hint::black_box;
use std::ops::Range;

use shmem_core::strided::{Level, Pattern};

use super::Direction;
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

/// Algorithm 1 as users write it: a loop of puts, or of gets, inside another one where the pattern has two. `place` is the
/// symmetric side.
///
/// # Safety
///
/// Every block of `pattern` must be readable from `from` on, and writable from `to` on.
#[inline(never)]
pub(crate) unsafe fn loop_of_puts(
    pattern: &Pattern,
    place: &Range<usize>,
    to: *mut u8,
    from: *const u8,
    direction: Direction,
) {
    let (block, [outer, inner]) = (pattern.block(), pattern.inner());
    for row in 0..outer.count {
        let (mut to, mut from) = (to.wrapping_add(row * outer.to), from.wrapping_add(row * outer.from));
        for _ in 0..inner.count {
            let symmetric = match direction {
                Direction::Put => to as usize,
                Direction::Get => from as usize,
            };
            // SAFETY: a block (caller).
            unsafe { move_one(black_box(place), symmetric, to, from, block) };
            (to, from) = (to.wrapping_add(inner.to), from.wrapping_add(inner.from));
        }
    }
}

/// The limit: first one load from each line of the source, then one store to each of the destination.
/// Lines that several blocks share are visited once for each block.
///
/// # Safety
///
/// As [`loop_of_puts`].
#[inline(never)]
pub(crate) unsafe fn lines(pattern: &Pattern, to: *mut u8, from: *const u8) {
    each_line(
        pattern,
        |level| level.from,
        |at| {
            // SAFETY: a byte of a block (caller). Volatile: the compiler may not drop it.
            unsafe { from.wrapping_add(at).read_volatile() };
        },
    );
    each_line(
        pattern,
        |level| level.to,
        |at| {
            // SAFETY: a byte of a block (caller).
            unsafe { to.wrapping_add(at).write_volatile(1) };
        },
    );
}

/// Calls `each` for each line of each block, where a side's levels are so far apart, with nothing around it that would be felt.
#[inline(never)]
fn each_line(pattern: &Pattern, apart: impl Fn(Level) -> usize, mut each: impl FnMut(usize)) {
    let (block, [outer, inner]) = (pattern.block(), pattern.inner());
    let (rows, distance) = (apart(outer), apart(inner));
    for mut first in (0..outer.count).map(|row| row * rows) {
        if block <= LINE {
            for _ in 0..inner.count {
                each(first);
                first += distance;
            }
            continue;
        }
        for _ in 0..inner.count {
            let mut at = 0;
            while at < block {
                each(first + at);
                at += LINE;
            }
            first += distance;
        }
    }
}
