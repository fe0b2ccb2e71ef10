//! Items of random data, and room of all PEs for them.

use shmem::thread::ThreadLevel;
use shmem::{Number, SymBox, World, zeroed};

/// A number that data of a call are made of.
pub(crate) trait Item: Number + std::fmt::Debug {
    /// One for a random word. Of floating ones each order of a sum or a product gives another one.
    fn of(word: u64) -> Self;

    /// The same value; of numbers that are none, both.
    fn is(self, other: Self) -> bool;

    /// Of two in this order: neither commutative nor associative.
    fn mixed(self, other: Self) -> Self;

    /// The object of all PEs that holds such.
    fn object(room: &Room) -> &SymBox<[Self]>;
}

macro_rules! integers {
    ($($t:ident: $object:ident;)*) => {$(
        impl Item for $t {
            fn of(word: u64) -> Self {
                (u128::from(word) << 64 | u128::from(!word)).rotate_left(word as u32 % 64) as $t
            }

            fn is(self, other: Self) -> bool {
                self == other
            }

            fn mixed(self, other: Self) -> Self {
                self.wrapping_mul(3).rotate_left(1) ^ other
            }

            fn object(room: &Room) -> &SymBox<[Self]> {
                &room.$object
            }
        }
    )*};
}
integers! {
    u8: bytes;
    u32: words;
    u64: numbers;
    u128: pairs;
}

macro_rules! floats {
    ($($t:ident: $object:ident;)*) => {$(
        impl Item for $t {
            fn of(word: u64) -> Self {
                match word % 32 {
                    0 => $t::NAN,
                    1 => $t::INFINITY,
                    2..4 => -0.0,
                    4..6 => 0.0,
                    // Numbers of 24 bits, and of very different sizes.
                    _ => ((word >> 24) as i32 >> 8) as $t * (2.0 as $t).powi((word >> 8) as i32 % 30),
                }
            }

            fn is(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }

            fn mixed(self, other: Self) -> Self {
                0.3 * self - other
            }

            fn object(room: &Room) -> &SymBox<[Self]> {
                &room.$object
            }
        }
    )*};
}
floats! {
    f32: singles;
    f64: doubles;
}

/// An object of each kind, with place for what calls give, or for less: then these give a slice.
pub(crate) struct Room {
    bytes: SymBox<[u8]>,
    words: SymBox<[u32]>,
    numbers: SymBox<[u64]>,
    pairs: SymBox<[u128]>,
    singles: SymBox<[f32]>,
    doubles: SymBox<[f64]>,
}

impl Room {
    /// Allocates them, on all PEs, with so many bytes each.
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize) -> Self {
        Self {
            bytes: world.alloc(zeroed(bytes)).unwrap(),
            words: world.alloc(zeroed(bytes / 4)).unwrap(),
            numbers: world.alloc(zeroed(bytes / 8)).unwrap(),
            pairs: world.alloc(zeroed(bytes / 16)).unwrap(),
            singles: world.alloc(zeroed(bytes / 4)).unwrap(),
            doubles: world.alloc(zeroed(bytes / 8)).unwrap(),
        }
    }
}
