//! What atomic operations that give something back cost.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use shmem::{Rma as _, value};
use shmem_core::context::{Amo, Stores};
use shmem_core::object::{Atomic, On};

use crate::baseline::near;
use crate::bench::{self, Bench, Records};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::{names, words};
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// What atomic operations cost.
pub const MEASURE: Measure = Measure {
    name: "atomic",
    about: "Atomic operations on a word of another PE, against the same locked instructions",
    run: |runner, _| runner.jobs(&ATOMIC, 2),
    tasks: &[ATOMIC],
    cases: &[cases(
        &["atomic"],
        "operation/bits",
        "fetching atomic operations on a word of another PE",
        "the same locked instruction on the same word",
    )],
    goal: |case| goal_of(case, |Name::Atomic(..)| Some(Goal::Ratio(1.2))),
    again: again::<Name>,
    guards: &[Guard {
        cases: || {
            vec![
                Guarded::new(Name::Atomic(Operation::FetchAdd, 64), Bound::Eased(3.0)),
                Guarded::new(Name::Atomic(Operation::CompareSwap, 64), Bound::Eased(3.0)),
            ]
        },
        ..Guard::of("atomic", |runner| runner.jobs(&ATOMIC, 2))
    }],
    ..Measure::PLAIN
};

const ATOMIC: Task = Task { name: "atomic", pe: |_, repetitions| bench::run(repetitions, words) };

names! {
    Atomic(operation: Operation, bits: usize) = "atomic": [operation / bits];
}

words! {
    /// What is done to a word.
    Operation {
        FetchAdd = "fetch-add", FetchInc = "fetch-inc", Swap = "swap", CompareSwap = "compare-swap",
        FetchXor = "fetch-xor",
    }
}

fn words(bench: &Bench<'_>) -> Records {
    let Bench { world, repetitions, .. } = *bench;
    let (wide, narrow) = (world.alloc(value(Atomic::new(0_u64)))?, world.alloc(value(Atomic::new(0_u32)))?);
    // The other one is absent, not asleep in the library: an update would wake it.
    let done = world.alloc(value(0_u64))?;
    world.barrier_all();
    if world.my_pe() != 0 {
        while done.here(world).load() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        return Ok(Vec::new());
    }
    let mut cases = of_64_bits(world, wide.on(bench.other()), repetitions);
    cases.extend(of_32_bits(world, narrow.on(bench.other()), repetitions));
    world.p(done.on(bench.other()), 1);
    let compared = "an atomic operation on another PE, against the same locked instruction";
    Ok(cases.into_iter().map(|(name, samples)| bench.record(&name, compared, samples)).collect())
}

/// Operations in one sample: some ten microseconds.
const OPERATIONS: usize = 5000;

/// Defines the operations on words of a width: each with the instruction that does the same.
macro_rules! operations {
    ($measure:ident, $number:ty, $atomic:ident: $($name:ident = $operation:ident $arguments:tt, $raw:expr;)*) => {
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
        ) -> Vec<(Name, Samples)> {
            let raw = near(word.ptr(token)).cast();
            // SAFETY: the place holds an aligned word and lives while the token does; no reference says that
            // it does not change.
            let raw = unsafe { $atomic::from_ptr(raw) };
            vec![$((Name::Atomic(Operation::$name, <$number>::BITS as usize), {
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
    FetchAdd = fetch_add(_), |raw: &AtomicU64, v| raw.fetch_add(v, Ordering::SeqCst);
    FetchInc = fetch_inc(), |raw: &AtomicU64, _| raw.fetch_add(1, Ordering::SeqCst);
    Swap = swap(_), |raw: &AtomicU64, v| raw.swap(v, Ordering::SeqCst);
    CompareSwap = compare_swap(_, _), |raw: &AtomicU64, v| {
        raw.compare_exchange(v, v + 1, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|before| before)
    };
    FetchXor = fetch_xor(_), |raw: &AtomicU64, v| raw.fetch_xor(v, Ordering::SeqCst);
}
operations! {
    of_32_bits, u32, AtomicU32:
    FetchAdd = fetch_add(_), |raw: &AtomicU32, v| raw.fetch_add(v, Ordering::SeqCst);
    Swap = swap(_), |raw: &AtomicU32, v| raw.swap(v, Ordering::SeqCst);
}
