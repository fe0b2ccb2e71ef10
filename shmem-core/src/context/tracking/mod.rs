//! How a context learns that its operations are complete.
//!
//! Below a context lies a **unit**: what injects operations and sees them complete. A [`Provider`] is such
//! a unit of a network interface. It completes an operation in one of two ways, which the initiator
//! chooses: it counts it, or it reports it as an **event** that carries back what the operation was given.
//! Counting is cheap and says nothing about whose operation it was; events say it, and each of them has
//! to be kept, read and found again. On these two stand the designs:
//!
//! | [`Tracking`] | an operation | `quiet` of a context waits for |
//! |---|---|---|
//! | `Events` (Design-0) | an event of its context | the operations of the context |
//! | `Hybrid` | counted if small, an event if large | small ones of the unit, large ones of the context |
//! | `Counter` (Design-1, Design-2) | counted | all operations of the unit |
//!
//! Design-1 and Design-2 are the same code: what differs is how many contexts are on a unit, and that
//! is the [mapping](super::mapping)'s affair. Nothing is allocated per operation: a [`Stream`] has room for
//! [`OUTSTANDING`] events, and reads completions when that is full.
//!
//! Shared memory needs none of this, since a store is complete when it is made. It is what a network
//! transport tracks its channels with. [`NullProvider`] is a unit without a network, to measure what tracking
//! costs.

mod null;
mod outstanding;
mod provider;
mod unit;

pub use null::NullProvider;
pub use outstanding::OUTSTANDING;
pub use provider::{Busy, Descriptor, Event, Provider};
pub use unit::{STREAMS, Stream, Unit};

pub use super::mapping::Tracking;

#[cfg(test)]
mod tests;
