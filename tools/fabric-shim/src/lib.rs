//! A libfabric for tests, with the demands that providers of network hardware make on their users.
//!
//! Providers that run on any machine make few demands, so a program that runs over them may fail over a real network. This library
//! exports the symbols of libfabric and is loaded in its place. It wraps the real library with its provider `tcp;ofi_rxm`: every
//! object and every table of functions is the shim's own. For each demand (`demand`) the shim
//!
//! * announces the demand in `fi_info`, as a provider does, and offers nothing to a user that does not accept it;
//! * checks the user, and ends the process at the first violation, with a text that names the call and the rule;
//! * imitates hardware: it writes into the `fi_context` of operations under way, fails with `EAGAIN`, delays and reorders.
//!
//! Functions that `shmem-core`'s transport does not call are missing in the tables. A transmit without `FI_COMPLETION` is never
//! reported by a queue, even if the queue was bound without `FI_SELECTIVE_COMPLETION`.
//!
//! ```text
//! export                the symbols of a libfabric
//! domain                fabrics and domains, which open all other objects
//! region                registered memory, and its keys
//! endpoint              endpoints: calls that move data, and their checks
//! queue                 completion queues and counters
//! shared                state that the objects of a domain share: registrations, contexts in flight
//! address               address vectors
//! delayed               operations that are delayed
//! operation             a call that moves data, as a value
//! information           demands in fi_info
//! object                objects that stand for real ones, and their tables
//! demand                the list of demands
//! immediate_completion  writes that are complete before they return, for measures
//! ```
//!
//! The variable `FABRIC_SHIM` lists the demands, separated by commas: `mr_prov_key,mr_endpoint,inject=0`.

use core::hash::BuildHasher;
use std::hash::RandomState;

/// Ends the process with an error text: the demand, the call that violates it, and the rule.
macro_rules! violation {
    ($demand:expr, $($what:tt)*) => { $crate::end($demand, format_args!($($what)*)) };
}

mod address;
mod delayed;
mod demand;
mod domain;
mod endpoint;
pub mod export;
mod immediate_completion;
mod information;
mod object;
mod operation;
mod queue;
mod region;
mod shared;

fn end(demand: &str, what: core::fmt::Arguments<'_>) -> ! {
    eprintln!("fabric-shim: {demand}: {what}");
    // Restores the default action, because some providers catch `SIGABRT` and would end the process in their own way.
    // SAFETY: the default action runs no code of this process.
    unsafe { libc::signal(libc::SIGABRT, libc::SIG_DFL) };
    std::process::abort()
}

/// Returns a random number, for orders, delays and keys.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// Returns a random number below `bound`, which must not be 0.
fn below(bound: usize) -> usize {
    (random() % bound as u64) as usize
}
