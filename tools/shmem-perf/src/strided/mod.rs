//! What strided transfers cost.
//!
//! A [`Spread`] says which blocks, [`Sides`] where they are. Each is moved as the library does it,
//! by the loop of puts that Algorithm 1 is, and, as the limit, by nothing but loads and stores of the
//! same lines.
//!
//! ```text
//! cases     layouts of applications: columns, fields, checkerboards, rows
//! sweep     many layouts, some of them random: where is the library slower than Algorithm 1?
//! peers     other libraries, beside ours
//! calibrate which thresholds fit this machine?
//! regret    how far from the best of all kernels is what is chosen?
//! published the table of the literature: blocks or columns?
//! exchange  the edges of a field, to a neighbour
//! ```

pub mod baseline;
pub mod calibrate;
pub mod cases;
pub mod exchange;
pub mod peers;
pub mod published;
pub mod regret;
mod sides;
mod spread;
pub mod sweep;

pub use cases::Costs;
pub use sides::{Direction, Sides};
pub use spread::Spread;
