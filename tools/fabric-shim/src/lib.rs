//! A libfabric for tests: it demands of its users what the providers of network hardware demand.
//!
//! The providers that run on any machine ask for little: keys are the user's own, buffers need no
//! registration, an operation's context is only handed back. A program that works on them may fail on its
//! first day on a real network. This library exports what libfabric exports and is loaded in its place. Behind
//! it is the real library with its provider `tcp;ofi_rxm`; in between, every object is the shim's own, and so is
//! every table of functions that it carries. On request (`demand`) it then
//!
//! * announces a demand in `fi_info`, as a provider does, and offers nothing to who does not accept it;
//! * holds the user to it: a violation ends the process at once and says what was done, and what is asked;
//! * does what the hardware may do: writes into contexts, fails with `EAGAIN`, delays and reorders.
//!
//! What the transport of `shmem-core` does not call is left out of the tables: it answers `FI_ENOSYS`.
//!
//! ```text
//! export       the symbols of a libfabric
//! fabric       fabrics
//! domain       domains: what opens the objects of one
//! region       registered memory: its key, when it may be used
//! endpoint     endpoints: the calls that move data
//! queue        completion queues
//! counter      counters
//! address      address vectors
//! shared       what the objects of a domain share
//! regions      which memory may be used with which descriptor
//! operation    one call that moves data, checked, kept for later, and given to the real endpoint
//! object       objects of the shim's, as users see them: opened, closed, their tables
//! information  fi_info on the way out and on the way back
//! context      contexts of operations in flight
//! key          keys that the provider makes up
//! real         objects of the real library
//! demand       what is demanded
//! at_once      writes that are complete before they return, for who measures
//! progress     who hands over what endpoints keep for later
//! random       chance, other in every process
//! violation    the end of a process that does not obey
//! ```
//!
//! ```text
//! FABRIC_SHIM           the demands, separated by commas: mr_prov_key,mr_endpoint,inject=0
//! FABRIC_SHIM_LIBRARY   the library behind it, where it is not the system's
//! ```

mod address;
mod at_once;
mod context;
mod counter;
mod demand;
mod domain;
mod endpoint;
pub mod export;
mod fabric;
mod information;
mod key;
mod object;
mod operation;
mod progress;
mod queue;
mod random;
mod real;
mod region;
mod regions;
mod shared;
mod violation;
