//! Strided transfers: which bytes, in which order, and how they are moved.
//!
//! [`lower`] turns a region of a [`Shape`] into a [`Layout`] in bytes, [`join`](Pattern::join) makes one [`Pattern`] of
//! both sides, [`plan`](TransferPlan::new) chooses how to move it, and [`execute`] moves it in shared memory. All but the last
//! are `const fn`s: the compiler evaluates them for constant regions; for others they run with the transfer.
//!
//! Sources: "Extending Strided Communication Interface in OpenSHMEM" (2015) for block-wise strides, Algorithms 1 to 3 and their table;
//! OpenSHMEM 1.6, `shmem_iput` and `shmem_ibput`.

mod algorithm;
mod choose;
mod execute;
mod field;
pub mod kernel;
mod layout;
mod part_of_slice;
mod pattern;
mod pieces;
mod plan;
mod region;
mod shape;

pub use algorithm::{Algorithm, Columns, GAPS, PUBLISHED, published};
pub use choose::{Settings, Thresholds, choose, settings};
pub use execute::execute_dyn;
pub(crate) use execute::{execute, execute_blocks};
pub use field::{Fields, Undivided};
pub(crate) use field::{has, select};
pub use kernel::Kernel;
pub(crate) use layout::Layout;
pub(crate) use part_of_slice::PartOfSlice;
pub use pattern::{Level, MAX_LEVELS, Pattern};
pub use pieces::Piece;
pub(crate) use pieces::{Pieced, Spot, each_fitting, each_part};
pub use plan::{Method, TransferPlan};
pub use region::Axis;
#[cfg(test)]
pub(crate) use region::Part;
pub(crate) use region::lower;
pub use shape::{Contents, Dim, Field, MAX_DIMS, Shape, Shaped};

#[cfg(test)]
mod tests;
