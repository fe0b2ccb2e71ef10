//! Copies small blocks, at the same small stride at source and destination, by whole vectors that are stored under a mask.
//!
//! The kernel goes over the row in steps of one vector, aligned at the destination. Loads and stores are masked, because gaps
//! between blocks may belong to another PE, and the first and last vector reach beyond the row. Lanes that are masked off touch no
//! memory. The masks repeat after a number of vectors, the period.

use core::arch::asm;
use core::arch::x86_64::__m512i;

use super::plain_rows::{self, Plain};
use super::vector::store512_of;
use super::{Isa, Level};

/// Bytes of a vector.
const WINDOW: usize = 64;
/// Bytes of a lane.
const LANE: usize = 4;
const LANES: usize = WINDOW / LANE;
/// Upper limit on the vectors of a period: their masks, shifted by less than a vector, fit in 128 bits.
const PERIOD: usize = 128 / LANES - 1;

/// Copies all blocks.
///
/// # Safety
///
/// As [`run`](super::run), with at least one byte in a block; the machine must have `isa`.
pub(super) unsafe fn sweep(isa: Isa, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    let [outer, inner] = levels;
    if isa < Isa::Masked || inner.count == 0 || !fits(block, inner) {
        // SAFETY: `plain_rows::sweep` requires no more than this function does.
        return unsafe { plain_rows::sweep(Plain, isa, block, levels, to, from) };
    }
    let masks = Masks::of(block, inner.to);
    let (mut to, mut from) = (to, from);
    for _ in 0..outer.count {
        // SAFETY: the row is one of the transfer, so valid (caller). The masks are those of its blocks (`fits`). A machine with
        // `Masked` or a later set has AVX-512.
        unsafe { row(&masks, (inner.count - 1) * inner.to + block, to, from) };
        to = to.wrapping_add(outer.to);
        from = from.wrapping_add(outer.from);
    }
}

/// Whether this kernel can copy the loop: block and stride are multiples of a lane, and masks repeat within `PERIOD` vectors.
const fn fits(block: usize, level: Level) -> bool {
    level.to == level.from
        && level.to <= WINDOW
        && block < level.to
        && (block | level.to).is_multiple_of(LANE)
        && period(level.to) <= PERIOD
}

/// Returns the number of vectors after which masks repeat.
const fn period(stride: usize) -> usize {
    // Divides the stride by its greatest common divisor with the bytes of a vector (a power of two).
    stride >> if stride.trailing_zeros() < 6 { stride.trailing_zeros() } else { 6 }
}

/// For each vector of a period, the lanes that belong to blocks, for a row that begins at the first lane.
#[derive(Clone, Copy)]
struct Masks {
    lanes: u128,
    period: usize,
}

impl Masks {
    fn of(block: usize, stride: usize) -> Self {
        let period = period(stride);
        let one = (1u128 << (block / LANE)) - 1;
        let mut lanes = 0;
        let mut at = 0;
        while at < period * LANES {
            lanes |= one << at;
            at += stride / LANE;
        }
        Self { lanes, period }
    }

    /// Returns the masks of a period, for a row that begins `lead` lanes after the start of the first vector.
    fn behind(self, lead: usize) -> [u16; PERIOD] {
        let all = self.period * LANES;
        let turned = if lead == 0 { self.lanes } else { self.lanes << lead | self.lanes >> (all - lead) };
        core::array::from_fn(|k| (turned >> (k * LANES)) as u16)
    }
}

/// Copies a row. `bytes` is the length from the first byte of the first block to the last byte of the last block.
///
/// # Safety
///
/// The blocks that the masks select must be readable at `from` and writable at `to`, and the machine must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn row(masks: &Masks, bytes: usize, to: *mut u8, from: *const u8) {
    // A row that begins inside a lane cannot be aligned to vectors.
    let lead = if to.addr().is_multiple_of(LANE) { to.addr() % WINDOW } else { 0 };
    let period = masks.period;
    let masks = masks.behind(lead / LANE);
    let (to, from) = (to.wrapping_sub(lead), from.wrapping_sub(lead));
    let end = lead + bytes;
    let first = masks[0] & (u16::MAX << (lead / LANE));
    if end <= WINDOW {
        // SAFETY: the mask has the lanes of all blocks, which are valid (caller).
        return unsafe { window(first & inside(end), to, from) };
    }
    // SAFETY: the mask has the lanes of blocks in the first vector, which are valid (caller).
    unsafe { window(first, to, from) };
    let mut at = WINDOW;
    let mut k = 1;
    if period == 1 {
        let mask = masks[0];
        while at + 4 * WINDOW < end {
            for _ in 0..4 {
                // SAFETY: the mask has the lanes of blocks in this vector, which are valid (caller).
                unsafe { window(mask, to.wrapping_add(at), from.wrapping_add(at)) };
                at += WINDOW;
            }
        }
        k = 0;
    }
    while at + WINDOW < end {
        k = if k == period { 0 } else { k };
        // SAFETY: the mask has the lanes of blocks in this vector, which are valid (caller).
        unsafe { window(masks[k], to.wrapping_add(at), from.wrapping_add(at)) };
        at += WINDOW;
        k += 1;
    }
    k = if k == period { 0 } else { k };
    let last = masks[k] & inside(end - at);
    // SAFETY: the mask has the lanes of blocks in the last vector, which are valid (caller).
    unsafe { window(last, to.wrapping_add(at), from.wrapping_add(at)) };
}

/// Returns the lanes of the first `bytes` bytes of a vector. `bytes` is at least a lane.
fn inside(bytes: usize) -> u16 {
    u16::MAX >> (LANES - bytes / LANE)
}

/// Copies the lanes in `mask` of one vector.
///
/// # Safety
///
/// The lanes in `mask` must be readable at `from` and writable at `to`, and the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn window(mask: u16, to: *mut u8, from: *const u8) {
    // SAFETY: the lanes in `mask` are readable (caller), and the machine has AVX-512.
    let lanes = unsafe { load512_of(mask, from) };
    // SAFETY: the lanes in `mask` are writable (caller), and the machine has AVX-512.
    unsafe { store512_of(mask, lanes, to) };
}

/// Reads the lanes of 4 bytes that are set in `mask`. The other lanes become zero.
///
/// # Safety
///
/// The lanes in `mask` must be readable, and the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load512_of(mask: u16, from: *const u8) -> __m512i {
    let vector;
    // SAFETY: reads only the lanes in `mask`, which are readable (caller). Other lanes cause no fault.
    unsafe {
        asm!("vmovdqu32 {} {{{}}} {{z}}, [{}]", out(zmm_reg) vector, in(kreg) mask, in(reg) from,
            options(nostack, preserves_flags, readonly));
    }
    vector
}
