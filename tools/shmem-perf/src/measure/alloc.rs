//! What a collective allocation costs.

use shmem::thread::ThreadLevel;
use shmem::{Result, World};

use crate::bench::{self, Bench, Records};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::barrier::barriers;
use crate::measure::form::{Measure, again, cases};
use crate::name::names;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// What collective allocations cost.
pub const MEASURE: Measure = Measure {
    name: "alloc",
    about: "Collective allocations, against the barriers that they need",
    run: |runner, _| runner.jobs(&ALLOC, 2),
    tasks: &[ALLOC],
    cases: &[cases(&["alloc"], "bytes", "collective `malloc` and `free`", "two barriers")],
    again: again::<Name>,
    guards: &[Guard {
        // 2.3 where cores are far from each other, and 4 where they are near: then barriers cost less, and the rest does not.
        cases: || {
            vec![
                Guarded::side_by_side(Name::Alloc(64), Bound::Own(Goal::Ratio(12.0))),
                Guarded::side_by_side(Name::Alloc(64 << 10), Bound::Own(Goal::Ratio(12.0))),
            ]
        },
        ..Guard::of("alloc", |runner| runner.jobs(&ALLOC, 2))
    }],
    ..Measure::PLAIN
};

const ALLOC: Task = Task { name: "alloc", pe: |_, repetitions| bench::run(repetitions, allocations) };

names! {
    Alloc(bytes: usize) = "alloc": [bytes];
}

fn allocations(bench: &Bench<'_>) -> Records {
    let of_size = |&bytes: &usize| {
        let samples = alloc(bench.world, bytes, bench.repetitions)?;
        let compared = "allocating and freeing bytes, against two barriers";
        Ok(bench.record(&Name::Alloc(bytes), compared, samples))
    };
    SIZES.iter().map(of_size).collect()
}

/// Sizes that [`alloc`] is measured with, in bytes.
pub const SIZES: [usize; 4] = [64, 4 << 10, 64 << 10, 1 << 20];

/// Allocations in one sample.
const COUNT: usize = 100;

/// Allocating bytes on the default heap and freeing them, against the two barriers without which
/// neither is possible: nanoseconds for each pair. All PEs call it.
///
/// # Errors
///
/// If the default heap has no room for `bytes` bytes.
pub fn alloc<L: ThreadLevel>(world: &World<L>, bytes: usize, repetitions: usize) -> Result<Samples> {
    // Says on all PEs whether there is room, so that the samples need not.
    world.free(world.malloc(bytes)?)?;
    let both = || world.malloc(bytes).and_then(|block| world.free(block));
    let mut failed = None;
    let cost = || {
        nanoseconds_each(COUNT, || {
            for _ in 0..COUNT {
                if let Err(error) = both() {
                    failed = Some(error);
                }
            }
        })
    };
    let samples = Samples::alternate(repetitions, cost, || 2.0 * barriers(world, COUNT));
    failed.map_or(Ok(samples), Err)
}
