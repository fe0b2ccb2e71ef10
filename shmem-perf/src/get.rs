//! What a get costs.

use std::hint::black_box;

use shmem_core::context::{Initiator, Rma};
use shmem_core::object::On;

use super::baseline;
use super::put::{near, transfers};
use super::samples::{Samples, nanoseconds_each};

/// Gets of a whole place, against the C library's `memcpy` out of the same bytes: nanoseconds for
/// each byte.
///
/// # Panics
///
/// If `from` is not on this node, or is empty.
pub fn get<I: Initiator>(token: &I, from: On<'_, [u8]>, repetitions: usize) -> Samples {
    let bytes = from.len();
    let count = transfers(bytes);
    let start: *const u8 = near(from.ptr(token)).cast();
    let into = std::cell::RefCell::new(vec![0_u8; bytes]);
    let cost = || {
        let into = &mut *into.borrow_mut();
        nanoseconds_each(count * bytes, || {
            for _ in 0..count {
                token.get(black_box(into.as_mut_slice()), from);
            }
        })
    };
    let limit = || {
        let into = &mut *into.borrow_mut();
        nanoseconds_each(count * bytes, || {
            for _ in 0..count {
                let into = black_box(into.as_mut_slice());
                // SAFETY: `start` is a place as long as `into`, which is private memory.
                unsafe { baseline::memcpy(into.as_mut_ptr(), start, into.len()) };
            }
        })
    };
    Samples::alternate(repetitions, cost, limit)
}
