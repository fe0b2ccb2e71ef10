//! What a collective allocation costs.

use super::barrier::barriers;
use super::{Cases, Measure, row};
use crate::bench::{Bench, Records};
use crate::check::{Bound, Guard, held_by_two};
use crate::goal::Goal;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

pub(crate) const MEASURE: Measure = Measure {
    name: "alloc",
    about: "Collective allocations, against the barriers that they need",
    run: |runner, _| runner.jobs(&ALLOC, 2),
    tasks: &[ALLOC],
    rows: ROWS,
    // 2.3 where cores are far from each other, and 4 where they are near: then barriers cost less, and the rest does not.
    guards: &[Guard::of(
        "alloc",
        |runner| runner.jobs(&ALLOC, 2),
        || ["alloc 64", "alloc 65536"].map(|name| held_by_two(name, Bound::Own(Goal::Ratio(12.0)))).into(),
    )],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("alloc | bytes | collective `malloc` and `free` | two barriers", &[]),
];

const ALLOC: Task = Task::near("alloc", allocations);

/// Allocations in one sample.
const COUNT: usize = 100;

fn allocations(bench: &mut Bench<'_>) -> Records {
    let world = bench.world;
    let of_size = |bytes: usize| {
        let both = || world.malloc(bytes).and_then(|block| world.free(block));
        // Says on all PEs whether there is room, so that the samples need not.
        both()?;
        let mut failed = Ok(());
        let cost = || {
            nanoseconds_each(COUNT, || {
                for _ in 0..COUNT {
                    failed = both().and(std::mem::replace(&mut failed, Ok(())));
                }
            })
        };
        let samples = Samples::alternate(bench.repetitions, cost, || 2.0 * barriers(world, COUNT));
        failed?;
        Ok(bench.record(
            &format!("alloc {bytes}"),
            "allocating and freeing bytes, against two barriers",
            samples,
        ))
    };
    [64, 4 << 10, 64 << 10, 1 << 20].into_iter().map(of_size).collect()
}
