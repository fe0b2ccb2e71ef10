//! What operations are issued through.
//!
//! An [`Endpoint`] is one stream of operations. It is given out by a [`Resource`], of which a node may
//! have few. The operation families are traits over tokens ([`Initiator`]), so each exists once:
//! [`Rma`], [`Strided`], [`Amo`], [`Raw`], [`Order`]. A PE waits for a word by [`Condition`]s on its own copy of it.

mod amo;
pub mod mapping;
mod order;
mod raw;
mod resource;
mod rma;
pub mod strided;
pub mod tracking;
mod wait;

pub use amo::Amo;
pub use order::Order;
pub use raw::Raw;
pub use resource::{Endpoints, Resource};
pub use rma::{Place, Rma};
pub use strided::Strided;
pub use wait::{Condition, eq, ge, gt, le, lt, ne};

pub use crate::endpoint::{Endpoint, Far, Initiator, Stores, WaitReport, Waiting};

#[cfg(test)]
mod tests;
