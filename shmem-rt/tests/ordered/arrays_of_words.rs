//! Arrays of words that PEs read and write at once: by place, by their own copy, and as numbers in a phase.

use shmem::prelude::*;
use shmem::zeroed;

use crate::dice::Dice;

const BINS: usize = 33;

#[symmetric]
static BINS_OF_ALL: [Atomic<u64>; BINS];
#[symmetric]
static ARRIVED: [Signal; 3];

/// Every PE counts its samples in the bins of all PEs, each of which then reads the bins of another.
#[shmem::test(pes = 3)]
fn a_histogram_is_read_whole(world: &mut World) {
    let samples = |pe: usize| {
        let mut dice = Dice(pe as u64);
        (0..500).map(move |_| dice.below(BINS as u64) as usize)
    };
    for pe in world.pes() {
        world.set_all(BINS_OF_ALL.on(pe).index(1..3), &[100, 200]);
        world.fence();
    }
    world.barrier_all();
    for pe in world.pes() {
        samples(world.my_pe()).for_each(|bin| world.inc(BINS_OF_ALL.on(pe).index(bin)));
    }
    world.barrier_all();
    let mut expected = [0; BINS];
    (expected[1], expected[2]) = (100, 200);
    (0..world.n_pes()).flat_map(samples).for_each(|bin| expected[bin] += 1);
    let (_, to) = world.ring_neighbours();
    let mut found = vec![0; BINS];
    world.fetch_all(&mut found, BINS_OF_ALL.on(to));
    assert_eq!(found, expected);
    assert_eq!(BINS_OF_ALL.here(world).values(), expected);
    world.fetch_all(&mut found[..2], BINS_OF_ALL.on(to).index(5..7));
    assert_eq!(found[..2], expected[5..7]);

    // In a phase they are numbers.
    let largest = world.local(&BINS_OF_ALL, |bins| {
        Atomic::values_mut(bins).sort_unstable();
        bins[BINS - 1].value()
    });
    expected.sort_unstable();
    assert_eq!(largest, expected[BINS - 1]);
    world.frozen(&BINS_OF_ALL, |bins| assert!(bins.iter().map(Atomic::value).eq(expected)));
}

/// Words that are written by the array wake who waits for them.
#[shmem::test(pes = 2)]
fn what_is_written_by_the_array_is_waited_for(world: &mut World) {
    let words = world.alloc(zeroed::<Atomic<i32>>(64)).unwrap();
    let (from, to) = world.ring_neighbours();
    let numbers: Vec<i32> = (0..64).map(|i| i + 1 + 100 * world.my_pe() as i32).collect();
    world.set_all(words.on(to), &numbers);
    words.here(world).wait_until_all(ne(0));
    let found = words.here(world).values();
    assert!(found.iter().zip(1..).all(|(found, i)| *found == i + 100 * from.number() as i32), "{found:?}");
    world.signal_set(ARRIVED.on(to).index(2), 7);
    ARRIVED.here(world).index(2).wait_until(eq(7));
    assert_eq!(ARRIVED.here(world).values(), [0, 0, 7]);
    assert_eq!(ARRIVED.here(world).index(2).value(), 7);
}

/// What is read while others write: every word is one that somebody has written.
#[shmem::test(pes = 2)]
fn words_are_never_torn(world: &mut World) {
    let words = world.alloc(zeroed::<Atomic<u64>>(16)).unwrap();
    let first = words.on(world.pe(0).unwrap());
    let written = |round: u64| [round % 251 * 0x0101_0101_0101_0101; 16];
    for _ in 0..10 {
        world.barrier_all();
        for round in 0..200 {
            if world.my_pe() == 0 {
                world.set_all(first, &written(round));
                continue;
            }
            let mut found = [0; 16];
            world.fetch_all(&mut found, first);
            let is_whole = |number: &u64| number.is_multiple_of(0x0101_0101_0101_0101);
            assert!(found.iter().all(is_whole), "{found:x?}");
        }
    }
    world.barrier_all();
}
