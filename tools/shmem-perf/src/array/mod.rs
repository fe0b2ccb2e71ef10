//! What arrays on NUMA nodes cost, against plain slices and plain allocations.
//!
//! ```text
//! access      loops over an array, by each storage and each way
//! parallel    the same on all CPUs of a PE (feature `rayon`)
//! technique   one PE with an array, against a first touch, and against a PE for each CPU (feature `rayon`)
//! layer       arrays made and freed in a loop
//! ```
//!
//! Loops are of `u64`, since what is asked is the cost of finding elements. Arrays are larger than caches:
//! those that are not are not worth placing. What the same loops cost in a cache is shown beside, without
//! a goal.

mod access;
mod layer;
mod loops;
pub mod name;
#[cfg(feature = "rayon")]
mod parallel;
#[cfg(feature = "rayon")]
mod technique;

pub use access::{access, access_in_brief};
pub use layer::{PES, SIZES, layer};
#[cfg(feature = "rayon")]
pub use parallel::parallel;
#[cfg(feature = "rayon")]
pub use technique::{apart, together};

use super::samples::Samples;
use crate::array::name::Name;

/// Elements of the arrays: 64 MiB, not a multiple of anything. A debug build is for tests of the tool.
const ELEMENTS: usize = if cfg!(debug_assertions) { 4099 } else { (8 << 20) - 15 };

/// Elements that fit into the second cache.
const FEW: usize = if cfg!(debug_assertions) { 1021 } else { (32 << 10) - 19 };

/// Shapes of as many elements, about.
const PLANE: [usize; 2] = if cfg!(debug_assertions) { [31, 67] } else { [1031, 8123] };

/// As above.
const SPACE: [usize; 3] = if cfg!(debug_assertions) { [7, 11, 31] } else { [101, 103, 797] };

/// Chunks of the arrays, however many nodes there are.
const CHUNKS: usize = 4;

/// The variables of a job with room for the arrays.
pub fn variables() -> Vec<(String, String)> {
    vec![("SHMEM_SYMMETRIC_SIZE".to_owned(), "256M".to_owned())]
}

/// A case, and its samples in nanoseconds for each element.
pub type Measured = (Name, Samples);
