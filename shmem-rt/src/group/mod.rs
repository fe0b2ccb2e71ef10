//! Sets of PEs ([`Team`]), and the [`CallSignature`] of a collective, on which the members of a team must agree.
//!
//! Collectives are in [`collective`](mod@crate::collective); teams and their objects are made in [`team`](crate::team).

mod call_signature;
mod team;

pub(crate) use call_signature::{CallSignature, END, Operation, words_of};
pub use team::Team;
pub(crate) use team::{BarrierKind, Collective, offset_of};
