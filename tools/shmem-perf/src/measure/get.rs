//! What a get costs.

use std::hint::black_box;

use shmem::zeroed;
use shmem_core::context::{Initiator, Rma};
use shmem_core::object::On;

use crate::baseline;
use crate::baseline::near;
use crate::bench::{self, Bench, Records};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::put::{SIZES, bandwidth, transfers};
use crate::name::names;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// What gets cost.
pub const MEASURE: Measure = Measure {
    name: "get",
    about: "Gets of 1 byte to 4 MiB, against `memcpy`",
    run: |runner, _| runner.jobs(&GET, 2),
    tasks: &[GET],
    cases: &[cases(&["get"], "bytes", "a get of a slice", "the C library's `memcpy` on the same bytes")],
    goal: |case| goal_of(case, |Name::Get(bytes)| bandwidth(bytes)),
    again: again::<Name>,
    guards: &[Guard {
        cases: || {
            vec![
                Guarded::new(Name::Get(8), Bound::Own(Goal::Ratio(3.0))),
                Guarded::new(Name::Get(4 << 10), Bound::Eased(3.0)),
                Guarded::new(Name::Get(64 << 10), Bound::Eased(3.0)),
            ]
        },
        ..Guard::of("get", |runner| runner.jobs(&GET, 2))
    }],
    ..Measure::PLAIN
};

const GET: Task = Task { name: "get", pe: |_, repetitions| bench::run(repetitions, gets) };

names! {
    Get(bytes: usize) = "get": [bytes];
}

fn gets(bench: &Bench<'_>) -> Records {
    let Bench { world, repetitions, .. } = *bench;
    let object = world.alloc(zeroed::<u8>(4 << 20))?;
    let from = object.on(bench.other());
    Ok(bench.alone(|| {
        let sizes = SIZES.iter().map(|&bytes| {
            let samples = get(world, from.index(..bytes), repetitions);
            let compared = "a get, against memcpy out of the same bytes; time for each byte";
            bench.record(&Name::Get(bytes), compared, samples)
        });
        sizes.collect()
    }))
}

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
