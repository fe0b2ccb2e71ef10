//! Words that all PEs change and read at the same time: sums and bounds of integers and floating-point numbers, and arrays, by
//! place, by their own copy, and as numbers in a phase.

use std::iter::Sum;

use shmem::AmoValue;
use shmem::prelude::*;

use crate::dice::Dice;

/// All PEs update three words of the first one at once, in all ways. Sums of these numbers are exact, whatever their order.
fn all_pes_update<V: AmoValue + Sum>(world: &World, of: fn(i32) -> V) {
    let numbers = |pe: usize| {
        let mut dice = Dice(pe as u64);
        (0..200).map(move |_| of(dice.below(4000) as i32 - 2000))
    };
    let words = world.alloc(zeroed::<Atomic<V>>(3)).unwrap();
    let [sum, least, largest] = [0, 1, 2].map(|word| words.on(world.pes()[0]).index(word));
    let of_first = numbers(0).next().unwrap();
    if world.my_pe() == 0 {
        world.set(least, of_first);
        world.set(largest, of_first);
    }
    world.barrier_all();
    for (i, v) in numbers(world.my_pe()).enumerate() {
        match i % 3 {
            0 => {
                world.add(sum, v);
                world.set_min(least, v);
                world.set_max(largest, v);
            }
            1 => {
                world.fetch_add(sum, v);
                assert!(world.fetch_min(least, v) <= of_first);
                assert!(world.fetch_max(largest, v) >= of_first);
            }
            _ => {
                let mut before = [of(0); 3];
                let [a, b, c] = &mut before;
                world.scope(|scope| {
                    scope.fetch_add(a, sum, v);
                    scope.fetch_min(b, least, v);
                    scope.fetch_max(c, largest, v);
                });
                assert!(before[1] <= of_first && before[2] >= of_first);
            }
        }
    }
    world.barrier_all();
    let all = || (0..world.n_pes()).flat_map(numbers);
    let lesser = |a: V, b: V| if b < a { b } else { a };
    let larger = |a: V, b: V| if b > a { b } else { a };
    let expected = [all().sum::<V>(), all().reduce(lesser).unwrap(), all().reduce(larger).unwrap()];
    assert_eq!([sum, least, largest].map(|word| world.fetch(word)), expected);
    world.barrier_all();
}

#[shmem::test(pes = 3)]
fn nothing_is_lost(world: &mut World) {
    all_pes_update::<i32>(world, |v| v);
    all_pes_update(world, i64::from);
    all_pes_update(world, |v| v as isize);
    all_pes_update(world, |v| (v + 2000) as u32);
    all_pes_update(world, |v| (v + 2000) as u64);
    all_pes_update(world, |v| (v + 2000) as usize);
    all_pes_update(world, |v| v as f32 / 4.0);
    all_pes_update(world, |v| f64::from(v) / 1024.0);
}

#[symmetric]
static ENERGY: Atomic<f32>;

#[shmem::test(pes = 3)]
fn who_waits_for_a_float_is_woken_by_sums_and_bounds(world: &mut World) {
    let (from, to) = world.ring_neighbours();
    world.add(ENERGY.on(to), -0.5);
    world.add(ENERGY.on(to), -0.75);
    ENERGY.wait_until(world, le(-1.25));
    // Behind the additions.
    world.fence();
    world.set_min(ENERGY.on(to), -2.0 - world.my_pe() as f32);
    assert_eq!(ENERGY.wait_until(world, lt(-1.5)), -2.0 - from.number() as f32);
}

#[symmetric]
static SPECIAL: [Atomic<f64>; 6];

/// NaNs and zeroes, the same over every transport.
#[shmem::test(pes = 2)]
fn what_is_special_about_floats_is_the_same_everywhere(world: &mut World) {
    let (_, to) = world.ring_neighbours();
    let words = SPECIAL.on(to);
    let nan = f64::from_bits(f64::NAN.to_bits() | 5 | 1 << 63);
    world.fetch_add(words.index(0), nan);
    world.swap(words.index(1), nan);
    world.fetch_min(words.index(1), 2.0);
    world.fetch_max(words.index(2), nan);
    world.fetch_min(words.index(3), -0.0);
    world.swap(words.index(4), -0.0);
    world.fetch_max(words.index(4), 0.0);
    world.fetch_add(words.index(5), f64::INFINITY);
    world.fetch_add(words.index(5), f64::NEG_INFINITY);
    world.quiet();
    let found: Vec<u64> = (0..6).map(|i| world.fetch(words.index(i)).to_bits()).collect();
    let expected = [f64::NAN, 2.0, 0.0, -0.0, 0.0, f64::NAN].map(f64::to_bits);
    assert_eq!(found, expected);
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
    // In a phase they are numbers.
    world.local(&words, |words| Atomic::values_mut(words).reverse());
    assert_eq!(words.here(world).values(), found.into_iter().rev().collect::<Vec<_>>());
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
