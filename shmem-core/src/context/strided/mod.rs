//! Strided transfers between PEs.
//!
//! [`written`] is what the macro `strided!` expands to: regions of [`Object`]s, planned by the compiler
//! where they are constant.

mod elements;
mod far;
mod object;
mod region;
pub mod written;

pub use elements::SameElements;
pub use object::{Destination, Object, Own, Remote, Source};
pub use region::{Region, Side};
