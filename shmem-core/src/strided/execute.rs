//! Carrying out a plan in shared memory.

use bytemuck::Pod;

use super::choose_kernel::choose_row;
use super::choose_kernel::{Settings, follows_auto, settings};
use super::kernel::{self, Kernel};
use super::loop_nest::{Level, Pattern};
use super::plan::{Method, TransferPlan};
use super::published_algorithms::{Algorithm, Columns};
use crate::shared;

/// Upper limit on the blocks that are moved one by one, because choosing a kernel would take longer.
const FEW: usize = 8;

/// Carries out a constant plan between elements of type `E`. Compiles to a loop or a call.
///
/// # Safety
///
/// From `to` and `from` on, every block of the plan must be writable and readable, and no block of the
/// destination may overlap another block of either side. If `E` is a number, both must be made of `E`s, aligned.
#[inline(always)]
pub(crate) unsafe fn execute<E: Pod>(plan: &TransferPlan, to: *mut u8, from: *const u8) {
    let pattern = plan.pattern();
    match plan.method() {
        Method::Nothing => {}
        // SAFETY: one block on each side (caller).
        Method::Contiguous => unsafe { shared::copy(to, from, pattern.block()) },
        Method::Kernel(Kernel::Rows) if is_short(pattern) => {
            let level = pattern.inner()[1];
            for i in 0..level.count {
                let (to, from) = (to.wrapping_add(i * level.to), from.wrapping_add(i * level.from));
                if shared::is_number::<E>() && pattern.block() == size_of::<E>() {
                    // SAFETY: block `i` of the source, an `E` (caller).
                    let element = unsafe { shared::read(from.cast::<E>()) };
                    // SAFETY: block `i` of the destination, an `E` (caller).
                    unsafe { shared::store(to.cast(), element) };
                } else {
                    // SAFETY: block `i` of each side (caller).
                    unsafe { shared::copy(to, from, pattern.block()) };
                }
            }
        }
        // SAFETY: the caller's promise, for the same pattern.
        Method::Kernel(Kernel::Throttled(_)) => unsafe { execute_dyn(&plan.here(), to, from) },
        // SAFETY: the caller's promise.
        _ => unsafe { execute_dyn(plan, to, from) },
    }
}

/// Whether a pattern is so short that a call would take as long as the transfer.
#[inline(always)]
const fn is_short(pattern: &Pattern) -> bool {
    pattern.levels().len() == 1 && pattern.inner()[1].count <= FEW && pattern.block() <= 64
}

/// Carries out a plan that is made while the program runs.
///
/// # Safety
///
/// From `to` and `from` on, every block of the plan must be writable and readable, and no block of the
/// destination may overlap another block of either side.
#[inline(never)]
pub unsafe fn execute_dyn(plan: &TransferPlan, to: *mut u8, from: *const u8) {
    let pattern = plan.pattern();
    match plan.method() {
        Method::Nothing => {}
        // SAFETY: one block on each side (caller).
        Method::Contiguous => unsafe { shared::copy(to, from, pattern.block()) },
        Method::Putmem => pattern.each_block(|a, b| {
            // SAFETY: a block of each side (caller).
            unsafe { putmem(to.wrapping_add(a), from.wrapping_add(b), pattern.block()) };
        }),
        Method::Columns(Columns { iput128, iput64, iput32 }) => {
            let mut at = 0;
            for (width, count) in [(16, iput128), (8, iput64), (4, iput32)] {
                for _ in 0..count {
                    // SAFETY: `width` bytes inside every block (caller).
                    unsafe { iput(pattern, width, to.wrapping_add(at), from.wrapping_add(at)) };
                    at += width;
                }
            }
        }
        Method::Kernel(kernel) => {
            let inner = pattern.inner();
            each_inner(pattern, |a, b| {
                // SAFETY: the plan's blocks in a turn of the outer loops, from `a` and `b` (caller).
                unsafe {
                    kernel::run(kernel, pattern.block(), inner, to.wrapping_add(a), from.wrapping_add(b))
                };
            });
        }
    }
}

/// Moves blocks in one loop, by the settings of the process, without making a plan.
///
/// # Safety
///
/// As [`execute`], for `level.count` blocks of `block` bytes.
#[inline(always)]
pub(crate) unsafe fn execute_blocks(block: usize, level: Level, align: usize, to: *mut u8, from: *const u8) {
    if level.count <= FEW && follows_auto() {
        // SAFETY: the caller's promise.
        unsafe { few(block, level, to, from) };
    } else {
        let Level { count, to: to_stride, from: from_stride } = level;
        // SAFETY: the caller's promise.
        unsafe { execute_loop(to, from, block, count, to_stride, from_stride, align) };
    }
}

