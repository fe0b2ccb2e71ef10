//! Execution of a plan in shared memory.

use bytemuck::Pod;

use super::choose_kernel::choose_row;
use super::choose_kernel::{Settings, follows_auto, settings};
use super::kernel::{self, Kernel};
use super::loop_nest::{Level, Pattern};
use super::plan::{Method, TransferPlan};
use super::published_algorithms::{Algorithm, Columns};
use crate::shared;

/// Upper limit on the blocks that are moved without choosing a kernel, because the choice would take longer than the transfer.
const FEW: usize = 8;

/// Executes a plan made at compile time, between elements of type `E`. Compiles to a loop or a call.
///
/// # Safety
///
/// Every block of the plan must be writable from `to` on and, with the gaps between blocks, readable from `from` on. No block of
/// the destination may overlap another block of source or destination. If `E` is a number, both must consist of aligned `E`s.
#[inline(always)]
pub(crate) unsafe fn execute<E: Pod>(plan: &TransferPlan, to: *mut u8, from: *const u8) {
    let pattern = plan.pattern();
    match plan.method() {
        Method::Nothing => {}
        // SAFETY: the plan has one block, valid on each side (caller).
        Method::Contiguous => unsafe { shared::copy(to, from, pattern.block()) },
        Method::Kernel(Kernel::Rows) if is_short(pattern) => {
            let level = pattern.inner()[1];
            for i in 0..level.count {
                let (to, from) = (to.wrapping_add(i * level.to), from.wrapping_add(i * level.from));
                if shared::is_number::<E>() && pattern.block() == size_of::<E>() {
                    // SAFETY: block `i` of the source is readable, and an aligned `E` (caller).
                    let element = unsafe { shared::read(from.cast::<E>()) };
                    // SAFETY: block `i` of the destination is writable, and an aligned `E` (caller).
                    unsafe { shared::store(to.cast(), element) };
                } else {
                    // SAFETY: block `i` of each side is valid (caller).
                    unsafe { shared::copy(to, from, pattern.block()) };
                }
            }
        }
        // SAFETY: all blocks are valid (caller), and `here` returns a plan for the same blocks.
        Method::Kernel(Kernel::Throttled(_)) => unsafe { execute_dyn(&plan.here(), to, from) },
        // SAFETY: `execute_dyn` requires no more than this function does.
        _ => unsafe { execute_dyn(plan, to, from) },
    }
}

/// Whether a pattern is so short that a call would take as long as the transfer.
#[inline(always)]
const fn is_short(pattern: &Pattern) -> bool {
    pattern.levels().len() == 1 && pattern.inner()[1].count <= FEW && pattern.block() <= 64
}

/// Executes any plan, also one that is made at run time.
///
/// # Safety
///
/// Every block of the plan must be writable from `to` on and, with the gaps between blocks, readable from `from` on. No block of
/// the destination may overlap another block of source or destination.
#[inline(never)]
pub unsafe fn execute_dyn(plan: &TransferPlan, to: *mut u8, from: *const u8) {
    let pattern = plan.pattern();
    match plan.method() {
        Method::Nothing => {}
        // SAFETY: the plan has one block, valid on each side (caller).
        Method::Contiguous => unsafe { shared::copy(to, from, pattern.block()) },
        Method::Putmem => pattern.each_block(|a, b| {
            // SAFETY: the block at these offsets is valid on each side (caller).
            unsafe { putmem(to.wrapping_add(a), from.wrapping_add(b), pattern.block()) };
        }),
        Method::Columns(Columns { iput128, iput64, iput32 }) => {
            let mut at = 0;
            for (width, count) in [(16, iput128), (8, iput64), (4, iput32)] {
                for _ in 0..count {
                    // SAFETY: `width` bytes at `at` are inside every block, which is valid (caller).
                    unsafe { iput(pattern, width, to.wrapping_add(at), from.wrapping_add(at)) };
                    at += width;
                }
            }
        }
        Method::Kernel(kernel) => {
            let inner = pattern.inner();
            each_inner(pattern, |a, b| {
                // SAFETY: the blocks in this turn of the outer loops, from `a` and `b` on, are valid (caller).
                unsafe {
                    kernel::run(kernel, pattern.block(), inner, to.wrapping_add(a), from.wrapping_add(b))
                };
            });
        }
    }
}

/// Moves the blocks of one loop, by the settings of the process. With [`Algorithm::Auto`], no plan is made.
///
/// # Safety
///
/// Each of the `level.count` blocks must be writable from `to` on and, with the gaps between blocks, readable from `from` on. No
/// block of the destination may overlap another block of source or destination.
#[inline(always)]
pub(crate) unsafe fn execute_blocks(block: usize, level: Level, align: usize, to: *mut u8, from: *const u8) {
    if level.count <= FEW && follows_auto() {
        // SAFETY: `few` requires no more than this function does.
        unsafe { few(block, level, to, from) };
    } else {
        let Level { count, to: to_stride, from: from_stride } = level;
        // SAFETY: `execute_loop` requires no more than this function does.
        unsafe { execute_loop(to, from, block, count, to_stride, from_stride, align) };
    }
}

