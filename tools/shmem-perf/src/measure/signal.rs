//! What put with a signal costs, to a PE that waits for it.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;

use shmem::Contents;
use shmem::prelude::*;

use super::{At, Cases, Measure, row};
use crate::baseline::{self, End, LIMIT_WORDS, near, word_at};
use crate::bench::{Bench, Records};
use crate::check::{Bound, Guard, held_by_two};
use crate::goal::Goal;
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::{Done, Task};

pub(crate) const MEASURE: Measure = Measure {
    name: "signal",
    about: "Puts with a signal to a PE that waits for it, against a ping-pong of plain stores, one way",
    run: |runner, _| measure(runner),
    tasks: &[SIGNAL],
    rows: ROWS,
    guards: &[Guard::of("signal", measure, || {
        SIZES.map(|bytes| held_by_two(&format!("signal {bytes}"), Bound::Own(Goal::Ratio(1.5)))).into()
    })],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("signal | bytes; `8/read`: and the other PE reads them | `put_signal` to a PE that waits, one way | half a ping-pong \
         of plain stores: as many bytes by `memcpy` to the same place, and a word behind them",
        &[("signal ..512", At::Apart, Goal::Ratio(1.3)), ("signal */read", At::Apart, Goal::Ratio(1.3)),
        ("signal *", At::Apart, Goal::Ratio(1.5))]),
    // Two lines and more, against one.
    row("signal | bytes/line | the same | a cache line that goes from one core to the other, one way", &[]),
];

const SIGNAL: Task = Task::near("signal", signals);

pub(crate) fn measure(runner: &mut Runner) -> Done {
    runner.jobs(&SIGNAL, 2)
}

/// Round trips in one sample.
const TRIPS: u64 = 500;

/// Bytes of data that are sent.
const SIZES: [usize; 4] = [8, 64, 512, 4 << 10];

fn signals(bench: &mut Bench<'_>) -> Records {
    let (world, repetitions) = (bench.world, bench.repetitions);
    let object = world.alloc(zeroed::<u8>(SIZES[3]))?;
    let word = world.alloc(value(0_u64))?;
    let line = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let line = word_at(world, line.on(world.pe(0)?).index(0));
    let plain = "put with a signal to a PE that waits, against a ping-pong of plain stores, one way";
    let compared = "put with a signal to a PE that waits, against a cache line, one way";
    let mut records = Vec::new();
    for bytes in SIZES {
        let arrived = world.alloc(value(Signal::new(0)))?;
        let name = format!("signal {bytes}");
        if bytes == size_of::<u64>() {
            let pair = Pair::new(world, word.on(bench.other()), &7, &arrived);
            records.push(bench.record(&name, plain, pair.against_plain(|| (), repetitions)));
            let read = || _ = black_box(word.here(world).load());
            records.push(bench.record("signal 8/read", plain, pair.against_plain(read, repetitions)));
            records.push(bench.record(&(name + "/line"), compared, pair.against_line(line, repetitions)));
        } else {
            let source = vec![1; bytes];
            let pair = Pair::new(world, object.on(bench.other()).index(..bytes), &source[..], &arrived);
            records.push(bench.record(&name, plain, pair.against_plain(|| (), repetitions)));
            records.push(bench.record(&(name + "/line"), compared, pair.against_line(line, repetitions)));
        }
    }
    Ok(records)
}

/// Data that two PEs send each other, each with a signal behind them that the other one waits for. Both PEs have one.
struct Pair<'a, C: Contents<Item: PlainData> + ?Sized> {
    world: &'a World,
    place: On<'a, C>,
    source: &'a C,
    signal: &'a SymBox<Signal>,
    first: bool,
    /// Trips so far.
    trips: Cell<u64>,
}

impl<'a, C: Contents<Item: PlainData> + ?Sized> Pair<'a, C> {
    /// Of a place on the other PE and what is put there, and the other PE's signal.
    fn new(world: &'a World, place: On<'a, C>, source: &'a C, signal: &'a SymBox<Signal>) -> Self {
        Self { world, place, source, signal, first: world.my_pe() == 0, trips: Cell::new(0) }
    }

    /// Nanoseconds for one way, against half a ping-pong of plain stores to the same places. `read` is called whenever a
    /// signal has come.
    fn against_plain(&self, read: impl Fn(), repetitions: usize) -> Samples {
        let Self { world, place, source, signal, .. } = *self;
        let bytes = size_of_val(source);
        let mine = world.pe(world.my_pe()).unwrap_or_else(|_| unreachable!("a PE has its own number"));
        let [there, here] = [place.pe(), mine].map(|pe| {
            let counter = near(signal.on(pe).ptr(world)).cast();
            // SAFETY: a signal is an aligned word that is shared by atomics, and lives as long as `signal` is borrowed.
            unsafe { AtomicU64::from_ptr(counter) }
        });
        let (to, from) = (near(place.ptr(world)).cast(), source.start_of().cast());
        // SAFETY: the place is on this node (`near`) and has as many bytes as its source, of which both live as long as
        // this borrows them. They do not overlap: the source is the measure's own memory. Of 8 bytes it is a `u64`.
        let end = unsafe { End::new(to, from, bytes, there, here) };
        let limit = || self.timed(|trips| end.ping_pong(self.first, trips, &read));
        Samples::alternate(repetitions, || self.timed(|trips| self.ping_pong(trips, &read)), limit)
    }

    /// Nanoseconds for one way, against a cache line that goes from one core to the other.
    fn against_line(&self, line: &AtomicU64, repetitions: usize) -> Samples {
        let limit =
            || nanoseconds_each(2 * TRIPS as usize, || baseline::round_trips(line, self.first, TRIPS));
        Samples::alternate(repetitions, || self.timed(|trips| self.ping_pong(trips, || ())), limit)
    }

    /// What one way takes of the next round trips, which are numbered on.
    fn timed(&self, run: impl FnOnce(RangeInclusive<u64>)) -> f64 {
        let (begin, end) = (self.trips.get() + 1, self.trips.get() + TRIPS);
        self.trips.set(end);
        nanoseconds_each(2 * TRIPS as usize, || run(begin..=end))
    }

    fn ping_pong(&self, trips: RangeInclusive<u64>, read: impl Fn()) {
        let Self { world, place, source, signal, first, .. } = *self;
        let there = signal.on(place.pe());
        for trip in trips {
            if first {
                world.put_signal(place, black_box(source), there, SignalOp::Set(trip));
            }
            signal.wait_until(world, eq(trip));
            read();
            if !first {
                world.put_signal(place, black_box(source), there, SignalOp::Set(trip));
            }
        }
    }
}
