//! Rows of blocks, each copied by a number of registers that depends on its length.
//!
//! The length of the blocks chooses the loop, once for a transfer. Blocks of less than 32 bytes have the same loops on every
//! machine. Longer blocks are copied by up to four of the widest vectors that they fill (up to eight if these have 64 bytes). Still
//! longer ones are copied by the C library: a loop of vectors was never a fifth faster, and up to half slower on some processors.
//!
//! The copy of a block has no branch. A prefetcher follows each instruction from block to block, which an inner loop would disturb.

#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
use core::arch::x86_64::{__m256i, __m512i};

use super::vector::{Sixteen, Vector};
use super::{Isa, Level};
use crate::shared::{self, Ends, One, Quad, Registers};

/// A loop over all blocks of a transfer.
pub(super) trait Sweep {
    /// Copies all blocks, each by `block`.
    ///
    /// # Safety
    ///
    /// As [`run`](super::run); the machine must have the instructions of `block`.
    unsafe fn sweep<B: Block>(self, block: B, levels: [Level; 2], to: *mut u8, from: *const u8);
}

/// Copies one row of blocks. The arguments fit in registers, for a fast call.
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
    // SAFETY: the caller ensures the rest, and the machine has its best instructions.
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
        // SAFETY: the blocks are valid (caller), and two registers of 16 bytes fill a block of 17 to 32.
        unsafe { one_by_one(Ends::<Sixteen>::of(block), row, to, from) };
    } else {
        // SAFETY: the blocks are valid (caller), and four registers of 16 bytes fill a block of 33 to 64.
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
            // SAFETY: the row is one of the transfer, whose blocks are valid (caller).
            unsafe { row(block, inner, to, from) };
            to = to.wrapping_add(outer.to);
            from = from.wrapping_add(outer.from);
        }
    }
}

/// Copies one row, four blocks at a time if the blocks are short.
///
/// # Safety
///
/// Each block of the row must be readable from `from` on and writable from `to` on, and no block of the destination may overlap
/// another block of source or destination. The machine must have the instructions of `block`.
#[inline(always)]
unsafe fn row<B: Block>(block: B, level: Level, mut to: *mut u8, mut from: *const u8) {
    let mut left = level.count;
    if B::SHORT {
        while left >= 4 {
            for k in 0..4 {
                // SAFETY: at least four blocks are left in the row, whose blocks are valid (caller).
                unsafe { block.copy(to.wrapping_add(k * level.to), from.wrapping_add(k * level.from)) };
            }
            to = to.wrapping_add(4 * level.to);
            from = from.wrapping_add(4 * level.from);
            left -= 4;
        }
    }
    // SAFETY: the blocks that are left in the row are valid (caller).
    unsafe { one_by_one(block, Level { count: left, ..level }, to, from) };
}

/// Copies one row, block by block.
///
/// # Safety
///
/// Each block of the row must be readable from `from` on and writable from `to` on, and no block of the destination may overlap
/// another block of source or destination. The machine must have the instructions of `block`.
#[inline(always)]
unsafe fn one_by_one<B: Block>(block: B, level: Level, mut to: *mut u8, mut from: *const u8) {
    for _ in 0..level.count {
        // SAFETY: a block is left in the row, whose blocks are valid (caller).
        unsafe { block.copy(to, from) };
        to = to.wrapping_add(level.to);
        from = from.wrapping_add(level.from);
    }
}

/// A method of copying a block, whose length the value stores.
pub(super) trait Block: Copy {
    /// Whether a loop over blocks copies four blocks at a time.
    const SHORT: bool = true;

    /// Copies a block.
    ///
    /// # Safety
    ///
    /// The block must be readable at `from` and writable at `to`, the two must not overlap, and the machine must have the
    /// instructions of this copy.
    unsafe fn copy(self, to: *mut u8, from: *const u8);
}

/// A block of two to three registers.
type Three<V> = Registers<V, 2, 1>;

/// A block of four to eight registers.
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
type Eight<V> = Registers<V, 4, 4>;

impl<V: Vector, const FRONT: usize, const BACK: usize> Block for Registers<V, FRONT, BACK> {
    const SHORT: bool = FRONT + BACK <= 4;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: this function requires what the inherent `copy` does (caller).
        unsafe { Self::copy(self, to, from) };
    }
}

/// A block of this many bytes, copied by the C library. For a long block, the time of the call matters little.
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

/// Copies all blocks by the registers of the first list entry that matches their length.
macro_rules! by_class {
    (
        $sweep:ident, $block:ident, $levels:ident, $to:ident, $from:ident:
        $($class:pat => $pieces:expr,)*
    ) => {
        match $block {
            $(
                // SAFETY: the blocks are valid, and the machine has the instructions of this function (caller). The registers fill
                // a block of this length (`Registers::of` asserts that where lengths may differ).
                $class => unsafe { $sweep.sweep($pieces, $levels, $to, $from) },
            )*
        }
    };
}

/// Copies all blocks by the registers that suit their length.
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
        // SAFETY: the blocks are valid, and the machine has AVX-512 (caller). Blocks have 32 bytes or more.
        Isa::Avx512 => unsafe { avx512(sweep, block, levels, to, from) },
        #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
        // SAFETY: the blocks are valid, and the machine has AVX2 (caller). Blocks have 32 bytes or more.
        Isa::Avx2 | Isa::Masked => unsafe { avx2(sweep, block, levels, to, from) },
        // SAFETY: the blocks are valid (caller), and have 32 bytes or more.
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
