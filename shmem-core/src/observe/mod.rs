//! What is told of operations: to statistics, to a trace, to checks.
//!
//! An [`Observer`] is told of every [`Call`] before and behind it. Which operations there are, and what
//! they do to memory, stands in one table of [families](Family). Whether a job is observed is decided
//! once, at its start. Then every [`Pe`](crate::pe::Pe) carries a mark that sends operations to the cold
//! side of the branch that they have anyway, the one to the network: there the observer is told, and
//! after that it is decided again where the PE is. So operations that nobody observes have no
//! instruction of it.

mod call;
mod counters;
mod family;

pub use call::{Call, Listed, Meeting, Observer, Wait, Word};
pub use counters::{Counters, Statistics, Tally};
pub use family::{Effect, Family};
