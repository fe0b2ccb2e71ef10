//! Sets of PEs ([`Team`]), and the [`Purpose`] of a collective, on which the members of a team must agree.
//!
//! Collectives are in [`collective`](mod@crate::collective); teams and their objects are made in [`team`](crate::team).

mod call_signature;
mod team;

pub(crate) use call_signature::{END, Operation, Purpose, words_of};
pub use team::Team;
pub(crate) use team::{Collective, Meeting, offset_of};
