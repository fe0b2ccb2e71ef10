//! Atomics, signals, waiting.

use shmem::prelude::*;

#[symmetric]
static SMALL: [Atomic<i32>; 4];
#[symmetric]
static REAL: Atomic<f64>;
#[symmetric]
static READY: Signal;

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