/// Moves any number of blocks. All arguments fit in registers, for a fast call.
///
/// # Safety
///
/// Each of the `count` blocks must be writable from `to` on and, with the gaps between blocks, readable from `from` on. No block of
/// the destination may overlap another block of source or destination.
#[inline(never)]
unsafe fn execute_loop(
    to: *mut u8,
    from: *const u8,
    block: usize,
    count: usize,
    to_stride: usize,
    from_stride: usize,
    align: usize,
) {
    let level = Level { count, to: to_stride, from: from_stride };
    let Settings { algorithm, thresholds } = settings();
    if block == 0 || count == 0 {
    } else if count == 1 || (to_stride == block && from_stride == block) {
        // SAFETY: all blocks are valid (caller), and adjacent.
        unsafe { shared::copy(to, from, block * count) };
    } else if *algorithm == Algorithm::Auto {
        let kernel = choose_row(block, level, thresholds);
        // SAFETY: all blocks are valid (caller).
        unsafe { kernel::run_row(kernel, block, level, to, from) };
    } else {
        // SAFETY: all blocks are valid (caller), and those of this plan.
        unsafe { execute_dyn(&TransferPlan::blocks(block, level, align), to, from) };
    }
}

/// Moves a few blocks one by one.
///
/// # Safety
///
/// Each of the `level.count` blocks must be writable from `to` on and, with the gaps between blocks, readable from `from` on. No
/// block of the destination may overlap another block of source or destination.
#[inline(always)]
unsafe fn few(block: usize, level: Level, to: *mut u8, from: *const u8) {
    match block {
        // SAFETY: all blocks have this size, and are valid (caller).
        8 => unsafe { column::<8>(Level::ONCE, level, to, from) },
        // SAFETY: all blocks have this size, and are valid (caller).
        4 => unsafe { column::<4>(Level::ONCE, level, to, from) },
        // SAFETY: all blocks have this size, and are valid (caller).
        16 => unsafe { column::<16>(Level::ONCE, level, to, from) },
        // SAFETY: all blocks have this size, and are valid (caller).
        32 => unsafe { column::<32>(Level::ONCE, level, to, from) },
        // SAFETY: all blocks have this size, and are valid (caller).
        64 => unsafe { column::<64>(Level::ONCE, level, to, from) },
        // SAFETY: all blocks are valid (caller).
        _ => unsafe { few_of_any_size(to, from, block, level.count, level.to, level.from) },
    }
}

/// Moves a few blocks of any size. Tests the size once, before the loop.
///
/// # Safety
///
/// Each of the `count` blocks must be writable from `to` on and, with the gaps between blocks, readable from `from` on. No block of
/// the destination may overlap another block of source or destination.
#[inline(never)]
unsafe fn few_of_any_size(
    mut to: *mut u8,
    mut from: *const u8,
    block: usize,
    count: usize,
    to_stride: usize,
    from_stride: usize,
) {
    match block {
        17..=64 => {
            let row = Level { count, to: to_stride, from: from_stride };
            // SAFETY: all blocks are valid (caller), and have 17 to 64 bytes.
            unsafe { kernel::few(block, row, to, from) };
        }
        _ => {
            for _ in 0..count {
                // SAFETY: the next block is valid on each side (caller).
                unsafe { shared::copy(to, from, block) };
                to = to.wrapping_add(to_stride);
                from = from.wrapping_add(from_stride);
            }
        }
    }
}

/// Calls `each` for every turn of the loops around the two innermost loops, with the offsets of both sides.
#[inline]
fn each_inner(pattern: &Pattern, mut each: impl FnMut(usize, usize)) {
    match pattern.levels() {
        [] | [_] | [_, _] => each(0, 0),
        [outer @ .., _, _] => super::loop_nest::walk(outer, 0, 0, &mut each),
    }
}

/// Copies one block by a call, in place of the `putmem` of the published algorithms.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, and the two must not overlap.
#[inline(never)]
unsafe fn putmem(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: both sides are valid for `bytes` bytes (caller).
    unsafe { shared::copy(to, from, bytes) };
}

/// Copies one column of `width` bytes by a call, in place of the `iput` of the published algorithms.
///
/// # Safety
///
/// At the offset of every block of the pattern, `width` bytes must be readable from `from` and writable from `to`.
#[inline(never)]
unsafe fn iput(pattern: &Pattern, width: usize, to: *mut u8, from: *const u8) {
    let [outer, inner] = pattern.inner();
    each_inner(pattern, |a, b| {
        let (to, from) = (to.wrapping_add(a), from.wrapping_add(b));
        match width {
            // SAFETY: the column is valid in all blocks (caller), among them those of the two innermost loops.
            16 => unsafe { column::<16>(outer, inner, to, from) },
            // SAFETY: the column is valid in all blocks (caller), among them those of the two innermost loops.
            8 => unsafe { column::<8>(outer, inner, to, from) },
            // SAFETY: the column is valid in all blocks (caller), among them those of the two innermost loops.
            _ => unsafe { column::<4>(outer, inner, to, from) },
        }
    });
}

/// Copies a column, `WIDTH` bytes of each block, in two loops over the blocks.
///
/// # Safety
///
/// In every turn of both loops, `WIDTH` bytes must be readable from `from` and writable from `to`.
#[inline(always)]
unsafe fn column<const WIDTH: usize>(outer: Level, inner: Level, to: *mut u8, from: *const u8) {
    for i in 0..outer.count {
        let (to, from) = (to.wrapping_add(i * outer.to), from.wrapping_add(i * outer.from));
        for j in 0..inner.count {
            let (to, from) = (to.wrapping_add(j * inner.to), from.wrapping_add(j * inner.from));
            // SAFETY: `WIDTH` bytes of the block are valid on each side (caller).
            unsafe { shared::copy(to, from, WIDTH) };
        }
    }
}
