//! Non-temporal (streaming) stores, with prefetches of the source.
//!
//! A cache line that is overwritten whole need not be read first. Only whole lines are streamed; the bytes before and behind them
//! in a block are stored as usual. Streaming gains only for transfers larger than the caches: afterwards the data is not in a
//! cache, so a PE that soon reads the data waits for memory.

use core::arch::asm;
use core::arch::x86_64::{__m256i, _MM_HINT_T0, _mm_prefetch, _mm_sfence};

use super::plain_rows::{self, Block, Plain, Sweep};
use super::vector::Vector;
use super::{Isa, Level};
use crate::shared::{Ends, Quad};

const LINE: usize = 64;

/// Prefetch distance in the source, in bytes.
const AHEAD: usize = 512;

/// Copies all blocks, with streaming stores to whole cache lines of the destination.
///
/// # Safety
///
/// As [`run`](super::run), with at least one byte in a block; the machine must have `isa`.
pub(super) unsafe fn sweep(isa: Isa, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    if block < LINE || isa == Isa::Baseline {
        // SAFETY: `plain_rows::sweep` requires no more than this function does.
        return unsafe { plain_rows::sweep(Plain, isa, block, levels, to, from) };
    }
    // SAFETY: the blocks are valid, and the machine has `isa` (caller), which includes AVX2.
    unsafe { avx2(block, levels, to, from) };
    // Streaming stores are unordered, so a fence orders them before a later signal or barrier.
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { _mm_sfence() };
}

/// # Safety
///
/// As [`sweep`], on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn avx2(block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    // SAFETY: the blocks are valid (caller), and the machine has AVX2.
    unsafe { Plain.sweep(Streamed::of(block, levels), levels, to, from) };
}

/// A block of at least a cache line, copied by streaming stores.
#[derive(Clone, Copy)]
struct Streamed {
    block: usize,
    /// Bytes from the start of a block to the start of the later block that is prefetched; [`AHEAD`] if a row has only one block.
    next: usize,
}

impl Streamed {
    #[inline(always)]
    fn of(block: usize, [_, inner]: [Level; 2]) -> Self {
        // Prefetches as many blocks ahead as fill `AHEAD` bytes.
        let blocks = AHEAD.div_ceil(block);
        let next = if inner.count > 1 { inner.from.wrapping_mul(blocks) } else { AHEAD };
        Self { block, next }
    }
}

impl Block for Streamed {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        let head = to.addr().wrapping_neg() % LINE;
        let lines = (self.block - head) / LINE;
        let behind = head + lines * LINE;
        // SAFETY: the block has at least a line, the head is shorter than a line, and the block is valid (caller).
        unsafe { copy_part(to, from, head) };
        let mut done = head;
        while done < behind {
            // The last lines of a block prefetch a later block.
            let ahead = if done + AHEAD < self.block { done + AHEAD } else { self.next.wrapping_add(done) };
            // SAFETY: a prefetch is a hint, without effect if the address is not readable.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(ahead).cast()) };
            // SAFETY: the line is inside the block, which is valid (caller), and aligned at the destination.
            unsafe { line(to.wrapping_add(done), from.wrapping_add(done)) };
            done += LINE;
        }
        // SAFETY: the rest of the block, less than a line, is valid (caller).
        unsafe { copy_part(to.wrapping_add(behind), from.wrapping_add(behind), self.block - behind) };
    }
}

/// Copies one cache line by streaming stores.
///
/// # Safety
///
/// A line must be readable at `from` and writable at `to`, and `to` must be aligned to a line. The machine must have AVX2.
#[inline(always)]
unsafe fn line(to: *mut u8, from: *const u8) {
    for at in [0, LINE / 2] {
        // SAFETY: half of the line is readable at `at` (caller).
        let half = unsafe { __m256i::load(from.wrapping_add(at)) };
        // SAFETY: half of the line is writable at `at`, and aligned to its size (caller).
        unsafe { stream256(half, to.wrapping_add(at)) };
    }
}

/// # Safety
///
/// A vector must be writable at `to`, which must be aligned to the vector's size, and the machine must have the instruction. A
/// fence must follow: [`sweep`] ends with one.
#[inline]
#[target_feature(enable = "avx")]
unsafe fn stream256(vector: __m256i, to: *mut u8) {
    // SAFETY: writes a vector at `to`, which is writable and aligned (caller).
    unsafe {
        asm!("vmovntdq [{}], {}", in(reg) to, in(ymm_reg) vector, options(nostack, preserves_flags));
    }
}

/// Copies less than a cache line by words of at most 8 bytes.
///
/// # Safety
///
/// `bytes` bytes must be readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy_part(mut to: *mut u8, mut from: *const u8, mut bytes: usize) {
    if bytes > 32 {
        // SAFETY: the part has more than 32 bytes, and is valid (caller).
        unsafe { Quad::<u64>::of(32).copy(to, from) };
        (to, from, bytes) = (to.wrapping_add(32), from.wrapping_add(32), bytes - 32);
    }
    match bytes {
        0 => {}
        // SAFETY: the registers fill the part, which is valid (caller).
        1 => unsafe { Ends::<u8>::of(1).copy(to, from) },
        // SAFETY: the registers fill the part, which is valid (caller).
        2..4 => unsafe { Ends::<u16>::of(bytes).copy(to, from) },
        // SAFETY: the registers fill the part, which is valid (caller).
        4..8 => unsafe { Ends::<u32>::of(bytes).copy(to, from) },
        // SAFETY: the registers fill the part, which is valid (caller).
        8..16 => unsafe { Ends::<u64>::of(bytes).copy(to, from) },
        // SAFETY: the registers fill the part, which is valid (caller).
        _ => unsafe { Quad::<u64>::of(bytes).copy(to, from) },
    }
}
