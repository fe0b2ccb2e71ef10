//! Rows of blocks: each block by the pieces of its class, both levels in one loop.
//!
//! The block's length chooses the loop once for the whole transfer. Up to 16 bytes the loops are the
//! same on every machine; above, the widest vectors that a block fills are used.

use super::block::{Block, Ends, Long, One, Quad, Three, Two};
#[cfg(any(not(target_arch = "x86_64"), miri))]
use super::vector::Portable16 as Sixteen;
use super::{Isa, Level};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use core::arch::x86_64::{__m128i as Sixteen, __m256i, __m512i};

/// What is done with the copy of a block: the loop over all of them, once the block's class is known.
pub(super) trait Sweep {
    /// Copies all blocks.
    ///
    /// # Safety
    ///
    /// As [`run`](super::run); the machine must have the instructions of `block`.
    unsafe fn sweep<B: Block>(self, block: B, levels: [Level; 2], to: *mut u8, from: *const u8);
}

/// Copies one row of blocks. Everything it is told fits registers.
///
/// # Safety
///
/// As [`run`](super::run).
#[inline(never)]
pub(super) unsafe fn run_row(
    block: usize,
    count: usize,
    to_stride: usize,
    from_stride: usize,
    to: *mut u8,
    from: *const u8,
) {
    if block == 0 {
        return;
    }
    let levels = [Level::ONCE, Level { count, to: to_stride, from: from_stride }];
    // SAFETY: the caller's promises; the machine has its best instructions.
    unsafe { sweep(Plain, Isa::best(), block, levels, to, from) };
}

/// Each block as soon as the one before is under way.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Sweep for Plain {
    #[inline(always)]
    unsafe fn sweep<B: Block>(self, block: B, [outer, inner]: [Level; 2], to: *mut u8, from: *const u8) {
        let (mut to, mut from) = (to, from);
        for _ in 0..outer.count {
            // SAFETY: one row of the transfer (caller).
            unsafe { row(block, inner, to, from) };
            to = to.wrapping_add(outer.to);
            from = from.wrapping_add(outer.from);
        }
    }
}

/// # Safety
///
/// As [`Sweep::sweep`], for the inner level alone.
#[inline(always)]
unsafe fn row<B: Block>(block: B, level: Level, mut to: *mut u8, mut from: *const u8) {
    let mut left = level.count;
    if B::SHORT {
        while left >= 4 {
            for k in 0..4 {
                // SAFETY: at least four blocks are left (caller).
                unsafe { block.copy(to.wrapping_add(k * level.to), from.wrapping_add(k * level.from)) };
            }
            to = to.wrapping_add(4 * level.to);
            from = from.wrapping_add(4 * level.from);
            left -= 4;
        }
    }
    while left > 0 {
        // SAFETY: a block is left (caller).
        unsafe { block.copy(to, from) };
        to = to.wrapping_add(level.to);
        from = from.wrapping_add(level.from);
        left -= 1;
    }
}

