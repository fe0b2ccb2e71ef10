//! Who meets, and for what: sets of PEs, and the purpose that their members must agree on.
//!
//! How they meet, and what they do together, stands above: in [`collective`](mod@crate::collective), and for what only some
//! PEs have together in [`team`](crate::team).

mod purpose;
mod team;

pub(crate) use purpose::{END, Operation, Purpose, words_of};
pub use team::Team;
pub(crate) use team::{Collective, Meeting, offset_of};
