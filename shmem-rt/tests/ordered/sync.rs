//! Atomics, signals, waiting.

use shmem::prelude::*;

#[symmetric]
static COUNTER: Atomic<u64>;
#[symmetric]
static SMALL: [Atomic<i32>; 4];
#[symmetric]
static REAL: Atomic<f64>;
#[symmetric]
static READY: Signal;
#[symmetric]
static BOX: [u64; 512];
#[symmetric]
static SIGNALS: [Signal; 16];

#[shmem::test(pes = 4)]
fn concurrent_updates_lose_nothing(world: &mut World) {
    let root = world.pe(0).unwrap();
    let mut seen = Vec::new();
    for i in 0..2000 {
        match i % 3 {
            0 => world.inc(COUNTER.on(root)),
            1 => world.add(COUNTER.on(root), 1),
            _ => seen.push(world.fetch_inc(COUNTER.on(root))),
        }
    }
    world.barrier_all();
    assert_eq!(world.fetch(COUNTER.on(root)), 4 * 2000);
    assert!(seen.is_sorted_by(|a, b| a < b), "what one PE fetches only grows");
}

#[shmem::test(pes = 2)]
fn each_operation_does_what_it_says(world: &mut World) {
    if world.my_pe() == 0 {
        let there = SMALL.on(world.pe(1).unwrap());
        let word = there.index(1);
        world.set(word, -5);
        world.quiet();
        assert_eq!(world.swap(word, 12), -5);
        assert_eq!(world.compare_swap(word, 11, 99), 12, "not expected: unchanged");
        assert_eq!(world.compare_swap(word, 12, 0b1100), 12);
        assert_eq!(world.fetch_and(word, 0b0110), 0b1100);
        assert_eq!(world.fetch_or(word, 0b0001), 0b0100);
        assert_eq!(world.fetch_xor(word, 0b0111), 0b0101);
        assert_eq!(world.fetch_add(word, -3), 0b0010);
        assert_eq!(world.fetch(word), -1);
        assert_eq!(world.fetch(there.index(0)), 0, "the neighbours of a 32-bit word are untouched");
        assert_eq!(world.fetch(there.index(2)), 0);
        let real = REAL.on(world.pe(1).unwrap());
        world.set(real, 1.5);
        world.quiet();
        assert_eq!(world.swap(real, -0.25), 1.5);
        assert_eq!(world.compare_swap(real, -0.25, 8.0), -0.25);
        assert_eq!(world.fetch(real), 8.0);
    }
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn data_is_there_when_its_signal_is(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    for round in 1..=500 {
        world.put(BOX.on(east), &[round; 512]);
        world.fence();
        world.signal_set(READY.on(east), round);
        READY.wait_until(world, ge(round));
        let mut all = [0; 512];
        BOX.here(world).index(..).copy_to(&mut all);
        assert_eq!(all, [round; 512], "PE {west} signalled round {round}");
        world.barrier_all();
    }
}

#[shmem::test(pes = 16)]
fn sleepers_are_woken_when_pes_outnumber_cores(world: &mut World) {
    // A token goes round the ring: one PE runs, fifteen sleep.
    let (_, east) = world.ring_neighbours();
    for round in 1..=50 {
        if world.my_pe() != 0 {
            READY.wait_until(world, eq(round));
        }
        world.signal_add(READY.on(east), 1);
        if world.my_pe() == 0 {
            READY.wait_until(world, eq(round));
        }
    }
}

#[shmem::test(pes = 3)]
fn a_signal_of_each_neighbour(world: &mut World) {
    let me = world.my_pe();
    for pe in world.pes() {
        world.signal_add(SIGNALS.on(pe).index(me), me as u64 + 1);
    }
    for from in 0..world.n_pes() {
        let value = SIGNALS.here(world).index(from).wait_until(gt(0));
        assert_eq!(value, from as u64 + 1);
    }
    assert!(!SIGNALS.here(world).index(5).test(ne(0)));
    world.barrier_all();
    assert_eq!(world.signal_fetch(SIGNALS.on(world.pe(1).unwrap()).index(2)), 3);
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn all_conditions(world: &mut World) {
    let word = SMALL.here(world).index(0);
    world.set(SMALL.on(world.me()).index(0), -2);
    assert!(word.test(eq(-2)) && word.test(ne(2)) && word.test(lt(-1)) && word.test(le(-2)));
    assert!(word.test(gt(-3)) && word.test(ge(-2)));
    assert!(!word.test(eq(2)) && !word.test(ne(-2)) && !word.test(lt(-2)) && !word.test(le(-3)));
    assert!(!word.test(gt(-2)) && !word.test(ge(-1)));
    world.barrier_all();
}
