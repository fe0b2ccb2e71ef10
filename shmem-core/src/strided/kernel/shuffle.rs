//! Packs and unpacks words of 4 or 8 bytes. One side is dense, the other is sparse: it has a word at every second or third place.
//!
//! Packing reads the sparse side with its gaps, and permutes two or three vectors into one. Unpacking permutes one vector into two
//! or three, and stores the lanes of words under a mask. Words at the end of a row, too few for a vector, are copied one by one.

use core::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_mask_permutexvar_epi32, _mm512_permutex2var_epi32,
    _mm512_permutexvar_epi32,
};

use super::plain_rows::{self, Plain};
use super::vector::{Vector as _, load512, store512_of};
use super::{Isa, Level};

const VECTOR: usize = 64;
/// Number of lanes of a vector, each of 4 bytes.
const LANES: usize = 16;

/// Copies all blocks.
///
/// # Safety
///
/// As [`run`](super::run), with at least one byte in a block; the machine must have `isa`.
pub(super) unsafe fn sweep(isa: Isa, block: usize, levels: [Level; 2], to: *mut u8, from: *const u8) {
    let [outer, inner] = levels;
    let direction = match direction(block, inner) {
        Some(direction) if isa >= Isa::Masked => direction,
        // SAFETY: `plain_rows::sweep` requires no more than this function does.
        _ => return unsafe { plain_rows::sweep(Plain, isa, block, levels, to, from) },
    };
    let (mut to, mut from) = (to, from);
    for _ in 0..outer.count {
        let done = match direction {
            // SAFETY: the row is one of the transfer, so valid (caller). The machine has AVX-512 (`isa`).
            Direction::Pack(every) => unsafe { pack(block, every, inner.count, to, from) },
            // SAFETY: the row is one of the transfer, so valid (caller). The machine has AVX-512 (`isa`).
            Direction::Unpack(every) => unsafe { unpack(block, every, inner.count, to, from) },
        };
        let rest = [Level::ONCE, Level { count: inner.count - done, ..inner }];
        let (left_to, left_from) = (to.wrapping_add(done * inner.to), from.wrapping_add(done * inner.from));
        // SAFETY: the words left in the row are valid (caller).
        unsafe { plain_rows::sweep(Plain, isa, block, rest, left_to, left_from) };
        to = to.wrapping_add(outer.to);
        from = from.wrapping_add(outer.from);
    }
}

/// The sparse side: the source (`Pack`) or the destination (`Unpack`). The value is the distance of its words, 2 or 3.
#[derive(Clone, Copy)]
enum Direction {
    Pack(usize),
    Unpack(usize),
}

fn direction(block: usize, level: Level) -> Option<Direction> {
    let (to, from) = (level.to / block, level.from / block);
    let whole = (block == 4 || block == 8) && level.to == to * block && level.from == from * block;
    match (to, from) {
        (1, 2 | 3) if whole => Some(Direction::Pack(from)),
        (2 | 3, 1) if whole => Some(Direction::Unpack(to)),
        _ => None,
    }
}

/// The permutations for words of one length at one distance. The words of a dense vector are in two or three sparse vectors.
struct Places {
    /// For each lane of the dense vector, its lane among those of all sparse vectors.
    sparse: [u32; LANES],
    /// The lanes of the dense vector that come from the third sparse vector.
    third: u16,
    /// For each lane of each sparse vector, its lane in the dense vector.
    dense: [[u32; LANES]; 3],
    /// The lanes of each sparse vector that belong to words.
    words: [u16; 3],
}

impl Places {
    /// Returns the permutations for words of `block` bytes, `every` words apart on the sparse side.
    const fn of(block: usize, every: usize) -> Self {
        let words = block / 4;
        let mut places = Self { sparse: [0; LANES], third: 0, dense: [[0; LANES]; 3], words: [0; 3] };
        let mut lane = 0;
        while lane < LANES {
            let place = lane / words * words * every + lane % words;
            let (vector, inside) = (place / LANES, place % LANES);
            places.sparse[lane] = place as u32;
            places.third |= ((vector == 2) as u16) << lane;
            places.dense[vector][inside] = lane as u32;
            places.words[vector] |= 1 << inside;
            lane += 1;
        }
        places
    }

    fn find(block: usize, every: usize) -> &'static Self {
        static FOUR_OF_8: Places = Places::of(4, 2);
        static FOUR_OF_12: Places = Places::of(4, 3);
        static EIGHT_OF_16: Places = Places::of(8, 2);
        static EIGHT_OF_24: Places = Places::of(8, 3);
        match (block, every) {
            (4, 2) => &FOUR_OF_8,
            (4, _) => &FOUR_OF_12,
            (_, 2) => &EIGHT_OF_16,
            _ => &EIGHT_OF_24,
        }
    }
}

/// Packs as many words as fill whole vectors, and returns their number.
///
/// # Safety
///
/// `count` words must be writable at `to` and, with the gaps between them, readable at `from`. The machine must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn pack(block: usize, every: usize, count: usize, to: *mut u8, from: *const u8) -> usize {
    let places = Places::find(block, every);
    // SAFETY: the array has the size of a vector.
    let index = unsafe { _mm512_loadu_si512(places.sparse.as_ptr().cast()) };
    let at_once = VECTOR / block;
    let mut done = 0;
    // Leaves at least one word, so that no vector reaches into the gap behind the last word.
    while done + at_once < count {
        let from = from.wrapping_add(done * block * every);
        // SAFETY: the vector is inside the row, since a word behind it is left.
        let a = unsafe { load512(from) };
        // SAFETY: the second vector is inside the row, since a word behind it is left.
        let b = unsafe { load512(from.wrapping_add(VECTOR)) };
        let mut packed = _mm512_permutex2var_epi32(a, index, b);
        if every == 3 {
            // SAFETY: the third vector is inside the row, since a word behind it is left.
            let c = unsafe { load512(from.wrapping_add(2 * VECTOR)) };
            packed = _mm512_mask_permutexvar_epi32(packed, places.third, index, c);
        }
        // SAFETY: at least a vector of words is left to be written, which are writable (caller).
        unsafe { packed.store(to.wrapping_add(done * block)) };
        done += at_once;
    }
    done
}

/// Unpacks as many words as fill whole vectors, and returns their number.
///
/// # Safety
///
/// `count` words must be readable at `from`, and writable at `to`, `every` words apart. The machine must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn unpack(block: usize, every: usize, count: usize, to: *mut u8, from: *const u8) -> usize {
    let places = Places::find(block, every);
    let index: [__m512i; 3] = [
        // SAFETY: the array has the size of a vector.
        unsafe { _mm512_loadu_si512(places.dense[0].as_ptr().cast()) },
        // SAFETY: the array has the size of a vector.
        unsafe { _mm512_loadu_si512(places.dense[1].as_ptr().cast()) },
        // SAFETY: the array has the size of a vector.
        unsafe { _mm512_loadu_si512(places.dense[2].as_ptr().cast()) },
    ];
    let at_once = VECTOR / block;
    let mut done = 0;
    while done + at_once <= count {
        // SAFETY: at least a vector of words is left to be read, which are readable (caller).
        let words = unsafe { load512(from.wrapping_add(done * block)) };
        let to = to.wrapping_add(done * block * every);
        for (k, index) in index.iter().enumerate().take(every) {
            let spread = _mm512_permutexvar_epi32(*index, words);
            // SAFETY: the lanes of the mask are words of the sparse side, so writable (caller). Other lanes are not written.
            unsafe { store512_of(places.words[k], spread, to.wrapping_add(k * VECTOR)) };
        }
        done += at_once;
    }
    done
}
