//! What the PEs of a team do together.
//!
//! Everything stands on the checked [`barrier`]: all members must enter the same operation with the
//! same arguments, or the job ends and says who is where. It finds that by a hash, which is enough for values; what
//! soundness rests on is compared word for word ([`agreed`]). Data goes through room that each member has
//! for the team ([`step`]): write the own contribution, meet, read the others'. Two halves in turn make one
//! meeting per step enough, and let a piece be written while the one before is read. Contributions are
//! combined in the order of ranks, so results depend neither on timing nor on the algorithm. In which form data are given, and the
//! result comes back, is decided by what the argument [is](shmem_core::context::Contribution); behind that all is bytes.

mod agreed;
mod algorithm;
mod alltoall;
mod barrier;
mod broadcast;
mod collect;
mod gather;
mod number;
mod passing;
mod reduce;
mod step;
mod subject;

pub(crate) use agreed::Agreed;
pub use number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
