//! Contexts: streams of operations, each with its own fence and quiet.
//!
//! An [`Endpoint`] is one stream of operations. [`Endpoints`] opens it on a unit, one of the node's few hardware queues. Each
//! family of operations is a trait that every token ([`Initiator`]) implements: [`Rma`], [`PutSignal`], [`Strided`], [`Amo`],
//! [`Raw`], [`Order`]. A PE waits until a word of its own copy, or several ([`Words`]), satisfy a [`Condition`].

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

pub use crate::endpoint::{Endpoint, Initiator, RemotePath, Stores, Waiting, Watch};
pub use crate::transport::SignalOp;

#[cfg(test)]
mod tests;
