//! Packs and unpacks words of 4 or 8 bytes. One side is dense; the other is sparse: it has a word at every second or third place.
//!
//! Packing reads the sparse side whole, gaps included, and permutes two or three vectors into one. Unpacking permutes one vector into
//! two or three, and stores the lanes of words under a mask. The rest of a row is copied word by word.

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
        // SAFETY: the caller's promises.
        _ => return unsafe { plain_rows::sweep(Plain, isa, block, levels, to, from) },
    };
    let (mut to, mut from) = (to, from);
    for _ in 0..outer.count {
        let done = match direction {
            // SAFETY: a row of the transfer (caller); the machine has AVX-512.
            Direction::Pack(every) => unsafe { pack(block, every, inner.count, to, from) },
            // SAFETY: a row of the transfer (caller); the machine has AVX-512.
            Direction::Unpack(every) => unsafe { unpack(block, every, inner.count, to, from) },
        };
        let rest = [Level::ONCE, Level { count: inner.count - done, ..inner }];
        let (left_to, left_from) = (to.wrapping_add(done * inner.to), from.wrapping_add(done * inner.from));
        // SAFETY: the rest of the row.
        unsafe { plain_rows::sweep(Plain, isa, block, rest, left_to, left_from) };
        to = to.wrapping_add(outer.to);
        from = from.wrapping_add(outer.from);
    }
}

/// Whether the source is the sparse side (`Pack`) or the destination is (`Unpack`), and the distance of the words there, 2 or 3.
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

/// Permutations for words of one length at one distance. A window of two or three vectors of the sparse side has the words of one
/// dense vector.
struct Places {
    /// For each lane of the dense vector, its lane in the window.
    sparse: [u32; LANES],
    /// Lanes of the dense vector that come from the third vector of the window.
    third: u16,
    /// For each lane of each vector of the window, its lane in the dense vector.
    dense: [[u32; LANES]; 3],
    /// Lanes of each vector of the window that belong to words.
    words: [u16; 3],
}

impl Places {
    /// The permutations for words of `block` bytes, `every` words apart on the sparse side.
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
/// `count` words must be writable at `to` and, with the gaps between them, readable at `from`; the machine
/// must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn pack(block: usize, every: usize, count: usize, to: *mut u8, from: *const u8) -> usize {
    let places = Places::find(block, every);
    // SAFETY: an array of a vector's size.
    let index = unsafe { _mm512_loadu_si512(places.sparse.as_ptr().cast()) };
    let at_once = VECTOR / block;
    let mut done = 0;
    // At least one more word must be left, so that no vector reaches into the gap behind the last word.
    while done + at_once < count {
        let from = from.wrapping_add(done * block * every);
        // SAFETY: inside the row.
        let a = unsafe { load512(from) };
        // SAFETY: inside the row, of which this is the second vector.
        let b = unsafe { load512(from.wrapping_add(VECTOR)) };
        let mut packed = _mm512_permutex2var_epi32(a, index, b);
        if every == 3 {
            // SAFETY: inside the row, of which this is the third vector.
            let c = unsafe { load512(from.wrapping_add(2 * VECTOR)) };
            packed = _mm512_mask_permutexvar_epi32(packed, places.third, index, c);
        }
        // SAFETY: a vector of words that are still to be written.
        unsafe { packed.store(to.wrapping_add(done * block)) };
        done += at_once;
    }
    done
}

/// Unpacks whole vectors of words, and returns the number of words.
///
/// # Safety
///
/// `count` words must be readable at `from` and, where the sparse side holds them, writable at `to`; the
/// machine must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn unpack(block: usize, every: usize, count: usize, to: *mut u8, from: *const u8) -> usize {
    let places = Places::find(block, every);
    let index: [__m512i; 3] = [
        // SAFETY: an array of a vector's size.
        unsafe { _mm512_loadu_si512(places.dense[0].as_ptr().cast()) },
        // SAFETY: an array of a vector's size.
        unsafe { _mm512_loadu_si512(places.dense[1].as_ptr().cast()) },
        // SAFETY: an array of a vector's size.
        unsafe { _mm512_loadu_si512(places.dense[2].as_ptr().cast()) },
    ];
    let at_once = VECTOR / block;
    let mut done = 0;
    while done + at_once <= count {
        // SAFETY: a vector of words that are still to be read.
        let words = unsafe { load512(from.wrapping_add(done * block)) };
        let to = to.wrapping_add(done * block * every);
        for (k, index) in index.iter().enumerate().take(every) {
            let spread = _mm512_permutexvar_epi32(*index, words);
            // SAFETY: the lanes are words of the sparse side, no other is touched.
            unsafe { store512_of(places.words[k], spread, to.wrapping_add(k * VECTOR)) };
        }
        done += at_once;
    }
    done
}
