//! Contexts: streams of operations.
//!
//! An [`Endpoint`] is one stream of operations, opened by [`Endpoints`] on one of the node's few
//! units. The operation families are traits over tokens ([`Initiator`]), so each exists once:
//! [`Rma`], [`PutSignal`], [`Strided`], [`Amo`], [`Raw`], [`Order`]. A PE waits for a word, or for several
//! ([`Words`]), by [`Condition`]s on its own copy.

mod amo;
mod contribution;
mod endpoints;
mod list;
pub mod mapping;
pub mod nonblocking;
mod order;
mod place;
mod raw;
mod rma;
mod session;
mod slow;
pub mod strided;
#[doc(hidden)]
pub mod untyped;
mod wait;
mod wait_set;

pub use amo::Amo;
pub use contribution::{Both, Contribution, Truth};
pub use endpoints::Endpoints;
pub use list::{Collected, Destination, Source};
pub use nonblocking::{Buffer, NonBlocking, Pending, Scope};
pub use order::Order;
pub use place::Place;
pub use raw::Raw;
pub use rma::{PutSignal, Rma};
pub use session::{Session, SessionOptions, Sessions};
pub use strided::Strided;
#[doc(hidden)]
pub use wait::wait_for;
pub use wait::{Condition, eq, ge, gt, le, lt, ne};
pub use wait_set::{WaitSet, Words};

pub use crate::endpoint::{Endpoint, Far, Initiator, Stores, WaitReport, Waiting, Watch};
pub use crate::transport::SignalOp;

#[cfg(test)]
mod tests;
