//! What put with a signal costs, to a PE that waits for it.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;

use shmem::Contents;
use shmem::prelude::*;

use super::*;
use crate::baseline::End;

pub(crate) const MEASURE: Measure = Measure {
    name: "signal",
    about: "Puts with a signal to a PE that waits for it, against a ping-pong of plain stores, one way",
    run: |runner, _| runner.jobs(&SIGNAL, 2),
    tasks: &[SIGNAL],
    rows: &[
        "signal ** | bytes; `8/read`: and the other PE reads them | `put_signal` to a PE that waits, one way | half a ping-pong \
         of plain stores: as many bytes by `memcpy` to the same place, and a word behind them | \
         ..512 apart 1.3; */read apart 1.3; * apart 1.5",
        // Two lines and more, against one.
        "signal */line | bytes/line | `put_signal` to a PE that waits, one way | a cache line that goes from one core to the \
         other, one way",
    ],
    guards: &[("signal", &["signal {8,64,512,4096} | 2 | 1.5"])],
    ..Measure::PLAIN
};

const SIGNAL: Task = Task::near("signal", signals);

/// Round trips in one sample.
const TRIPS: u64 = 500;

/// Bytes of data that are sent, beside a word.
const SIZES: [usize; 3] = [64, 512, 4 << 10];

fn signals(bench: &mut Bench<'_>) -> Done {
    let world = bench.world;
    let (object, word) = (world.alloc(zeroed::<u8>(SIZES[2]))?, world.alloc(value(0_u64))?);
    let line = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let line = word_at(world, line.on(world.pe(0)?).index(0));
    let arrived = world.alloc(value(Signal::new(0)))?;
    let pair = Pair::new(world, word.on(bench.other()), &7, &arrived);
    bench.pairs("signal 8", || pair.ours(|| ()), || pair.plain(|| ()));
    let read = || _ = black_box(word.here(world).load());
    bench.pairs("signal 8/read", || pair.ours(read), || pair.plain(read));
    bench.pairs("signal 8/line", || pair.ours(|| ()), || pair.line(line));
    for bytes in SIZES {
        let (arrived, source) = (world.alloc(value(Signal::new(0)))?, vec![1; bytes]);
        let pair = Pair::new(world, object.on(bench.other()).index(..bytes), &source[..], &arrived);
        bench.pairs(format!("signal {bytes}"), || pair.ours(|| ()), || pair.plain(|| ()));
        bench.pairs(format!("signal {bytes}/line"), || pair.ours(|| ()), || pair.line(line));
    }
    Ok(())
}

/// Data that two PEs send each other, each with a signal behind them that the other one waits for. Both PEs have one.
/// Times are nanoseconds for one way; `read` is called whenever a signal has come.
struct Pair<'a, C: Contents<Item: PlainData> + ?Sized> {
    world: &'a World,
    place: On<'a, C>,
    source: &'a C,
    signal: &'a SymBox<Signal>,
    /// The same by plain stores.
    end: End<'a>,
    first: bool,
    /// Trips so far.
    trips: Cell<u64>,
}

impl<'a, C: Contents<Item: PlainData> + ?Sized> Pair<'a, C> {
    /// Of a place on the other PE and what is put there, and the other PE's signal.
    fn new(world: &'a World, place: On<'a, C>, source: &'a C, signal: &'a SymBox<Signal>) -> Self {
        let mine = world.pe(world.my_pe()).unwrap_or_else(|_| unreachable!("a PE has its own number"));
        let [there, here] = [place.pe(), mine].map(|pe| {
            let counter = near(signal.on(pe).ptr(world)).cast();
            // SAFETY: a signal is an aligned word that is shared by atomics, and lives as long as `signal` is borrowed.
            unsafe { AtomicU64::from_ptr(counter) }
        });
        let (to, from) = (near(place.ptr(world)).cast(), source.start_of().cast());
        // SAFETY: the place is on this node (`near`) and has as many bytes as its source, of which both live as long as
        // this borrows them. They do not overlap: the source is the measure's own memory. Of 8 bytes it is a `u64`.
        let end = unsafe { End::new(to, from, size_of_val(source), there, here) };
        Self { world, place, source, signal, end, first: world.my_pe() == 0, trips: Cell::new(0) }
    }

    fn ours(&self, read: impl Fn()) -> f64 {
        let Self { world, place, source, signal, first, .. } = *self;
        let there = signal.on(place.pe());
        self.timed(|trips| {
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
        })
    }

    /// Half a ping-pong of plain stores to the same places.
    fn plain(&self, read: impl Fn()) -> f64 {
        self.timed(|trips| self.end.ping_pong(self.first, trips, read))
    }

    /// A cache line that goes from one core to the other.
    fn line(&self, line: &AtomicU64) -> f64 {
        baseline::round_trip(line, self.first, TRIPS as usize) / 2.0
    }

    /// The next round trips, which are numbered on.
    fn timed(&self, run: impl FnOnce(RangeInclusive<u64>)) -> f64 {
        let (begin, end) = (self.trips.get() + 1, self.trips.get() + TRIPS);
        self.trips.set(end);
        nanoseconds_each(2 * TRIPS as usize, || run(begin..=end))
    }
}
