//! A libfabric for tests: it demands of its users what the providers of network hardware demand.
//!
//! The providers that run on any machine ask for little, so a program that works on them may fail on its first day on a real
//! network. This library exports what libfabric exports and is loaded in its place. Behind it is the real library with its provider
//! `tcp;ofi_rxm`; in between, every object is the shim's own, and so is every table of functions. On request (`demand`) it then
//!
//! * announces a demand in `fi_info`, as a provider does, and offers nothing to who does not accept it;
//! * holds the user to it: a violation ends the process at once and says what was done, and what is asked;
//! * does what the hardware may do: writes into contexts, fails with `EAGAIN`, delays and reorders.
//!
//! What the transport of `shmem-core` does not call is left out of the tables: it answers `FI_ENOSYS`.
//!
//! ```text
//! export       the symbols of a libfabric
//! domain       fabrics and domains: what opens the objects of one
//! region       registered memory: its key, when it may be used
//! endpoint     endpoints: the calls that move data
//! queue        completion queues and counters
//! shared       what the objects of a domain share: what is registered, which contexts are in flight
//! address      address vectors
//! kept         operations that are kept for later, and who hands them over
//! operation    one call that moves data, taken apart, and given to the real endpoint
//! information  fi_info on the way out and on the way back
//! object       objects of the shim's, as users see them: opened, closed, their tables
//! demand       what is demanded
//! at_once      writes that are complete before they return, for who measures
//! ```
//!
//! The variable `FABRIC_SHIM` has the demands, separated by commas: `mr_prov_key,mr_endpoint,inject=0`.

use core::hash::BuildHasher;
use std::hash::RandomState;

/// Ends the process: says which demand was violated, by what, and what would have been right.
macro_rules! violation {
    ($demand:expr, $($what:tt)*) => { $crate::end($demand, format_args!($($what)*)) };
}

mod address;
mod at_once;
mod demand;
mod domain;
mod endpoint;
pub mod export;
mod information;
mod kept;
mod object;
mod operation;
mod queue;
mod region;
mod shared;

fn end(demand: &str, what: core::fmt::Arguments<'_>) -> ! {
    eprintln!("fabric-shim: {demand}: {what}");
    // Providers that the real library has loaded catch the signal, and end the process in their own way.
    // SAFETY: the default action takes no code of ours.
    unsafe { libc::signal(libc::SIGABRT, libc::SIG_DFL) };
    std::process::abort()
}

/// A number for orders, delays and keys: another one each time, and in every process.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// A number below `bound`, which is not 0.
fn below(bound: usize) -> usize {
    (random() % bound as u64) as usize
}