/// Copies all blocks by the pieces of their class.
///
/// # Safety
///
/// As [`run`](super::run), with at least one byte in a block; the machine must have `isa`.
#[inline(always)]
pub(super) unsafe fn sweep<S: Sweep>(
    sweep: S,
    isa: Isa,
    block: usize,
    levels: [Level; 2],
    to: *mut u8,
    from: *const u8,
) {
    match (block, isa) {
        // SAFETY: here and below, the caller's promises; the pieces fill the block.
        (8, _) => unsafe { sweep.sweep(One::<u64>::NEW, levels, to, from) },
        // SAFETY: as above.
        (4, _) => unsafe { sweep.sweep(One::<u32>::NEW, levels, to, from) },
        // SAFETY: as above.
        (16, _) => unsafe { sweep.sweep(One::<Sixteen>::NEW, levels, to, from) },
        // SAFETY: as above.
        (1, _) => unsafe { sweep.sweep(One::<u8>::NEW, levels, to, from) },
        // SAFETY: as above.
        (2, _) => unsafe { sweep.sweep(One::<u16>::NEW, levels, to, from) },
        // SAFETY: as above.
        (3, _) => unsafe { sweep.sweep(Two::<u16, u8>::NEW, levels, to, from) },
        // SAFETY: as above.
        (12, _) => unsafe { sweep.sweep(Two::<u64, u32>::NEW, levels, to, from) },
        // SAFETY: as above.
        (24, _) => unsafe { sweep.sweep(Two::<Sixteen, u64>::NEW, levels, to, from) },
        // SAFETY: as above.
        (5..8, _) => unsafe { sweep.sweep(Ends::<u32>::of(block), levels, to, from) },
        // SAFETY: as above.
        (9..16, _) => unsafe { sweep.sweep(Ends::<u64>::of(block), levels, to, from) },
        // SAFETY: as above.
        (17..32, _) => unsafe { sweep.sweep(Ends::<Sixteen>::of(block), levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: as above, and the machine has AVX-512.
        (_, Isa::Avx512) => unsafe { avx512(sweep, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: as above, and the machine has AVX2.
        (_, Isa::Avx2 | Isa::Masked) => unsafe { avx2(sweep, block, levels, to, from) },
        // SAFETY: as above.
        (32, _) => unsafe { sweep.sweep(Ends::<Sixteen>::of(block), levels, to, from) },
        // SAFETY: as above.
        (33..=48, _) => unsafe { sweep.sweep(Three::<Sixteen>::of(block), levels, to, from) },
        // SAFETY: as above.
        (49..64, _) => unsafe { sweep.sweep(Quad::<Sixteen>::of(block), levels, to, from) },
        // SAFETY: as above.
        _ => unsafe { sweep.sweep(Long::<Sixteen>::of(block), levels, to, from) },
    }
}

/// # Safety
///
/// As [`sweep`], with blocks of 32 bytes or more.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
unsafe fn avx2<S: Sweep>(sweep: S, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    match block {
        // SAFETY: here and below, the caller's promises; the pieces fill the block.
        32 => unsafe { sweep.sweep(One::<__m256i>::NEW, levels, to, from) },
        // SAFETY: as above.
        48 => unsafe { sweep.sweep(Two::<__m256i, Sixteen>::NEW, levels, to, from) },
        // SAFETY: as above.
        64 => unsafe { sweep.sweep(Two::<__m256i, __m256i>::NEW, levels, to, from) },
        // SAFETY: as above.
        33..64 => unsafe { sweep.sweep(Ends::<__m256i>::of(block), levels, to, from) },
        // SAFETY: as above.
        65..=96 => unsafe { sweep.sweep(Three::<__m256i>::of(block), levels, to, from) },
        // SAFETY: as above.
        97..=128 => unsafe { sweep.sweep(Quad::<__m256i>::of(block), levels, to, from) },
        // SAFETY: as above.
        _ => unsafe { sweep.sweep(Long::<__m256i>::of(block), levels, to, from) },
    }
}

/// # Safety
///
/// As [`sweep`], with blocks of 32 bytes or more.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn avx512<S: Sweep>(sweep: S, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    match block {
        // SAFETY: here and below, the caller's promises; the pieces fill the block.
        32 => unsafe { sweep.sweep(One::<__m256i>::NEW, levels, to, from) },
        // SAFETY: as above.
        48 => unsafe { sweep.sweep(Two::<__m256i, Sixteen>::NEW, levels, to, from) },
        // SAFETY: as above.
        64 => unsafe { sweep.sweep(One::<__m512i>::NEW, levels, to, from) },
        // SAFETY: as above.
        33..64 => unsafe { sweep.sweep(Ends::<__m256i>::of(block), levels, to, from) },
        // SAFETY: as above.
        65..=128 => unsafe { sweep.sweep(Ends::<__m512i>::of(block), levels, to, from) },
        // SAFETY: as above.
        129..=192 => unsafe { sweep.sweep(Three::<__m512i>::of(block), levels, to, from) },
        // SAFETY: as above.
        193..=256 => unsafe { sweep.sweep(Quad::<__m512i>::of(block), levels, to, from) },
        // SAFETY: as above.
        _ => unsafe { sweep.sweep(Long::<__m512i>::of(block), levels, to, from) },
    }
}
