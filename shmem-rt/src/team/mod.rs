//! Operations of teams besides [collectives](mod@crate::collective): members [split] a team into further ones, allocate
//! [objects](object) in the [memory] of teams, and get references into these objects in a [phase] of the team.

mod memory;
mod object;
mod phase;
mod split;

pub use object::TeamBox;
pub use phase::TeamObjects;
