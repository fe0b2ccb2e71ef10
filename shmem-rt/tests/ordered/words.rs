//! Atomic words that all PEs update and read at the same time.

use shmem::AmoValue;
use shmem::prelude::*;

use crate::indexed::{Update, Way, arithmetic, bits, updates};

#[shmem::test(pes = 3)]
fn nothing_is_lost(world: &mut World) {
    fn of<V: AmoValue>(world: &World, of: fn(i32) -> V, operations: &[Update<V, Block>]) {
        let words = world.alloc(zeroed::<Atomic<V>>(2)).unwrap();
        updates(world, &words.over(world.team(), Block), of, [200; 3], &[Way::Single], operations);
    }
    of::<i32>(world, |v| v, bits!());
    of::<i64>(world, i64::from, bits!());
    of::<isize>(world, |v| v as isize, bits!());
    of::<u32>(world, |v| (v + 50) as u32, bits!());
    of::<u64>(world, |v| (v + 50) as u64, bits!());
    of::<usize>(world, |v| (v + 50) as usize, bits!());
    // Sums of these values are exact in each order.
    of::<f32>(world, |v| v as f32 / 4.0, arithmetic!());
    of::<f64>(world, |v| f64::from(v) / 1024.0, arithmetic!());
}

#[symmetric]
static SPECIAL: [Atomic<f64>; 6];

/// NaNs and signed zeroes give the same results over each transport.
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

/// A word that is read during writes has a value that was written.
#[shmem::test(pes = 2)]
fn words_are_never_torn(world: &mut World) {
    let words = world.alloc(zeroed::<Atomic<u64>>(16)).unwrap();
    let first = words.on(world.pe(0).unwrap());
    for _ in 0..10 {
        world.barrier_all();
        for round in 0..200 {
            if world.my_pe() == 0 {
                (0..16).for_each(|i| world.set(first.index(i), round % 251 * 0x0101_0101_0101_0101));
                continue;
            }
            let found = std::array::from_fn::<_, 16, _>(|i| world.fetch(first.index(i)));
            let is_whole = |number: &u64| number.is_multiple_of(0x0101_0101_0101_0101);
            assert!(found.iter().all(is_whole), "{found:x?}");
        }
    }
    world.barrier_all();
}
