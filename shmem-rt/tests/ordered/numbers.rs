//! Sums and bounds of words that all PEs change at the same time: integers and floating-point numbers.

use shmem::prelude::*;

use crate::dice::Dice;

/// Updates of each PE.
const UPDATES: usize = 200;

/// What all PEs make of their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found<V> {
    sum: V,
    least: V,
    largest: V,
}

macro_rules! all_pes_update {
    ($($number:ident = $of:expr;)*) => {$(
        mod $number {
            use super::*;

            #[symmetric]
            static SUM: Atomic<$number>;
            #[symmetric]
            static LEAST: Atomic<$number>;
            #[symmetric]
            static LARGEST: Atomic<$number>;

            /// The numbers of a PE. Sums of them are exact, whatever their order.
            fn numbers(pe: usize) -> Vec<$number> {
                let mut dice = Dice(pe as u64);
                (0..UPDATES).map(|_| $of(dice.below(4000) as i32 - 2000)).collect()
            }

            fn expected(pes: usize) -> Found<$number> {
                let all: Vec<$number> = (0..pes).flat_map(numbers).collect();
                Found {
                    sum: all.iter().sum(),
                    least: all.iter().fold(all[0], |least, v| if *v < least { *v } else { least }),
                    largest: all.iter().fold(all[0], |largest, v| if *v > largest { *v } else { largest }),
                }
            }

            #[shmem::test(pes = 3)]
            fn nothing_is_lost(world: &mut World) {
                let first = world.pe(0).unwrap();
                let (sum, least, largest) = (SUM.on(first), LEAST.on(first), LARGEST.on(first));
                let of_first = numbers(0)[0];
                if world.my_pe() == 0 {
                    world.set(least, of_first);
                    world.set(largest, of_first);
                }
                world.barrier_all();
                for (i, &v) in numbers(world.my_pe()).iter().enumerate() {
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
                            let mut before = [$of(0); 3];
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
                if world.my_pe() == 0 {
                    let found = Found {
                        sum: world.fetch(sum),
                        least: world.fetch(least),
                        largest: world.fetch(largest),
                    };
                    assert_eq!(found, expected(world.n_pes()));
                }
                world.barrier_all();
            }
        }
    )*};
}

all_pes_update! {
    i32 = |v: i32| v;
    i64 = i64::from;
    isize = |v: i32| v as isize;
    u32 = |v: i32| (v + 2000) as u32;
    u64 = |v: i32| (v + 2000) as u64;
    usize = |v: i32| (v + 2000) as usize;
    f32 = |v: i32| v as f32 / 4.0;
    f64 = |v: i32| f64::from(v) / 1024.0;
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
