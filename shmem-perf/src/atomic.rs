//! What atomic operations that give something back cost.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use shmem_core::context::{Amo, Stores};
use shmem_core::object::{Atomic, On};

use super::put::near;
use super::samples::{Samples, nanoseconds_each};

/// Operations in one sample: some ten microseconds.
const OPERATIONS: usize = 5000;

/// Defines the operations on words of a width: each with the instruction that does the same.
macro_rules! operations {
    ($measure:ident, $number:ty, $atomic:ident: $($name:literal = $operation:ident $arguments:tt, $raw:expr;)*) => {
        /// Operations on a word of another PE, each against the same locked instruction on the same memory:
        /// their names, and nanoseconds for each.
        ///
        /// # Panics
        ///
        /// If `word` is not on this node.
        pub fn $measure<I: Stores>(
            token: &I,
            word: On<'_, Atomic<$number>>,
            repetitions: usize,
        ) -> Vec<(&'static str, Samples)> {
            let raw = near(word.ptr(token)).cast();
            // SAFETY: the place holds an aligned word and lives while the token does; no reference says that
            // it does not change.
            let raw = unsafe { $atomic::from_ptr(raw) };
            vec![$(($name, {
                let cost = || {
                    let (token, word) = (black_box(token), black_box(word));
                    nanoseconds_each(OPERATIONS, || {
                        #[allow(unused_variables, reason = "some operations have no argument")]
                        for value in 0..OPERATIONS as $number {
                            black_box(operations!(@ token, word, value, $operation $arguments));
                        }
                    })
                };
                let limit = || {
                    let raw: &$atomic = black_box(raw);
                    nanoseconds_each(OPERATIONS, || {
                        for value in 0..OPERATIONS as $number {
                            black_box(($raw)(raw, value));
                        }
                    })
                };
                Samples::alternate(repetitions, cost, limit)
            })),*]
        }
    };
    (@ $token:ident, $word:ident, $value:ident, $operation:ident()) => { $token.$operation($word) };
    (@ $token:ident, $word:ident, $value:ident, $operation:ident(_)) => { $token.$operation($word, $value) };
    (@ $token:ident, $word:ident, $value:ident, $operation:ident(_, _)) => {
        $token.$operation($word, $value, $value + 1)
    };
}
operations! {
    of_64_bits, u64, AtomicU64:
    "fetch-add/64" = fetch_add(_), |raw: &AtomicU64, v| raw.fetch_add(v, Ordering::SeqCst);
    "fetch-inc/64" = fetch_inc(), |raw: &AtomicU64, _| raw.fetch_add(1, Ordering::SeqCst);
    "swap/64" = swap(_), |raw: &AtomicU64, v| raw.swap(v, Ordering::SeqCst);
    "compare-swap/64" = compare_swap(_, _), |raw: &AtomicU64, v| {
        raw.compare_exchange(v, v + 1, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|before| before)
    };
    "fetch-xor/64" = fetch_xor(_), |raw: &AtomicU64, v| raw.fetch_xor(v, Ordering::SeqCst);
}
operations! {
    of_32_bits, u32, AtomicU32:
    "fetch-add/32" = fetch_add(_), |raw: &AtomicU32, v| raw.fetch_add(v, Ordering::SeqCst);
    "swap/32" = swap(_), |raw: &AtomicU32, v| raw.swap(v, Ordering::SeqCst);
}
