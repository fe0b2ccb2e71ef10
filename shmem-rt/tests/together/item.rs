//! Items of random data, and room of all PEs for them.

use std::fmt::Debug;

use bytemuck::{bytes_of, bytes_of_mut};
use shmem::prelude::*;
use shmem::thread::ThreadLevel;
use shmem::{PlainData, TeamBox, zeroed};

use super::MOST;

/// What data of a call are made of.
pub(crate) trait Item: PlainData + Debug {
    /// One for a random word. Of floating ones each order of a sum or a product gives another one.
    fn of(word: u64) -> Self {
        let mut item = Self::zeroed();
        for (chunk, i) in bytes_of_mut(&mut item).chunks_mut(8).zip(0..) {
            let word = word.wrapping_add(i).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
        item
    }

    /// Of two in this order: neither commutative nor associative.
    fn mixed(mut self, other: Self) -> Self {
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        for (one, other) in bytes_of_mut(&mut self).chunks_mut(8).zip(bytes_of(&other).chunks(8)) {
            let mixed = word(one).wrapping_mul(3).rotate_left(1) ^ word(other);
            one.copy_from_slice(&mixed.to_le_bytes()[..one.len()]);
        }
        self
    }

    /// The same value; of numbers that are none, both.
    fn is(self, other: Self) -> bool {
        bytes_of(&self) == bytes_of(&other)
    }

    /// The objects that hold such: on the heap, and in the memory of the team of all PEs.
    fn objects(room: &Room) -> &(SymBox<[Self]>, TeamBox<[Self]>);
}

/// Larger than what is half made in a frame, and more aligned.
#[derive(Clone, Copy, Debug, Symmetric)]
#[repr(C, align(64))]
pub(crate) struct Large([u64; 3000]);

macro_rules! items {
    ($($object:ident: $t:ty $({ $($methods:tt)* })?;)*) => {
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
            $($($methods)*)?

            fn objects(room: &Room) -> &(SymBox<[Self]>, TeamBox<[Self]>) {
                &room.$object
            }
        })*
    };
}
items! {
    bytes: u8;
    words: u32;
    numbers: u64;
    pairs: u128;
    singles: f32 {
        fn of(word: u64) -> Self {
            rounding(word) as Self
        }

        fn is(self, other: Self) -> bool {
            self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
        }
    };
    doubles: f64 {
        fn of(word: u64) -> Self {
            rounding(word)
        }

        fn is(self, other: Self) -> bool {
            self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
        }
    };
    triples: [u64; 3];
    lines: [u64; 11];
    rows: [u64; 129];
    blocks: Large;
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
