//! Items of random data, and room of all PEs for them.

use std::fmt::Debug;

use shmem::prelude::*;
use shmem::thread::ThreadLevel;
use shmem::{PlainData, TeamBox, zeroed};

use super::MOST;

/// What data of a call are made of.
pub(crate) trait Item: PlainData + Debug {
    /// One for a random word. Of floating ones each order of a sum or a product gives another one.
    fn of(word: u64) -> Self;

    /// Of two in this order: neither commutative nor associative.
    fn mixed(self, other: Self) -> Self;

    /// The same value; of numbers that are none, both.
    fn is(self, other: Self) -> bool;

    /// The objects that hold such: on the heap, and in the memory of the team of all PEs.
    fn objects(room: &Room) -> &(SymBox<[Self]>, TeamBox<[Self]>);
}

/// Larger than what is half made in a frame, and more aligned.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C, align(64))]
pub(crate) struct Large {
    numbers: [u64; 1376],
}

macro_rules! items {
    ($($t:ty: $object:ident($of:expr, $mixed:expr, $is:expr);)*) => {
        /// Objects of each kind, with place for what calls give, or for less: then these give a slice.
        pub(crate) struct Room {
            $($object: (SymBox<[$t]>, TeamBox<[$t]>),)*
        }

        impl Room {
            /// Allocates them, on all PEs, with so many bytes each.
            pub(crate) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize) -> Self {
                $(
                    let of_team = zeroed(bytes.min(MOST) / size_of::<$t>());
                    let $object = (
                        world.alloc(zeroed(bytes / size_of::<$t>())).unwrap(),
                        world.team().alloc(world, of_team).unwrap(),
                    );
                )*
                Self { $($object),* }
            }
        }

        $(impl Item for $t {
            fn of(word: u64) -> Self {
                $of(word)
            }

            fn mixed(self, other: Self) -> Self {
                $mixed(self, other)
            }

            fn is(self, other: Self) -> bool {
                $is(self, other)
            }

            fn objects(room: &Room) -> &(SymBox<[Self]>, TeamBox<[Self]>) {
                &room.$object
            }
        })*
    };
}
items! {
    u8: bytes(|word| wide(word) as u8, |a: u8, b| a.wrapping_mul(3).rotate_left(1) ^ b, equal);
    u32: words(|word| wide(word) as u32, |a: u32, b| a.wrapping_mul(3).rotate_left(1) ^ b, equal);
    u64: numbers(|word| wide(word) as u64, mixed_words, equal);
    u128: pairs(wide, |a: u128, b| a.wrapping_mul(3).rotate_left(1) ^ b, equal);
    f32: singles(|word| rounding(word) as f32, |a, b| 0.3 * a - b, |a: f32, b: f32| alike(a.into(), b.into()));
    f64: doubles(rounding, |a, b| 0.3 * a - b, alike);
    [u64; 3]: triples(array, mixed_arrays, equal);
    [u64; 11]: lines(array, mixed_arrays, equal);
    [u64; 129]: rows(array, mixed_arrays, equal);
    Large: blocks(
        |word| Self { numbers: array(word) },
        |a: Self, b: Self| Self { numbers: mixed_arrays(a.numbers, b.numbers) },
        equal
    );
    [u64; 3000]: pages(array, mixed_arrays, equal);
}

fn wide(word: u64) -> u128 {
    (u128::from(word) << 64 | u128::from(!word)).rotate_left(word as u32 % 64)
}

/// Numbers of 24 bits, and of very different sizes; zeroes; and what is no number.
fn rounding(word: u64) -> f64 {
    match word % 32 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2..4 => -0.0,
        4..6 => 0.0,
        _ => f64::from((word >> 24) as i32 >> 8) * 2_f64.powi((word >> 8) as i32 % 30),
    }
}

fn array<const N: usize>(word: u64) -> [u64; N] {
    std::array::from_fn(|i| word.wrapping_add(i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn mixed_words(a: u64, b: u64) -> u64 {
    a.wrapping_mul(3).rotate_left(1) ^ b
}

fn mixed_arrays<const N: usize>(a: [u64; N], b: [u64; N]) -> [u64; N] {
    std::array::from_fn(|i| mixed_words(a[i], b[i]))
}

/// The bits count, except those of a NaN.
fn alike(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

fn equal<T: PartialEq>(a: T, b: T) -> bool {
    a == b
}