/// Moves more than a few blocks. All arguments fit registers.
///
/// # Safety
///
/// As [`execute_blocks`].
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
        // SAFETY: all blocks, which are adjacent (caller).
        unsafe { shared::copy(to, from, block * count) };
    } else if *algorithm == Algorithm::Auto {
        let kernel = choose_row(block, level, thresholds);
        // SAFETY: the caller's promise.
        unsafe { kernel::run_row(kernel, block, level, to, from) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { execute_dyn(&TransferPlan::blocks(block, level, align), to, from) };
    }
}

/// Moves a few blocks one by one.
///
/// # Safety
///
/// As [`execute_blocks`].
#[inline(always)]
unsafe fn few(block: usize, level: Level, to: *mut u8, from: *const u8) {
    match block {
        // SAFETY: blocks of this size (caller).
        8 => unsafe { column::<8>(Level::ONCE, level, to, from) },
        // SAFETY: blocks of this size (caller).
        4 => unsafe { column::<4>(Level::ONCE, level, to, from) },
        // SAFETY: blocks of this size (caller).
        16 => unsafe { column::<16>(Level::ONCE, level, to, from) },
        // SAFETY: blocks of this size (caller).
        32 => unsafe { column::<32>(Level::ONCE, level, to, from) },
        // SAFETY: blocks of this size (caller).
        64 => unsafe { column::<64>(Level::ONCE, level, to, from) },
        // SAFETY: the caller's promise.
        _ => unsafe { few_of_any_size(to, from, block, level.count, level.to, level.from) },
    }
}

/// Moves a few blocks of any size. The size is tested once.
///
/// # Safety
///
/// As [`execute_blocks`].
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
            // SAFETY: the caller's promise; blocks are longer than 16 bytes and have at most 64.
            unsafe { kernel::few(block, row, to, from) };
        }
        _ => {
            for _ in 0..count {
                // SAFETY: a block of each side (caller).
                unsafe { shared::copy(to, from, block) };
                to = to.wrapping_add(to_stride);
                from = from.wrapping_add(from_stride);
            }
        }
    }
}

/// Calls `each` for every turn of the loops outside the two innermost.
#[inline]
fn each_inner(pattern: &Pattern, mut each: impl FnMut(usize, usize)) {
    match pattern.levels() {
        [] | [_] | [_, _] => each(0, 0),
        [outer @ .., _, _] => super::loop_nest::walk(outer, 0, 0, &mut each),
    }
}

/// Copies one block by a call, as a library's `putmem` does.
///
/// # Safety
///
/// Both sides must be valid for `bytes` bytes and not overlap.
#[inline(never)]
unsafe fn putmem(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { shared::copy(to, from, bytes) };
}

/// Copies one column of `width` bytes by a call, as a library's `iput` does.
///
/// # Safety
///
/// At every block of the pattern `width` bytes must be readable and writable.
#[inline(never)]
unsafe fn iput(pattern: &Pattern, width: usize, to: *mut u8, from: *const u8) {
    let [outer, inner] = pattern.inner();
    each_inner(pattern, |a, b| {
        let (to, from) = (to.wrapping_add(a), from.wrapping_add(b));
        match width {
            // SAFETY: the caller's promise, for the blocks of the two innermost loops.
            16 => unsafe { column::<16>(outer, inner, to, from) },
            // SAFETY: the caller's promise, for the blocks of the two innermost loops.
            8 => unsafe { column::<8>(outer, inner, to, from) },
            // SAFETY: the caller's promise, for the blocks of the two innermost loops.
            _ => unsafe { column::<4>(outer, inner, to, from) },
        }
    });
}

/// Copies one column of the blocks in two loops.
///
/// # Safety
///
/// As [`iput`].
#[inline(always)]
unsafe fn column<const WIDTH: usize>(outer: Level, inner: Level, to: *mut u8, from: *const u8) {
    for i in 0..outer.count {
        let (to, from) = (to.wrapping_add(i * outer.to), from.wrapping_add(i * outer.from));
        for j in 0..inner.count {
            let (to, from) = (to.wrapping_add(j * inner.to), from.wrapping_add(j * inner.from));
            // SAFETY: `WIDTH` bytes of a block (caller).
            unsafe { shared::copy(to, from, WIDTH) };
        }
    }
}
