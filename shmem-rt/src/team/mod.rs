//! What the members of a team do besides [collectives](mod@crate::collective): they [split] it into further teams, allocate
//! [objects](object) in the [memory] of teams, and open these by themselves in a [phase].

mod memory;
mod object;
mod objects;
mod phase;
mod split;

pub use object::TeamBox;
pub use objects::TeamObjects;
