//! What put with a signal costs, to a PE that waits for it.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::AtomicU64;

use shmem_core::context::{Place, PutSignal, SignalOp, eq};
use shmem_core::object::{On, Signal, SymBox};

use super::baseline;
use super::put::near;
use super::samples::{Samples, nanoseconds_each};
use shmem::World;
use shmem::thread::ThreadLevel;

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
