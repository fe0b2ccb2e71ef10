//! Which contexts get which units of a scarce resource.
//!
//! A node has so many **units**: what a network interface needs to inject operations and to see them
//! complete (an endpoint, a completion queue, a counter). A program makes **domains**, groups of contexts
//! of one thread level, and contexts in them. This module decides who gets a unit alone and who shares
//! one with whom. It does no I/O and knows no endpoint: a [`Mapping`] is told what is created and
//! destroyed, and answers with numbers of units.
//!
//! ```text
//! policy    the choices: design, sharing, hints
//! share     the part of a node's units that each of its PEs gets
//! units     the units of a PE: which are in use, by how many, with or without a lock
//! decide    the answers
//! ```
//!
//! A unit is **locked** or not for as long as it is in use. Without a lock it serves one domain whose
//! contexts are never used at the same time, and nobody else joins it. With a lock it serves whoever
//! is sent there. So what was granted unshared stays unshared.
//!
//! Source: the prototypes of contexts and domains in Cray SHMEM (2016): Design-0, its hybrid, Design-1
//! and Design-2 are the [`Design`]s here.

mod decide;
mod policy;
mod share;
mod units;

pub use decide::{Assignment, DomainId, Mapping, Shortage};
pub use policy::{Design, Hints, Level, Sharing, Tracking};
pub use share::{by_need, evenly};

#[cfg(test)]
mod tests;
