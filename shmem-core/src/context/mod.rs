//! Contexts: streams of operations.
//!
//! An [`Endpoint`] is one stream of operations, opened by [`Endpoints`] on one of the node's few
//! units. The operation families are traits over tokens ([`Initiator`]), so each exists once:
//! [`Rma`], [`PutSignal`], [`Strided`], [`Amo`], [`Raw`], [`Order`]. A PE waits for a word, or for several
//! ([`Words`]), by [`Condition`]s on its own copy.

mod amo;
mod collective_arguments;
mod endpoints;
mod fence_quiet;
pub mod mapping;
pub mod nonblocking;
mod out_of_line;
mod putmem;
mod remote_place;
mod rma;
mod session;
pub mod strided;
#[doc(hidden)]
pub mod untyped;
mod wait;
mod wait_set;

pub use amo::Amo;
pub use collective_arguments::{Both, Collected, Contribution, Destination, Source, Truth};
pub use endpoints::Endpoints;
pub use fence_quiet::Order;
pub use nonblocking::{Buffer, NonBlocking, Pending, Scope};
pub use putmem::Raw;
pub use remote_place::Place;
pub use rma::{PutSignal, Rma};
pub use session::{Session, SessionOptions, Sessions};
pub use strided::Strided;
#[doc(hidden)]
pub use wait::wait_for;
pub use wait::{Condition, eq, ge, gt, le, lt, ne};
pub use wait_set::{WaitSet, Words};

pub use crate::endpoint::{Endpoint, Far, Initiator, Stores, Waiting, Watch};
pub use crate::transport::SignalOp;

#[cfg(test)]
mod tests;
