//! Locks: mutual exclusion in the order of arrival.

use shmem::Lock;
use shmem::prelude::*;
use shmem::thread::Multiple;

use crate::panics::refused;

#[symmetric]
static LOCK: Lock;
#[symmetric]
static MANY: [Lock; 5];
/// Not atomic, so that overlapping critical sections lose updates.
#[symmetric]
static TOTAL: [u64; 2];
#[symmetric]
static LIST: [usize; 6];
#[symmetric]
static TURN: Atomic<u64>;
#[symmetric]
static INSIDE: Atomic<u64>;

#[shmem::test(pes = 3)]
fn increments_under_a_lock_are_not_lost(world: &mut World<Multiple>) {
    const ROUNDS: u64 = 200;
    let (world, first) = (&*world, world.pe(0).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let guard = if round % 3 == 0 {
                        world.try_lock(&LOCK).unwrap_or_else(|| world.lock(&LOCK))
                    } else {
                        world.lock(&LOCK)
                    };
                    assert_eq!(world.fetch_inc(INSIDE.on(first)), 0, "nobody else is inside");
                    let before = world.g(TOTAL.on(first).index(0));
                    // Gives other PEs time to enter.
                    std::thread::yield_now();
                    world.p(TOTAL.on(first).index(0), before + 1);
                    assert_eq!(world.fetch_add(INSIDE.on(first), u64::MAX), 1);
                    drop(guard);
                }
            });
        }
    });
    world.barrier_all();
    assert_eq!(world.g(TOTAL.on(first).index(0)), 3 * ROUNDS * world.n_pes() as u64);
}

#[shmem::test(pes = 3)]
fn locks_of_an_array_are_independent(world: &mut World) {
    let boxed = world.alloc(shmem::zeroed::<Lock>(3)).unwrap();
    let single = world.alloc(shmem::value(Lock::new())).unwrap();
    let me = world.my_pe();
    // Each PE holds a lock of its own.
    let held = (world.lock((&MANY, me)), world.lock((&boxed, me)));
    world.barrier_all();
    assert!(world.try_lock((&MANY, (me + 1) % 3)).is_none());
    assert!(world.try_lock((&boxed, (me + 1) % 3)).is_none());
    world.barrier_all();
    drop(held);
    world.barrier_all();
    let guard = world.lock(&single);
    assert!(world.try_lock(&single).is_none(), "this very thread holds it");
    drop(guard);
    // A phase may open a lock.
    world.local(&LOCK, |lock| *lock = Lock::new());
    drop(world.lock(&LOCK));
}

#[shmem::test(pes = 4)]
fn who_comes_first_is_served_first(world: &mut World) {
    let [first, .., last] = [0, 1, 2, 3].map(|pe| world.pes()[pe]);
    for round in 1..=2 {
        // The last PE keeps the lock until the others wait for it, in the order of their numbers.
        let guard = if world.me() == last {
            let guard = world.lock(&LOCK);
            for pe in world.pes().iter().take(3) {
                world.set(TURN.on(pe), round);
                crate::pes::wait_for(world, pe);
            }
            guard
        } else {
            TURN.wait_until(world, eq(round));
            crate::pes::go(world, last);
            let guard = world.lock(&LOCK);
            let count = world.g(TOTAL.on(first).index(1));
            world.p(LIST.on(first).index(count as usize), world.my_pe());
            world.p(TOTAL.on(first).index(1), count + 1);
            guard
        };
        drop(guard);
        world.barrier_all();
    }
    assert!(world.me() != first || LIST.here(world).load() == [0, 1, 2, 0, 1, 2]);
}

#[shmem::test(pes = 2)]
fn what_cannot_be_is_said(world: &mut World) {
    let here = |line: u32| format!("shmem-rt/tests/ordered/lock.rs:{line}");
    if world.my_pe() == 0 {
        let (line, guard) = (line!(), world.lock(&LOCK));
        refused! {
            world.lock(&LOCK) => "`lock(LOCK)` at shmem-rt/tests/ordered/lock.rs:";
            world.lock(&LOCK) => format!("since {}; drop the guard first", here(line));
        }
        drop(guard);
        // The refused call has left the lock free.
        drop(world.lock(&LOCK));
    }
    world.barrier_all();
    drop(world.lock(&LOCK));
}
