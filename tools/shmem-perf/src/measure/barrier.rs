//! What a barrier costs.

use shmem::{World, zeroed};

use super::{At, Cases, Measure, row};
use crate::baseline::{self, FutexBarrier, LIMIT_WORDS, word_at};
use crate::bench::{Bench, Records};
use crate::check::{Bound, Guard, held_by_two};
use crate::goal::Goal;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

pub(crate) const MEASURE: Measure = Measure {
    name: "barrier",
    about: "Barriers: of 2 PEs against a round trip of a cache line, of 16 against a futex barrier",
    run: |runner, _| [2, 16].into_iter().try_for_each(|pes| runner.jobs(&BARRIER, pes)),
    tasks: &[BARRIER],
    rows: ROWS,
    // 1.2 where cores are near, 2.2 where they are far.
    guards: &[Guard::of(
        "barrier",
        |runner| runner.jobs(&BARRIER, 2),
        || vec![held_by_two("barrier 2", Bound::Own(Goal::Ratio(6.0)))],
    )],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("barrier | PEs | `barrier_all` | 2: a round trip of a cache line; 16: a plain futex barrier",
        &[("barrier 2", At::Apart, Goal::Ratio(3.0)), ("barrier 16", At::Shared, Goal::Ratio(2.0))]),
];

const BARRIER: Task = Task::near("barrier", meet);

/// Barriers in one sample while every PE has a core, and while PEs share cores: each is a round of sleeping and waking.
const SPINNING: usize = 500;
const SLEEPING: usize = 20;

fn meet(bench: &mut Bench<'_>) -> Records {
    let world = bench.world;
    let words = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let (pes, words) = (world.n_pes(), words.on(world.pe(0)?));
    let (samples, compared) = if pes == 2 && !bench.site.shared_cores {
        let (line, first) = (word_at(world, words.index(0)), world.my_pe() == 0);
        let limit = || nanoseconds_each(SPINNING, || baseline::round_trips(line, first, SPINNING as u64));
        let samples = Samples::alternate(bench.repetitions, || barriers(world, SPINNING), limit);
        (samples, "barrier_all, against a round trip of a cache line between the two")
    } else {
        let barrier = FutexBarrier::on(world, words);
        let limit = || nanoseconds_each(SLEEPING, || (0..SLEEPING).for_each(|_| barrier.wait(pes as u32)));
        let samples = Samples::alternate(bench.repetitions, || barriers(world, SLEEPING), limit);
        (samples, "barrier_all, against a plain futex barrier of as many processes")
    };
    Ok(vec![bench.record(&format!("barrier {pes}"), compared, samples)])
}

/// Nanoseconds of one of `count` barriers.
pub(super) fn barriers(world: &World, count: usize) -> f64 {
    nanoseconds_each(count, || (0..count).for_each(|_| world.barrier_all()))
}
