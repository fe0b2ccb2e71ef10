//! What a put costs.

use std::hint::black_box;

use shmem_core::context::{Order, Rma, Stores};
use shmem_core::object::On;

use super::baseline::{self, LINES, WORDS_OF_LINE};
use super::samples::{Samples, nanoseconds_each};

/// Sizes of the transfers that [`put`] and [`get`](super::get::get) are measured with, in bytes.
pub const SIZES: [usize; 8] = [1, 8, 64, 512, 4 << 10, 64 << 10, 1 << 20, 4 << 20];

/// Passes over the lines in one sample: some ten microseconds.
const PASSES: usize = 1000;

/// Transfers of a size in one sample: some hundred microseconds, and one transfer of the largest is
/// that long.
pub(super) fn transfers(bytes: usize) -> usize {
    ((1 << 21) / bytes).clamp(2, 20_000)
}

/// A row of words for [`put8_static`]: one in each line that is written, and those between.
pub type Row = [u64; LINES * WORDS_OF_LINE];

/// 8-byte puts to a static, against raw stores to the same words: nanoseconds for each.
///
/// `put_row` puts its value to the first word of each line of `row`. It is given and not written
/// here, because the static is the program's: in a library every program would carry it. It must
/// not be inlined, as the baseline is not.
///
/// # Panics
///
/// If `row` is not on this node.
pub fn put8_static<I: Stores>(
    token: &I,
    row: On<'_, Row>,
    put_row: fn(&I, shmem_core::pe::Pe, u64),
    repetitions: usize,
) -> Samples {
    let words: *mut u64 = near(row.ptr(token)).cast();
    let (token, pe) = (black_box(token), black_box(row.pe()));
    let cost = || {
        nanoseconds_each(PASSES * LINES, || {
            for pass in 0..PASSES as u64 {
                put_row(token, pe, pass);
            }
        })
    };
    let limit = || {
        nanoseconds_each(PASSES * LINES, || {
            for pass in 0..PASSES as u64 {
                // SAFETY: a row has `LINES * WORDS_OF_LINE` words, and lives while the token does.
                unsafe { baseline::stores(words, pass) };
            }
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

/// 8-byte puts and the quiet of each, against raw stores to the same word with a full fence behind each:
/// nanoseconds for both.
///
/// # Panics
///
/// If `word` is not on this node.
pub fn put8_quiet<I: Stores>(token: &I, word: On<'_, u64>, repetitions: usize) -> Samples {
    let raw = near(word.ptr(token));
    let cost = || {
        let (token, word) = (black_box(token), black_box(word));
        nanoseconds_each(PASSES, || {
            for pass in 0..PASSES as u64 {
                token.p(word, pass);
                token.quiet();
            }
        })
    };
    let limit = || {
        nanoseconds_each(PASSES, || {
            // SAFETY: the place holds an aligned word and lives while the token does.
            (0..PASSES as u64).for_each(|pass| unsafe { baseline::fenced_store(raw, pass) });
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

/// Puts of a whole place, against the C library's `memcpy` into the same bytes: nanoseconds for each
/// byte.
///
/// # Panics
///
/// If `to` is not on this node, or is empty.
pub fn put<I: Stores>(token: &I, to: On<'_, [u8]>, repetitions: usize) -> Samples {
    let bytes = to.len();
    let count = transfers(bytes);
    let source = vec![1_u8; bytes];
    let start: *mut u8 = near(to.ptr(token)).cast();
    let cost = || {
        nanoseconds_each(count * bytes, || {
            for _ in 0..count {
                token.put(to, black_box(source.as_slice()));
            }
        })
    };
    let limit = || {
        nanoseconds_each(count * bytes, || {
            for _ in 0..count {
                let source = black_box(source.as_slice());
                // SAFETY: `start` is a place as long as the source, which is private memory.
                unsafe { baseline::memcpy(start, source.as_ptr(), source.len()) };
            }
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

/// A pointer that must be there, because what is measured is shared memory.
pub(super) fn near<T: ?Sized>(pointer: Option<*mut T>) -> *mut T {
    pointer
        .unwrap_or_else(|| panic!("the PE is not on this node: there is no limit to measure a transfer with"))
}
