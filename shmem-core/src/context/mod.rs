//! What operations are issued through.
//!
//! An [`Endpoint`] is one stream of operations: where the arena is, who we are, and for PEs off the
//! node the transport and the channel on it. It is given out by a [`Resource`], of which a node may
//! have few. A token ([`Initiator`]) is a borrow of something that holds one: the world, a context.
//! The operation families are traits over tokens, so each exists once: [`Rma`], [`Amo`], [`Raw`],
//! [`Ordering`](Order).

mod amo;
mod endpoint;
mod order;
mod raw;
mod resource;
mod rma;
mod wait;

pub use amo::Amo;
pub use endpoint::{Endpoint, Far, Initiator};
pub use order::Order;
pub use raw::Raw;
pub use resource::{Endpoints, Exhausted, Options, Resource};
pub use rma::Rma;
pub use wait::{Condition, WaitReport, Waiting, eq, ge, gt, le, lt, ne};
