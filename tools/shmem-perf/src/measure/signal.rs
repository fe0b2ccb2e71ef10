//! What put with a signal costs, to a PE that waits for it.

use shmem::Contents;

use super::*;
use crate::baseline::{memcpy, round_trip, wait_for};

pub(crate) const MEASURE: Measure = Measure {
    name: "signal",
    about: "Puts with a signal to a PE that waits for it, against a ping-pong of plain stores, one way",
    tasks: &[("signal", Task::Near(signals))],
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

/// Round trips in one sample.
const TRIPS: u64 = 500;

/// Bytes of data that are sent, beside a word.
const SIZES: [usize; 3] = [64, 512, 4 << 10];

fn signals(world: &mut World, bench: &Bench<'_>) -> Done {
    let (world, pe) = (&*world, other(world));
    let (object, word) = (world.alloc(zeroed::<u8>(SIZES[2]))?, world.alloc(value(0_u64))?);
    let line = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let line = word_at(world, line.on(world.pe(0)?).index(0));
    let one_way = || round_trip(line, world.my_pe() == 0, TRIPS as usize) / 2.0;
    let arrived = world.alloc(value(Signal::new(0)))?;
    let pair = Pair { world, place: word.on(pe), source: &7, signal: &arrived, trips: Cell::new(0) };
    pair.measure(bench, "8", || ());
    pair.measure(bench, "8/read", || _ = black_box(word.here(world).load()));
    bench.pairs("signal 8/line", || pair.ours(|| ()), one_way);
    for bytes in SIZES {
        let (arrived, source) = (world.alloc(value(Signal::new(0)))?, &vec![1; bytes][..]);
        let place = object.on(pe).index(..bytes);
        let pair = Pair { world, place, source, signal: &arrived, trips: Cell::new(0) };
        pair.measure(bench, &bytes.to_string(), || ());
        bench.pairs(format!("signal {bytes}/line"), || pair.ours(|| ()), one_way);
    }
    Ok(())
}

/// Data that two PEs send each other, each with a signal behind them that the other one waits for. Both PEs have one.
/// Times are nanoseconds for one way; `read` is called whenever a signal has come.
struct Pair<'a, C: Contents<Item: PlainData> + ?Sized> {
    world: &'a World,
    /// On the other PE.
    place: On<'a, C>,
    source: &'a C,
    signal: &'a SymBox<Signal>,
    /// Trips so far.
    trips: Cell<u64>,
}

impl<C: Contents<Item: PlainData> + ?Sized> Pair<'_, C> {
    fn measure(&self, bench: &Bench<'_>, case: &str, read: impl Fn() + Copy) {
        bench.pairs(format!("signal {case}"), || self.ours(read), || self.plain(read));
    }

    fn ours(&self, read: impl Fn()) -> f64 {
        let Self { world, place, source, signal, .. } = *self;
        let there = signal.on(place.pe());
        let send = |trip| world.put_signal(place, black_box(source), there, SignalOp::Set(trip));
        self.ping_pong(send, |trip| _ = signal.wait_until(world, eq(trip)), read)
    }

    /// By plain stores to the same places: data, and behind them a counter that the other PE waits for.
    fn plain(&self, read: impl Fn()) -> f64 {
        let Self { world, place, source, signal, .. } = *self;
        let mine = world.pe(world.my_pe()).unwrap_or_else(|_| unreachable!("a PE has its own number"));
        let [there, here] = [place.pe(), mine].map(|pe| {
            let counter = near(signal.on(pe).ptr(world)).cast();
            // SAFETY: a signal is an aligned word that is shared by atomics, and lives as long as `signal` is borrowed.
            unsafe { AtomicU64::from_ptr(counter) }
        });
        let (to, from): (*mut u8, *const u8) = (near(place.ptr(world)).cast(), source.start_of().cast());
        let bytes = size_of_val(source);
        let send = |trip| {
            if bytes == size_of::<u64>() {
                // SAFETY: of 8 bytes the source is a `u64`.
                let word = unsafe { from.cast::<u64>().read_volatile() };
                // SAFETY: and so is the place, which is on this node (`near`).
                unsafe { to.cast::<u64>().write_volatile(word) };
            } else {
                // SAFETY: the place is on this node and has as many bytes as its source, of which both live as long as they are
                // borrowed here. They do not overlap: the source is the measure's own memory.
                unsafe { memcpy(to, from, bytes) };
            }
            there.store(trip, Ordering::Release);
        };
        self.ping_pong(send, |trip| wait_for(here, trip), read)
    }

    /// The next round trips, which are numbered on: PE 0 sends, and then waits for as much of its own; the other one answers.
    #[inline(always)]
    fn ping_pong(&self, send: impl Fn(u64), wait: impl Fn(u64), read: impl Fn()) -> f64 {
        let (first, begin) = (self.world.my_pe() == 0, self.trips.get() + 1);
        self.trips.set(self.trips.get() + TRIPS);
        nanoseconds_each(2 * TRIPS as usize, || {
            for trip in begin..begin + TRIPS {
                if first {
                    send(trip);
                }
                wait(trip);
                read();
                if !first {
                    send(trip);
                }
            }
        })
    }
}
