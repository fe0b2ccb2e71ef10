//! Items of random data, and symmetric objects for them.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt::Debug;

use bytemuck::bytes_of;
use shmem::prelude::*;
use shmem::thread::ThreadLevel;
use shmem::{PlainData, TeamBox, zeroed};

use super::MOST;

/// An element type of the data of a call.
pub(crate) trait Item: PlainData + Debug {
    /// Returns an item for a random word. Sums and products of floating-point items depend on their order.
    fn of(word: u64) -> Self;

    /// An operation that is neither commutative nor associative.
    fn mixed(self, other: Self) -> Self;

    /// Returns whether both items have the same bits, or are both NaN.
    fn is(self, other: Self) -> bool {
        bytes_of(&self) == bytes_of(&other)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $t:ty;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ItemType {
            $($(#[$doc])* $name,)*
        }

        pub(super) const ITEM_TYPES: &[ItemType] = &[$(ItemType::$name,)*];

        impl ItemType {
            pub(super) fn bytes(self) -> usize {
                match self {
                    $(Self::$name => size_of::<$t>(),)*
                }
            }
        }

        impl Room {
            /// Allocates objects of each type, with `bytes` bytes each. Collective.
            pub(crate) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize) -> Self {
                let mut objects = HashMap::<_, Box<dyn Any + Send + Sync>>::new();
                $({
                    let of_all = world.alloc(zeroed::<$t>(bytes / size_of::<$t>())).unwrap();
                    let of_team = zeroed::<$t>(bytes.min(MOST) / size_of::<$t>());
                    let of_team = world.team().alloc(world, of_team).unwrap();
                    objects.insert(TypeId::of::<$t>(), Box::new((of_all, of_team)));
                })*
                Self(objects)
            }
        }
    };
}
kinds! {
    U8: u8;
    U32: u32;
    U64: u64;
    U128: u128;
    F32: f32;
    F64: f64;
    /// This and the next types have sizes of which buffers, cache lines and tiles have space for many, one, none, or no whole
    /// number.
    Triple: [u64; 3];
    Line: [u64; 11];
    Row: [u64; 129];
    Large: Large;
    Page: [u64; 3000];
}

/// Number of types, from the first one on, that are integers. [`NUMBERS`] includes floating-point types, [`ANY`] all types.
pub(super) const INTEGERS: usize = 4;
pub(super) const NUMBERS: usize = 6;
pub(super) const ANY: usize = ITEM_TYPES.len();

/// Objects of each type. A call that needs a larger object uses a slice.
pub(crate) struct Room(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl Room {
    /// Returns the objects of a type: one on the heap, and one in the memory of the team of all PEs.
    pub(super) fn objects<T: Item>(&self) -> &(SymBox<[T]>, TeamBox<[T]>) {
        self.0[&TypeId::of::<T>()].downcast_ref().expect("each is found by its type")
    }
}

/// Larger than a stack buffer of the library, and with a larger alignment.
#[derive(Clone, Copy, Debug, Symmetric)]
#[repr(C, align(64))]
pub(crate) struct Large([u64; 1376]);

macro_rules! integers {
    ($($t:ty)*) => {$(impl Item for $t {
        fn of(word: u64) -> Self {
            (u128::from(word) << 64 | u128::from(!word)).rotate_left(word as u32 % 64) as Self
        }

        fn mixed(self, other: Self) -> Self {
            self.wrapping_mul(3).rotate_left(1) ^ other
        }
    })*};
}
integers! { u8 u32 u64 u128 }

macro_rules! floats {
    ($($t:ty)*) => {$(impl Item for $t {
        /// Numbers of 24 bits with very different exponents, zeroes, infinity, NaN.
        fn of(word: u64) -> Self {
            match word % 32 {
                0 => Self::NAN,
                1 => Self::INFINITY,
                2..4 => -0.0,
                4..6 => 0.0,
                _ => ((word >> 24) as i32 >> 8) as Self * (2.0 as Self).powi((word >> 8) as i32 % 30),
            }
        }

        fn mixed(self, other: Self) -> Self {
            0.3 * self - other
        }

        fn is(self, other: Self) -> bool {
            self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
        }
    })*};
}
floats! { f32 f64 }

impl<const N: usize> Item for [u64; N] {
    fn of(word: u64) -> Self {
        std::array::from_fn(|i| word.wrapping_add(i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn mixed(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i].mixed(other[i]))
    }
}

impl Item for Large {
    fn of(word: u64) -> Self {
        Self(Item::of(word))
    }

    fn mixed(self, other: Self) -> Self {
        Self(self.0.mixed(other.0))
    }
}
