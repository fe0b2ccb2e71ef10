//! Barriers, collective allocations, and puts with a signal to a waiting PE.

use shmem::Contents;

use super::*;
use crate::baseline::{memcpy, round_trip, wait_for};

pub(crate) const BARRIER: Measure = Measure {
    name: "barrier",
    run: Some(|runner| [2, 16].into_iter().try_for_each(|pes| runner.jobs("barrier", pes))),
    tasks: &[("barrier", Task::Near(meet))],
    ..Measure::PLAIN
};

pub(crate) const ALLOC: Measure =
    Measure { name: "alloc", tasks: &[("alloc", Task::Near(allocations))], ..Measure::PLAIN };

pub(crate) const SIGNAL: Measure =
    Measure { name: "signal", tasks: &[("signal", Task::Near(signals))], ..Measure::PLAIN };

/// Barriers in a sample, if every PE has a core. If PEs share cores, they sleep in each barrier, and a sample has [`SLEEPING`].
const SPINNING: usize = 500;
const SLEEPING: usize = 20;

fn meet(world: &mut World, bench: &Bench<'_>) -> Done {
    let (pes, first) = (world.n_pes(), world.my_pe() == 0);
    let words = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let words = words.on(world.pe(0)?);
    let name = format!("barrier {pes}");
    if pes == 2 && !bench.site.shared_cores {
        let line = word_at(world, words.index(0));
        bench.pairs(name, || barriers(world, SPINNING), || round_trip(line, first, SPINNING));
    } else {
        let barrier = FutexBarrier::on(world, words);
        bench.pairs(name, || barriers(world, SLEEPING), || each(SLEEPING, || barrier.wait(pes as u32)));
    }
    Ok(())
}

fn barriers(world: &World, count: usize) -> f64 {
    each(count, || world.barrier_all())
}

fn allocations(world: &mut World, bench: &Bench<'_>) -> Done {
    for bytes in [64, 4 << 10, 64 << 10, 1 << 20] {
        let both = || world.malloc(bytes).and_then(|block| world.free(block));
        // A first try, before any sample is taken: it fails on all PEs if the heap is too small.
        both()?;
        let mut failed = Ok(());
        let cost = || each(100, || failed = both().and(std::mem::replace(&mut failed, Ok(()))));
        bench.pairs(format!("alloc {bytes}"), cost, || 2.0 * barriers(world, 100));
        failed?;
    }
    Ok(())
}

const TRIPS: u64 = 500;

fn signals(world: &mut World, bench: &Bench<'_>) -> Done {
    let (world, pe) = (&*world, other(world));
    let (object, word) = (world.alloc(zeroed::<u8>(4 << 10))?, world.alloc(value(0_u64))?);
    let read = || _ = black_box(word.here(world).load());
    one_way(world, bench, "8", (word.on(pe), &7), || ())?;
    one_way(world, bench, "8/read", (word.on(pe), &7), read)?;
    for bytes in [64, 512, 4 << 10] {
        let transfer = (object.on(pe).index(..bytes), &vec![1; bytes][..]);
        one_way(world, bench, &bytes.to_string(), transfer, || ())?;
    }
    Ok(())
}

/// Measures puts with a signal between two PEs that answer each other, against plain stores, in nanoseconds for one way. Calls
/// `read` after each signal. Both PEs call it.
fn one_way<C: Contents<Item: PlainData> + ?Sized>(
    world: &World,
    bench: &Bench<'_>,
    case: &str,
    (place, source): (On<'_, C>, &C),
    read: impl Fn() + Copy,
) -> Done {
    let arrived = world.alloc(value(Signal::new(0)))?;
    let [there, here] = [place.pe(), world.me()].map(|pe| arrived.on(pe));
    let trips = Cell::new(0);
    let ours = || {
        let send = |trip| world.put_signal(place, black_box(source), there, SignalOp::Set(trip));
        ping_pong(world, &trips, send, |trip| _ = arrived.wait_until(world, eq(trip)), read)
    };
    // Plain stores to the same addresses: the data, then a counter that the other PE polls.
    let plain = || {
        let [there, here] = [there, here].map(|signal| word_at(world, signal));
        let (to, from): (*mut u8, *const u8) = (near(place.ptr(world)).cast(), source.start_of().cast());
        let bytes = size_of_val(source);
        let send = |trip| {
            if bytes == size_of::<u64>() {
                // SAFETY: the source is readable. If it has 8 bytes, its type is `u64`, so that it is aligned.
                let word = unsafe { from.cast::<u64>().read_volatile() };
                // SAFETY: the place has the type of the source, `u64`, and is mapped on this node (`near`).
                unsafe { to.cast::<u64>().write_volatile(word) };
            } else {
                // SAFETY: the place is mapped on this node, and has as many bytes as the source. Both are borrowed, so they stay
                // valid. They do not overlap, because the source is private memory.
                unsafe { memcpy(to, from, bytes) };
            }
            there.store(trip, Ordering::Release);
        };
        ping_pong(world, &trips, send, |trip| wait_for(here, trip), read)
    };
    bench.pairs(format!("signal {case}"), ours, plain);
    Ok(())
}

/// Returns the nanoseconds of one way, over [`TRIPS`] round trips with increasing numbers. PE 0 sends, and the other PE answers.
#[inline(always)]
fn ping_pong(
    world: &World,
    trips: &Cell<u64>,
    send: impl Fn(u64),
    wait: impl Fn(u64),
    read: impl Fn(),
) -> f64 {
    let (first, begin) = (world.my_pe() == 0, trips.get() + 1);
    trips.set(trips.get() + TRIPS);
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
