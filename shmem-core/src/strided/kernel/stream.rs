//! Non-temporal (streaming) stores, with the source prefetched.
//!
//! A line that is overwritten whole need not be read first. Only whole lines are streamed; the bytes before and behind them in a block
//! are stored as usual. Streaming gains only for transfers larger than the caches: the data is not in a cache afterwards, so a PE
//! that reads it soon waits for memory.

use core::arch::asm;
use core::arch::x86_64::{__m256i, __m512i, _MM_HINT_T0, _mm_prefetch, _mm_sfence};

use super::block::{Block, Ends, Quad};
use super::plain_rows::{self, Plain, Sweep};
use super::vector::Vector;
use super::{Isa, Level};

const LINE: usize = 64;

/// Prefetch distance in the source, in bytes.
const AHEAD: usize = 512;

/// Copies all blocks, whole lines of the destination by streaming stores.
///
/// # Safety
///
/// As [`run`](super::run), with at least one byte in a block; the machine must have `isa`.
pub(super) unsafe fn sweep(isa: Isa, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    if block < LINE || isa == Isa::Baseline {
        // SAFETY: the caller's promises.
        return unsafe { plain_rows::sweep(Plain, isa, block, levels, to, from) };
    }
    if isa >= Isa::Masked {
        // SAFETY: the caller's promises, one of which is that the machine has AVX-512.
        unsafe { avx512(block, levels, to, from) };
    } else {
        // SAFETY: the caller's promises, one of which is that the machine has `isa`, here AVX2.
        unsafe { avx2(block, levels, to, from) };
    }
    // Streaming stores are not ordered: a signal or barrier that follows must come after them. SAFETY: every processor
    // of this architecture has the instruction.
    unsafe { _mm_sfence() };
}

/// # Safety
///
/// As [`sweep`], on a machine with AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn avx512(block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promises.
    unsafe { Plain.sweep(Streamed::<__m512i>::of(block, levels), levels, to, from) };
}

/// # Safety
///
/// As [`sweep`], on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn avx2(block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promises.
    unsafe { Plain.sweep(Streamed::<__m256i>::of(block, levels), levels, to, from) };
}

/// A vector with a non-temporal store.
trait Streaming: Vector {
    /// Writes a vector.
    ///
    /// # Safety
    ///
    /// As [`Vector::store`], and the address must be aligned to the vector.
    unsafe fn stream(self, to: *mut u8);
}

/// Implements [`Streaming`] by one instruction each, as the macro of [`vector`](super::vector) does for loads and stores.
macro_rules! streaming {
    ($($vector:ty, $feature:literal: $class:ident $mov:literal, $stream:ident;)*) => {$(
        impl Streaming for $vector {
            #[inline(always)]
            unsafe fn stream(self, to: *mut u8) {
                // SAFETY: writable and aligned, and the machine has the instruction (caller).
                unsafe { $stream(self, to) };
            }
        }

        /// # Safety
        ///
        /// A vector must be writable at a multiple of its size, and the machine must have the instruction. A fence
        /// must follow: the sweep ends with one.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn $stream(vector: $vector, to: *mut u8) {
            // SAFETY: writes a vector, which is writable and aligned (caller).
            unsafe {
                asm!(concat!($mov, " [{}], {}"), in(reg) to, in($class) vector,
                    options(nostack, preserves_flags));
            }
        }
    )*};
}

streaming! {
    __m256i, "avx": ymm_reg "vmovntdq", stream256;
    __m512i, "avx512f": zmm_reg "vmovntdq", stream512;
}

/// A block of at least a line, copied by streaming stores.
#[derive(Clone, Copy)]
struct Streamed<V> {
    block: usize,
    /// Bytes from the start of a block to the next block to prefetch.
    next: usize,
    piece: core::marker::PhantomData<V>,
}

impl<V: Streaming> Streamed<V> {
    #[inline(always)]
    fn of(block: usize, [_, inner]: [Level; 2]) -> Self {
        // As many blocks ahead as fill `AHEAD` bytes.
        let blocks = AHEAD.div_ceil(block);
        let next = if inner.count > 1 { inner.from.wrapping_mul(blocks) } else { AHEAD };
        Self { block, next, piece: core::marker::PhantomData }
    }
}

impl<V: Streaming> Block for Streamed<V> {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        let head = to.addr().wrapping_neg() % LINE;
        let lines = (self.block - head) / LINE;
        let behind = head + lines * LINE;
        // SAFETY: the block has at least a line, and the head is shorter.
        unsafe { copy_part(to, from, head) };
        let mut done = head;
        while done < behind {
            // The last lines of a block prefetch a later block.
            let ahead = if done + AHEAD < self.block { done + AHEAD } else { self.next.wrapping_add(done) };
            // SAFETY: a hint, without effect where nothing is readable.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(ahead).cast()) };
            // SAFETY: a whole line of the block, aligned at the destination.
            unsafe { line::<V>(to.wrapping_add(done), from.wrapping_add(done)) };
            done += LINE;
        }
        // SAFETY: what is left of the block: less than a line.
        unsafe { copy_part(to.wrapping_add(behind), from.wrapping_add(behind), self.block - behind) };
    }
}

/// Streams one line.
///
/// # Safety
///
/// A line must be readable at `from` and writable at `to`, which must be aligned to a line.
#[inline(always)]
unsafe fn line<V: Streaming>(to: *mut u8, from: *const u8) {
    let mut at = 0;
    while at < LINE {
        // SAFETY: inside the line.
        let piece = unsafe { V::load(from.wrapping_add(at)) };
        // SAFETY: inside the line, a multiple of the vector's length from its beginning, where it is aligned.
        unsafe { piece.stream(to.wrapping_add(at)) };
        at += V::BYTES;
    }
}

/// Copies less than a line by words, whatever the width of vectors.
///
/// # Safety
///
/// `bytes` bytes must be readable and writable.
#[inline(always)]
unsafe fn copy_part(mut to: *mut u8, mut from: *const u8, mut bytes: usize) {
    if bytes > 32 {
        // SAFETY: the part has more than 32 bytes.
        unsafe { Quad::<u64>::of(32).copy(to, from) };
        (to, from, bytes) = (to.wrapping_add(32), from.wrapping_add(32), bytes - 32);
    }
    match bytes {
        0 => {}
        // SAFETY: the pieces fill the part.
        1 => unsafe { Ends::<u8>::of(1).copy(to, from) },
        // SAFETY: the pieces fill the part.
        2..4 => unsafe { Ends::<u16>::of(bytes).copy(to, from) },
        // SAFETY: the pieces fill the part.
        4..8 => unsafe { Ends::<u32>::of(bytes).copy(to, from) },
        // SAFETY: the pieces fill the part.
        8..16 => unsafe { Ends::<u64>::of(bytes).copy(to, from) },
        // SAFETY: the pieces fill the part.
        _ => unsafe { Quad::<u64>::of(bytes).copy(to, from) },
    }
}
