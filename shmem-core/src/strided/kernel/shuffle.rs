//! Words of 4 or 8 bytes between a side where they lie close together and one where every second or third
//! place holds one.
//!
//! Packing reads the sparse side whole, gaps included, and puts the words of two or three vectors into
//! one. Unpacking spreads one vector over two or three, of which it stores only the lanes of words:
//! gaps are not written. What is left at the end of a row is copied word by word.

use core::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_mask_permutexvar_epi32, _mm512_mask_storeu_epi32,
    _mm512_permutex2var_epi32, _mm512_permutexvar_epi32, _mm512_storeu_si512,
};

use super::rows::{self, Plain};
use super::{Isa, Level};

/// Bytes of a vector.
const VECTOR: usize = 64;
/// Lanes of a vector, of 4 bytes.
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
        _ => return unsafe { rows::sweep(Plain, isa, block, levels, to, from) },
    };
    let (mut to, mut from) = (to, from);
    for _ in 0..outer.count {
        let done = match direction {
            // SAFETY: a row of the transfer (caller); the machine has AVX-512.
            Direction::Pack(every) => unsafe { pack(block, every, inner.count, to, from) },
            // SAFETY: as above.
            Direction::Unpack(every) => unsafe { unpack(block, every, inner.count, to, from) },
        };
        let rest = [Level::ONCE, Level { count: inner.count - done, ..inner }];
        let (left_to, left_from) = (to.wrapping_add(done * inner.to), from.wrapping_add(done * inner.from));
        // SAFETY: the rest of the row.
        unsafe { rows::sweep(Plain, isa, block, rest, left_to, left_from) };
        to = to.wrapping_add(outer.to);
        from = from.wrapping_add(outer.from);
    }
}

/// Which side is sparse, and that every second or third place of it holds a word.
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

/// Lanes of the sparse side, in the order in which words of `block` bytes stand there, taken of a window of
/// `every` vectors.
fn places(block: usize, every: usize) -> [u32; LANES] {
    let words = block / 4;
    core::array::from_fn(|lane| (lane / words * words * every + lane % words) as u32)
}

/// Packs as many words as fill whole vectors, and gives their number.
///
/// # Safety
///
/// `count` words must be writable at `to` and, with the gaps between them, readable at `from`; the machine
/// must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn pack(block: usize, every: usize, count: usize, to: *mut u8, from: *const u8) -> usize {
    let places = places(block, every);
    // SAFETY: an array of a vector's size.
    let index = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
    // What lies in the third vector.
    let third =
        places.iter().enumerate().fold(0, |mask, (lane, place)| mask | (u16::from(*place >= 32) << lane));
    let at_once = VECTOR / block;
    let mut done = 0;
    // A vector must not reach into the gap behind the last word: one word more is left than is taken.
    while done + at_once < count {
        let from = from.wrapping_add(done * block * every);
        // SAFETY: inside the row.
        let a = unsafe { _mm512_loadu_si512(from.cast()) };
        // SAFETY: as above.
        let b = unsafe { _mm512_loadu_si512(from.wrapping_add(VECTOR).cast()) };
        let mut packed = _mm512_permutex2var_epi32(a, index, b);
        if every == 3 {
            // SAFETY: as above.
            let c = unsafe { _mm512_loadu_si512(from.wrapping_add(2 * VECTOR).cast()) };
            packed = _mm512_mask_permutexvar_epi32(packed, third, index, c);
        }
        // SAFETY: a vector of words that are still to be written.
        unsafe { _mm512_storeu_si512(to.wrapping_add(done * block).cast(), packed) };
        done += at_once;
    }
    done
}

/// Unpacks whole vectors of words, and gives the number of words.
///
/// # Safety
///
/// `count` words must be readable at `from` and, where the sparse side holds them, writable at `to`; the
/// machine must have AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn unpack(block: usize, every: usize, count: usize, to: *mut u8, from: *const u8) -> usize {
    let places = places(block, every);
    let mut lanes = [[0; LANES]; 3];
    let mut masks = [0u16; 3];
    for (lane, place) in places.into_iter().enumerate() {
        lanes[place as usize / LANES][place as usize % LANES] = lane as u32;
        masks[place as usize / LANES] |= 1 << (place as usize % LANES);
    }
    let index: [__m512i; 3] = [
        // SAFETY: an array of a vector's size.
        unsafe { _mm512_loadu_si512(lanes[0].as_ptr().cast()) },
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(lanes[1].as_ptr().cast()) },
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(lanes[2].as_ptr().cast()) },
    ];
    let at_once = VECTOR / block;
    let mut done = 0;
    while done + at_once <= count {
        // SAFETY: a vector of words that are still to be read.
        let words = unsafe { _mm512_loadu_si512(from.wrapping_add(done * block).cast()) };
        let to = to.wrapping_add(done * block * every);
        for k in 0..every {
            let spread = _mm512_permutexvar_epi32(index[k], words);
            // SAFETY: the lanes are words of the sparse side, no other is touched.
            unsafe { _mm512_mask_storeu_epi32(to.wrapping_add(k * VECTOR).cast(), masks[k], spread) };
        }
        done += at_once;
    }
    done
}
