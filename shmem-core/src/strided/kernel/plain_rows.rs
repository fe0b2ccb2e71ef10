//! Rows of blocks, each copied by the pieces of its class of lengths.
//!
//! The length of a block chooses the loop, once for a transfer. Blocks of less than 32 bytes have the same loops on every machine.
//! Longer blocks are copied by up to four of the widest vectors that they fill, or by eight of 64 bytes, and still longer ones by the
//! C library: a loop of pieces was never a fifth faster for these, and up to half slower on some processors.
//!
//! There is no branch between the reads and writes of a block, because a prefetcher follows each instruction from block to block, which
//! a loop inside a block would disturb.

#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
use core::arch::x86_64::{__m256i, __m512i};

use super::vector::{Sixteen, Vector};
use super::{Isa, Level};
use crate::shared::{self, Ends, One, Quad, Registers};

/// A loop over all blocks of a transfer.
pub(super) trait Sweep {
    /// Copies all blocks by `block`.
    ///
    /// # Safety
    ///
    /// As [`run`](super::run); the machine must have the instructions of `block`.
    unsafe fn sweep<B: Block>(self, block: B, levels: [Level; 2], to: *mut u8, from: *const u8);
}

/// Copies one row of blocks. Its arguments fit registers.
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

/// Copies one row of a few blocks, by instructions that every machine has.
///
/// # Safety
///
/// As [`run`](super::run), for blocks of 17 to 64 bytes.
#[inline(always)]
pub(in crate::strided) unsafe fn few(block: usize, row: Level, to: *mut u8, from: *const u8) {
    if block <= 32 {
        // SAFETY: the caller's promises; two pieces of 16 bytes fill a block of 17 to 32.
        unsafe { one_by_one(Ends::<Sixteen>::of(block), row, to, from) };
    } else {
        // SAFETY: the caller's promises; four pieces of 16 bytes fill a block of 33 to 64.
        unsafe { one_by_one(Quad::<Sixteen>::of(block), row, to, from) };
    }
}

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

/// Copies one row, four blocks at a time if these are short.
///
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
    // SAFETY: the blocks that are left (caller).
    unsafe { one_by_one(block, Level { count: left, ..level }, to, from) };
}

/// Copies one row, block by block.
///
/// # Safety
///
/// As [`Sweep::sweep`], for the inner level alone.
#[inline(always)]
unsafe fn one_by_one<B: Block>(block: B, level: Level, mut to: *mut u8, mut from: *const u8) {
    for _ in 0..level.count {
        // SAFETY: a block is left (caller).
        unsafe { block.copy(to, from) };
        to = to.wrapping_add(level.to);
        from = from.wrapping_add(level.from);
    }
}

/// A copy of one block of a length that the value knows.
pub(super) trait Block: Copy {
    /// Whether a loop over blocks copies four at a time.
    const SHORT: bool = true;

    /// Copies a block.
    ///
    /// # Safety
    ///
    /// The block must be readable at `from` and writable at `to`, the two must not overlap, and the machine must have the
    /// instructions of the pieces.
    unsafe fn copy(self, to: *mut u8, from: *const u8);
}

/// Two to three pieces.
type Three<V> = Registers<V, 2, 1>;

/// Four to eight pieces.
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
type Eight<V> = Registers<V, 4, 4>;

impl<V: Vector, const FRONT: usize, const BACK: usize> Block for Registers<V, FRONT, BACK> {
    const SHORT: bool = FRONT + BACK <= 4;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe { Self::copy(self, to, from) };
    }
}

/// A block of this length, copied by the C library. The call takes little time relative to a long block.
#[derive(Clone, Copy)]
struct Library(usize);

impl Block for Library {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: both sides are valid for the block (caller).
        unsafe { shared::copy(to, from, self.0) };
    }
}

/// Copies all blocks by the pieces of the first class in the list that has their length.
macro_rules! by_class {
    (
        $sweep:ident, $block:ident, $levels:ident, $to:ident, $from:ident:
        $($class:pat => $pieces:expr,)*
    ) => {
        match $block {
            $(
                // SAFETY: the caller's promises, one of which is that the machine has what this function uses; the
                // pieces fill a block of this class (`Block` asserts that where lengths may differ).
                $class => unsafe { $sweep.sweep($pieces, $levels, $to, $from) },
            )*
        }
    };
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
    if block < 32 {
        return by_class! { sweep, block, levels, to, from:
            8 => One::<u64>::of(block),
            4 => One::<u32>::of(block),
            16 => One::<Sixteen>::of(block),
            1 => One::<u8>::of(block),
            2 => One::<u16>::of(block),
            3 => Ends::<u16>::of(block),
            5..8 => Ends::<u32>::of(block),
            9..16 => Ends::<u64>::of(block),
            _ => Ends::<Sixteen>::of(block),
        };
    }
    match isa {
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: the caller's promises, one of which is that the machine has AVX-512; blocks have 32 bytes or more.
        Isa::Avx512 => unsafe { avx512(sweep, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: the caller's promises, one of which is that the machine has AVX2; blocks have 32 bytes or more.
        Isa::Avx2 | Isa::Masked => unsafe { avx2(sweep, block, levels, to, from) },
        // SAFETY: the caller's promises; blocks have 32 bytes or more.
        _ => unsafe { everywhere(sweep, block, levels, to, from) },
    }
}

/// # Safety
///
/// As [`sweep`], with blocks of 32 bytes or more.
#[inline(always)]
unsafe fn everywhere<S: Sweep>(sweep: S, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    by_class! { sweep, block, levels, to, from:
        32 => Ends::<Sixteen>::of(block),
        33..=48 => Three::<Sixteen>::of(block),
        49..=64 => Quad::<Sixteen>::of(block),
        _ => Library(block),
    }
}

/// # Safety
///
/// As [`sweep`], with blocks of 32 bytes or more.
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
#[target_feature(enable = "avx2")]
unsafe fn avx2<S: Sweep>(sweep: S, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    by_class! { sweep, block, levels, to, from:
        32 => One::<__m256i>::of(block),
        33..=64 => Ends::<__m256i>::of(block),
        65..=96 => Three::<__m256i>::of(block),
        97..=128 => Quad::<__m256i>::of(block),
        _ => Library(block),
    }
}

/// # Safety
///
/// As [`sweep`], with blocks of 32 bytes or more.
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn avx512<S: Sweep>(sweep: S, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    by_class! { sweep, block, levels, to, from:
        32 => One::<__m256i>::of(block),
        64 => One::<__m512i>::of(block),
        33..64 => Ends::<__m256i>::of(block),
        65..=128 => Ends::<__m512i>::of(block),
        129..=192 => Three::<__m512i>::of(block),
        193..=256 => Quad::<__m512i>::of(block),
        257..=512 => Eight::<__m512i>::of(block),
        _ => Library(block),
    }
}
