//! What atomic operations that give something back cost.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use shmem::prelude::*;
use shmem::value;

use super::{At, Cases, Measure, row};
use crate::baseline::near;
use crate::bench::{Bench, Records};
use crate::check::{Bound, Guard, held};
use crate::goal::Goal;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

pub(crate) const MEASURE: Measure = Measure {
    name: "atomic",
    about: "Atomic operations on a word of another PE, against the same locked instructions",
    run: |runner, _| runner.jobs(&ATOMIC, 2),
    tasks: &[ATOMIC],
    rows: ROWS,
    guards: &[Guard::of(
        "atomic",
        |runner| runner.jobs(&ATOMIC, 2),
        || {
            vec![
                held("atomic fetch-add/64", Bound::Eased(3.0)),
                held("atomic compare-swap/64", Bound::Eased(3.0)),
            ]
        },
    )],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("atomic | operation/bits | fetching atomic operations on a word of another PE | the same locked instruction on the \
         same word", &[("atomic **", At::Anywhere, Goal::Ratio(1.2))]),
];

const ATOMIC: Task = Task::near("atomic", words);

fn words(bench: &mut Bench<'_>) -> Records {
    let (world, repetitions) = (bench.world, bench.repetitions);
    let (wide, narrow) = (world.alloc(value(Atomic::new(0_u64)))?, world.alloc(value(Atomic::new(0_u32)))?);
    let done = world.alloc(value(0_u64))?;
    let cases = bench.absent(&done, || {
        let wide = of_64_bits(world, wide.on(bench.other()), repetitions);
        wide.into_iter().chain(of_32_bits(world, narrow.on(bench.other()), repetitions)).collect::<Vec<_>>()
    });
    let compared = "an atomic operation on another PE, against the same locked instruction";
    Ok(cases.into_iter().map(|(name, samples)| bench.record(name, compared, samples)).collect())
}

/// Operations in one sample: some ten microseconds.
const OPERATIONS: usize = 5000;

/// Defines the operations on words of a width: each with the instruction that does the same.
macro_rules! operations {
    ($measure:ident, $number:ty, $atomic:ident: $($name:literal = $operation:ident $arguments:tt, $raw:expr;)*) => {
        /// Operations on a word of another PE, each against the same locked instruction on the same memory:
        /// their names, and nanoseconds for each.
        fn $measure(world: &World, word: On<'_, Atomic<$number>>, repetitions: usize) -> Vec<(&'static str, Samples)> {
            let raw = near(word.ptr(world)).cast();
            // SAFETY: the place holds an aligned word and lives while the world does; no reference says that
            // it does not change.
            let raw = unsafe { $atomic::from_ptr(raw) };
            vec![$(($name, {
                let cost = || {
                    let (world, word) = (black_box(world), black_box(word));
                    nanoseconds_each(OPERATIONS, || {
                        #[allow(unused_variables, reason = "some operations have no argument")]
                        for value in 0..OPERATIONS as $number {
                            black_box(operations!(@ world, word, value, $operation $arguments));
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
    (@ $world:ident, $word:ident, $value:ident, $operation:ident()) => { $world.$operation($word) };
    (@ $world:ident, $word:ident, $value:ident, $operation:ident(_)) => { $world.$operation($word, $value) };
    (@ $world:ident, $word:ident, $value:ident, $operation:ident(_, _)) => {
        $world.$operation($word, $value, $value + 1)
    };
}
operations! {
    of_64_bits, u64, AtomicU64:
    "atomic fetch-add/64" = fetch_add(_), |raw: &AtomicU64, v| raw.fetch_add(v, Ordering::SeqCst);
    "atomic fetch-inc/64" = fetch_inc(), |raw: &AtomicU64, _| raw.fetch_add(1, Ordering::SeqCst);
    "atomic swap/64" = swap(_), |raw: &AtomicU64, v| raw.swap(v, Ordering::SeqCst);
    "atomic compare-swap/64" = compare_swap(_, _), |raw: &AtomicU64, v| {
        raw.compare_exchange(v, v + 1, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|before| before)
    };
    "atomic fetch-xor/64" = fetch_xor(_), |raw: &AtomicU64, v| raw.fetch_xor(v, Ordering::SeqCst);
}
operations! {
    of_32_bits, u32, AtomicU32:
    "atomic fetch-add/32" = fetch_add(_), |raw: &AtomicU32, v| raw.fetch_add(v, Ordering::SeqCst);
    "atomic swap/32" = swap(_), |raw: &AtomicU32, v| raw.swap(v, Ordering::SeqCst);
}
