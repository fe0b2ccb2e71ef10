//! Strided transfers: which bytes, in which order, and how they are moved.
//!
//! `lower` turns a region of a [`Shape`] into a [`Layout`] in bytes, `Pattern::join` makes one [`Pattern`] of the layouts of
//! destination and source, `TransferPlan::new` chooses the method that moves it, and [`execute_dyn`] moves it in shared memory. The
//! first three are `const fn`s: the compiler evaluates them for constant regions. For other regions they run with the transfer.
//!
//! Sources: "Extending Strided Communication Interface in OpenSHMEM" (2015) for strides of blocks, Algorithms 1 to 3 and their
//! table; OpenSHMEM 1.6, `shmem_iput` and `shmem_ibput`.

mod byte_layout;
mod choose_kernel;
mod dimensions;
mod execute;
pub mod kernel;
mod loop_nest;
mod plan;
mod published_algorithms;
mod region;
mod slice_region;
mod split;
mod struct_fields;

pub use byte_layout::Layout;
pub use choose_kernel::{Settings, Thresholds, choose, settings};
pub use dimensions::{Contents, Dim, Field, MAX_DIMS, Shape, Shaped};
pub use execute::execute_dyn;
pub(crate) use execute::{execute, execute_blocks};
pub use kernel::Kernel;
pub use loop_nest::{Level, MAX_LEVELS, Pattern};
pub use plan::{Method, TransferPlan};
pub use published_algorithms::{Algorithm, Columns, GAPS, PUBLISHED, published};
pub use region::Axis;
#[cfg(test)]
pub(crate) use region::Part;
pub(crate) use region::lower;
pub(crate) use slice_region::PartOfSlice;
pub use split::Piece;
pub(crate) use split::{Pieced, Spot, each_fitting, each_part};
pub use struct_fields::{Fields, Undivided};
pub(crate) use struct_fields::{has, select};

#[cfg(test)]
mod tests;
