//! Copies small blocks at one small stride on both sides by whole vectors, stored under a mask.
//!
//! A window of one vector moves over the row, aligned at the destination. Loads and stores are masked, since gaps may belong to another
//! PE, and windows at the ends reach beyond the row; lanes that are masked off touch no memory. The masks of windows repeat after a period.

use core::arch::asm;
use core::arch::x86_64::__m512i;

use super::plain_rows::{self, Plain};
use super::vector::store512_of;
use super::{Isa, Level};

/// Bytes of a window.
const WINDOW: usize = 64;
/// Bytes of a lane.
const LANE: usize = 4;
const LANES: usize = WINDOW / LANE;
/// Upper limit on the windows of a period. Their masks, and one more, fill 128 bits.
const PERIOD: usize = 128 / LANES - 1;

/// Copies all blocks.
///
/// # Safety
///
/// As [`run`](super::run), with at least one byte in a block; the machine must have `isa`.
pub(super) unsafe fn sweep(isa: Isa, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    let [outer, inner] = levels;
    if isa < Isa::Masked || inner.count == 0 || !fits(block, inner) {
        // SAFETY: the caller's promises.
        return unsafe { plain_rows::sweep(Plain, isa, block, levels, to, from) };
    }
    let masks = Masks::of(block, inner.to);
    let (mut to, mut from) = (to, from);
    for _ in 0..outer.count {
        // SAFETY: a row of the transfer (caller). `fits` found that the masks are those of its blocks, and a machine that has `Masked`
        // or more has AVX-512.
        unsafe { row(&masks, (inner.count - 1) * inner.to + block, to, from) };
        to = to.wrapping_add(outer.to);
        from = from.wrapping_add(outer.from);
    }
}

/// Whether this kernel can copy the level: block and stride are multiples of a lane, and masks repeat within `PERIOD` windows.
const fn fits(block: usize, level: Level) -> bool {
    level.to == level.from
        && level.to <= WINDOW
        && block < level.to
        && (block | level.to).is_multiple_of(LANE)
        && period(level.to) <= PERIOD
}

/// Number of windows after which masks repeat.
const fn period(stride: usize) -> usize {
    // The greatest common divisor with a power of two.
    stride >> if stride.trailing_zeros() < 6 { stride.trailing_zeros() } else { 6 }
}

/// The lanes of blocks in the windows of a period, for a row that begins with the first lane.
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

    /// The masks of a period, for a row that begins `lead` lanes after the start of the first window.
    fn behind(self, lead: usize) -> [u16; PERIOD] {
        let all = self.period * LANES;
        let turned = if lead == 0 { self.lanes } else { self.lanes << lead | self.lanes >> (all - lead) };
        core::array::from_fn(|k| (turned >> (k * LANES)) as u16)
    }
}

/// Copies a row; `bytes` is its length from the first byte of the first block to the last byte of the last block.
///
/// # Safety
///
/// The blocks that the masks give must be readable and writable; the machine must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn row(masks: &Masks, bytes: usize, to: *mut u8, from: *const u8) {
    // A row that begins inside a lane cannot be aligned.
    let lead = if to.addr().is_multiple_of(LANE) { to.addr() % WINDOW } else { 0 };
    let period = masks.period;
    let masks = masks.behind(lead / LANE);
    let (to, from) = (to.wrapping_sub(lead), from.wrapping_sub(lead));
    let end = lead + bytes;
    let first = masks[0] & (u16::MAX << (lead / LANE));
    if end <= WINDOW {
        // SAFETY: the lanes of all blocks (caller).
        return unsafe { window(first & inside(end), to, from) };
    }
    // SAFETY: the lanes of blocks in the first window (caller).
    unsafe { window(first, to, from) };
    let mut at = WINDOW;
    let mut k = 1;
    if period == 1 {
        let mask = masks[0];
        while at + 4 * WINDOW < end {
            for _ in 0..4 {
                // SAFETY: the lanes of blocks in this window (caller).
                unsafe { window(mask, to.wrapping_add(at), from.wrapping_add(at)) };
                at += WINDOW;
            }
        }
        k = 0;
    }
    while at + WINDOW < end {
        k = if k == period { 0 } else { k };
        // SAFETY: the lanes of blocks in this window (caller).
        unsafe { window(masks[k], to.wrapping_add(at), from.wrapping_add(at)) };
        at += WINDOW;
        k += 1;
    }
    k = if k == period { 0 } else { k };
    let last = masks[k] & inside(end - at);
    // SAFETY: the lanes of blocks in the last window (caller).
    unsafe { window(last, to.wrapping_add(at), from.wrapping_add(at)) };
}

/// The lanes of the first `bytes` bytes of a window: at least one lane.
fn inside(bytes: usize) -> u16 {
    u16::MAX >> (LANES - bytes / LANE)
}

/// Copies the lanes of a window.
///
/// # Safety
///
/// The lanes in `mask` must be readable and writable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn window(mask: u16, to: *mut u8, from: *const u8) {
    // SAFETY: the lanes are readable (caller), no other is touched.
    let lanes = unsafe { load512_of(mask, from) };
    // SAFETY: the lanes are writable (caller), no other is touched.
    unsafe { store512_of(mask, lanes, to) };
}

/// Reads the lanes of 4 bytes that are set in `mask`; the others are zero.
///
/// # Safety
///
/// The lanes must be readable, and the machine have AVX-512.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load512_of(mask: u16, from: *const u8) -> __m512i {
    let vector;
    // SAFETY: reads the lanes of the mask, which are readable (caller), and faults at no other.
    unsafe {
        asm!("vmovdqu32 {} {{{}}} {{z}}, [{}]", out(zmm_reg) vector, in(kreg) mask, in(reg) from,
            options(nostack, preserves_flags, readonly));
    }
    vector
}
