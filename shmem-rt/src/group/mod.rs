//! Sets of PEs ([`Team`]), and the [`Purpose`] of a collective, which their members must agree on.
//!
//! [`collective`](mod@crate::collective) has their collectives, and [`team`](crate::team) how teams are made and their objects.

mod purpose;
mod team;

pub(crate) use purpose::{END, Operation, Purpose, words_of};
pub use team::Team;
pub(crate) use team::{Collective, Meeting, offset_of};
