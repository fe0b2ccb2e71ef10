//! What put with a signal costs, to a PE that waits for it.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::AtomicU64;

use shmem::thread::ThreadLevel;
use shmem::{World, value, zeroed};
use shmem_core::context::{Place, PutSignal, SignalOp, eq};
use shmem_core::object::{On, Signal, SymBox};

use crate::baseline;
use crate::baseline::near;
use crate::bench::{self, Bench, Records};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::barrier::LIMIT_WORDS;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::names;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// What puts with a signal cost.
pub const MEASURE: Measure = Measure {
    name: "signal",
    about: "Puts with a signal to a PE that waits for it, against a cache line that goes one way",
    run: |runner, _| runner.jobs(&SIGNAL, 2),
    tasks: &[SIGNAL],
    cases: &[cases(
        &["signal"],
        "bytes; `8/read`: and the other PE reads them",
        "`put_signal` to a PE that waits, one way",
        "a cache line that goes from one core to the other, one way",
    )],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Bytes(8) if !case.shared_cores => Some(Goal::Ratio(1.15)),
            // Data that is larger, or that is read as well, is more than one line.
            Name::Bytes(_) | Name::Read => None,
        })
    },
    again: again::<Name>,
    guards: &[Guard {
        // Two lines and what wakes whoever sleeps, against one line: 1.1 to 2.6.
        cases: || vec![Guarded::side_by_side(Name::Bytes(8), Bound::Own(Goal::Ratio(6.0)))],
        ..Guard::of("signal", |runner| runner.jobs(&SIGNAL, 2))
    }],
    ..Measure::PLAIN
};

const SIGNAL: Task = Task { name: "signal", pe: |_, repetitions| bench::run(repetitions, signals) };

names! {
    Bytes(bytes: usize) = "signal": [bytes];
    Read = "signal": ["8" / "read"];
}

fn signals(bench: &Bench<'_>) -> Records {
    let Bench { world, repetitions, .. } = *bench;
    let object = world.alloc(zeroed::<u8>(*SIZES.iter().max().unwrap_or(&0)))?;
    let word = world.alloc(value(0_u64))?;
    let line = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let line = line.on(world.pe(0)?);
    let compared = "put with a signal to a PE that waits, against a cache line, one way";
    let arrived = world.alloc(value(Signal::new(0)))?;
    let to = word.on(bench.other());
    let samples = one_way(world, to, &7, &arrived, line, || (), repetitions);
    let mut records = vec![bench.record(&Name::Bytes(8), compared, samples)];
    let arrived = world.alloc(value(Signal::new(0)))?;
    let read = || _ = black_box(word.here(world).load());
    let samples = one_way(world, to, &7, &arrived, line, read, repetitions);
    records.push(bench.record(&Name::Read, compared, samples));
    for bytes in SIZES {
        let arrived = world.alloc(value(Signal::new(0)))?;
        let (place, source) = (object.on(bench.other()).index(..bytes), vec![1; bytes]);
        let samples = one_way(world, place, &source[..], &arrived, line, || (), repetitions);
        records.push(bench.record(&Name::Bytes(bytes), compared, samples));
    }
    Ok(records)
}

/// Round trips in one sample.
const TRIPS: u64 = 500;

/// Bytes of data that are sent.
pub const SIZES: [usize; 3] = [64, 512, 4 << 10];

/// `source` put to `place` on the other of two PEs, with a signal behind it for which that PE waits, against a
/// cache line that goes from one core to the other: nanoseconds for one way of each. Both PEs call it, each
/// with a place on the other; `line` lies on one of them, all zeroes to begin with, as is `signal`. `read` is
/// called whenever the signal has come.
///
/// # Panics
///
/// If `line` is not on this node, or is empty; or if `source` has not the length of `place`.
pub fn one_way<L: ThreadLevel, P: Place>(
    world: &World<L>,
    place: P,
    source: &P::Contents,
    signal: &SymBox<Signal>,
    line: On<'_, [u64]>,
    read: impl Fn(),
    repetitions: usize,
) -> Samples {
    let line = near(line.index(0).ptr(world));
    // SAFETY: the place holds an aligned word and lives while the world does; whatever else the program
    // does with it, no reference says that it does not change.
    let line = unsafe { AtomicU64::from_ptr(line) };
    let first = world.my_pe() == 0;
    let there = signal.on(place.pe_of());
    let trips = Cell::new(0);
    let cost = || {
        let (begin, end) = (trips.get() + 1, trips.get() + TRIPS);
        trips.set(end);
        nanoseconds_each(2 * TRIPS as usize, || {
            for trip in begin..=end {
                if first {
                    world.put_signal(place, black_box(source), there, SignalOp::Set(trip));
                }
                signal.wait_until(world, eq(trip));
                read();
                if !first {
                    world.put_signal(place, black_box(source), there, SignalOp::Set(trip));
                }
            }
        })
    };
    let limit = || nanoseconds_each(2 * TRIPS as usize, || baseline::round_trips(line, first, TRIPS));
    Samples::alternate(repetitions, cost, limit)
}
