//! What a barrier costs.

use std::sync::atomic::AtomicU64;

use shmem::thread::ThreadLevel;
use shmem::{World, zeroed};
use shmem_core::object::On;

use crate::baseline::{self, FutexBarrier, near};
use crate::bench::{self, Bench, Records};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::names;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// What barriers cost.
pub const MEASURE: Measure = Measure {
    name: "barrier",
    about: "Barriers: of 2 PEs against a round trip of a cache line, of 16 against a futex barrier",
    run: |runner, _| [2, 16].into_iter().try_for_each(|pes| runner.jobs(&BARRIER, pes)),
    tasks: &[BARRIER],
    cases: &[cases(
        &["barrier"],
        "PEs",
        "`barrier_all`",
        "2: a round trip of a cache line; 16: a plain futex barrier",
    )],
    goal: |case| {
        goal_of(case, |Name::Barrier(pes)| match pes {
            2 if !case.shared_cores => Some(Goal::Ratio(3.0)),
            16 if case.shared_cores => Some(Goal::Ratio(2.0)),
            _ => None,
        })
    },
    again: again::<Name>,
    guards: &[Guard {
        // 1.2 where cores are near, 2.2 where they are far.
        cases: || vec![Guarded::side_by_side(Name::Barrier(2), Bound::Own(Goal::Ratio(6.0)))],
        ..Guard::of("barrier", |runner| runner.jobs(&BARRIER, 2))
    }],
    ..Measure::PLAIN
};

const BARRIER: Task = Task { name: "barrier", pe: |_, repetitions| bench::run(repetitions, meet) };

names! {
    Barrier(pes: usize) = "barrier": [pes];
}

fn meet(bench: &Bench<'_>) -> Records {
    let Bench { world, repetitions, site } = bench;
    let words = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let words = words.on(world.pe(0)?);
    let (samples, compared) = if site.pes == 2 && !site.shared_cores {
        let samples = against_round_trip(world, words, *repetitions);
        (samples, "barrier_all, against a round trip of a cache line between the two")
    } else {
        let samples = against_futex(world, words, *repetitions);
        (samples, "barrier_all, against a plain futex barrier of as many processes")
    };
    Ok(vec![bench.record(&Name::Barrier(site.pes), compared, samples)])
}

/// Barriers in one sample while every PE has a core.
const SPINNING: usize = 500;

/// Barriers in one sample while PEs share cores: each is a round of sleeping and waking.
const SLEEPING: usize = 20;

/// Words that the limits run on, on a line of their own. All zeroes to begin with.
pub const LIMIT_WORDS: usize = 16;

/// `barrier_all` of two PEs with a core each, against one round trip of a cache line between them:
/// nanoseconds for each. Both PEs call it; `words` lies on one of them.
///
/// # Panics
///
/// If `words` is not on this node, or is empty.
pub fn against_round_trip<L: ThreadLevel>(
    world: &World<L>,
    words: On<'_, [u64]>,
    repetitions: usize,
) -> Samples {
    let line = near(words.index(0).ptr(world));
    // SAFETY: the place holds an aligned word and lives while the world does; whatever else the program
    // does with it, no reference says that it does not change.
    let line = unsafe { AtomicU64::from_ptr(line) };
    let first = world.my_pe() == 0;
    let limit = || nanoseconds_each(SPINNING, || baseline::round_trips(line, first, SPINNING as u64));
    Samples::alternate(repetitions, || barriers(world, SPINNING), limit)
}

/// `barrier_all`, against a plain barrier of as many processes that sleep in the kernel:
/// nanoseconds for each. All PEs call it; `words` lies on one of them.
///
/// # Panics
///
/// If `words` is not on this node, has fewer than [`LIMIT_WORDS`], or does not start a cache line.
pub fn against_futex<L: ThreadLevel>(world: &World<L>, words: On<'_, [u64]>, repetitions: usize) -> Samples {
    const { assert!(size_of::<FutexBarrier>() <= LIMIT_WORDS * 8) };
    let barrier = FutexBarrier::at(near(words.index(..LIMIT_WORDS).ptr(world)).cast());
    let pes = world.n_pes() as u32;
    let limit = || nanoseconds_each(SLEEPING, || (0..SLEEPING).for_each(|_| barrier.wait(pes)));
    Samples::alternate(repetitions, || barriers(world, SLEEPING), limit)
}

/// Nanoseconds of one of `count` barriers.
pub(super) fn barriers<L: ThreadLevel>(world: &World<L>, count: usize) -> f64 {
    nanoseconds_each(count, || (0..count).for_each(|_| world.barrier_all()))
}
