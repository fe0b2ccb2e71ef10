//! Rows slowed down by idle stores (extra stores to one unused word), for strides that map to few sets of the first-level cache.
//!
//! Stores wait in the store queue until their cache line has arrived, and retire in order. At a stride that is a large power of
//! two, all these lines map to one set of a few ways: lines for later stores evict lines that arrived early, which are then fetched
//! twice. Idle stores go to a line that stays cached, and fill the queue, so that fewer other lines are requested at a time. A
//! column takes half the time.

use core::cell::UnsafeCell;

use super::plain_rows::{self, Block, Plain, Sweep};
use super::{Isa, Level};

const LINE: usize = 64;

/// Bytes of a way of a first-level cache.
const WAY: usize = 4096;

/// Strides that are multiples of this number of bytes map to few sets.
const CROWDED: usize = WAY / 4;

/// Bytes of each store to a block.
const PIECE: usize = 16;

/// The target of idle stores: a cache line that stays in this thread's cache.
#[repr(align(64))]
struct CacheLine(UnsafeCell<u64>);

/// A block whose copy is followed by `touches` idle stores to `line`, which slow down the loop.
#[derive(Clone, Copy)]
struct ThrottledBlock<B> {
    block: B,
    touches: u8,
    line: *mut u64,
}

impl<B: Block> Block for ThrottledBlock<B> {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn copy(self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller ensures what `copy` requires.
        unsafe { self.block.copy(to, from) };
        for _ in 0..self.touches / 4 {
            for _ in 0..4 {
                // SAFETY: `line` points to a word of the calling sweep, which outlives this value.
                unsafe { self.line.write_volatile(0) };
            }
        }
        for _ in 0..self.touches % 4 {
            // SAFETY: `line` points to a word of the calling sweep, which outlives this value.
            unsafe { self.line.write_volatile(0) };
        }
    }
}

/// A sweep with this many idle stores per block.
#[derive(Clone, Copy)]
struct Throttle(u8);

impl Sweep for Throttle {
    #[inline(always)]
    unsafe fn sweep<B: Block>(self, block: B, levels: [Level; 2], to: *mut u8, from: *const u8) {
        let line = CacheLine(UnsafeCell::new(0));
        let braked = ThrottledBlock { block, touches: self.0, line: line.0.get() };
        // SAFETY: the caller ensures what `sweep` requires.
        unsafe { Plain.sweep(braked, levels, to, from) };
    }
}

/// Whether source and destination map to the same few sets. Returns `false` for strides that map to one set, where more idle stores
/// are slower.
fn share_sets(row: Level, to: *mut u8, from: *const u8) -> bool {
    // The largest power of two, up to a way of the cache, that divides both strides.
    let period = 1 << (row.to | row.from | WAY).trailing_zeros();
    let apart = (to as usize).wrapping_sub(from as usize) % period;
    (CROWDED..WAY).contains(&period) && (apart < LINE || period - apart < LINE)
}

/// Copies all blocks by registers of at most 16 bytes. Each block is followed by `touches` idle stores, twice as many on machines
/// that make two stores at a time. Wider registers would make fewer stores, and so slow down less.
///
/// # Safety
///
/// As [`run`](super::run), with at least one byte in a block.
pub(super) unsafe fn sweep(
    touches: u8,
    isa: Isa,
    block: usize,
    levels: [Level; 2],
    to: *mut u8,
    from: *const u8,
) {
    let touches = if isa == Isa::Avx512 { touches.saturating_mul(2) } else { touches };
    // If source and destination share sets, doubles the number of stores per block. The stores of the block itself are part of this
    // number, so as many idle stores are added.
    let touches = match share_sets(levels[1], to, from) {
        true => touches.saturating_mul(2).saturating_add(block.div_ceil(PIECE).min(255) as u8),
        false => touches,
    };
    // SAFETY: the blocks are valid (caller), and every machine has the baseline instructions.
    unsafe { plain_rows::sweep(Throttle(touches), Isa::Baseline, block, levels, to, from) };
}
