//! Items of random data.

use shmem::{Number, SymBox};

use super::room::Room;

/// A number that data of a call are made of.
pub(crate) trait Item: Number + PartialOrd + std::fmt::Debug {
    /// One for a random word. Sums and products of a few of them are exact, so that no order is in the result.
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
                match word % 16 {
                    0 => $t::NAN,
                    1 => $t::INFINITY,
                    2 => 1.0,
                    // A power of two, so that products are exact as well.
                    _ => (2.0 as $t).powi((word >> 8) as i32 % 9),
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
