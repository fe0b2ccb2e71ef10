//! What the PEs of a team do together.
//!
//! Everything stands on the checked [`barrier`]: all members must enter the same operation with the
//! same arguments, or the job ends and says who is where. Data goes through each member's scratch:
//! write the own contribution, meet, read the others'. Two halves in turn make one meeting per step
//! enough. Contributions are combined in the order of ranks, so results do not depend on timing.

mod barrier;
mod broadcast;
mod gather;
mod reduce;

pub(crate) use barrier::Purpose;
pub use reduce::{Number, Reducible};
