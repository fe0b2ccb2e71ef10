//! OpenSHMEM 1.5 and 1.6 for C and C++, on the runtime of `shmem-rt`.
//!
//! A thin layer: a table of routines, and functions that translate C addresses and call the runtime. A process has one world, from
//! the first `shmem_init` to the exit. All segments are symmetric: heaps, and the executable's variables (`globals`).
//!
//! ```text
//! setup bootstrap heap rma strided amo wait order context signal extension     one-sided families
//! active_set collective combine long_double team lock                          collectives, teams and locks
//! globals       the executable's variables as a segment
//! symmetric     offsets of C addresses
//! word          symmetric words of the library's own protocols
//! world         the state of the process
//! handles       handles of contexts and teams
//! errors        error texts about mistakes of the C program
//! call_site     the line of C that calls, for error texts, checks and traces
//! table types   names and types of C
//! header        the headers, made from the table
//! ```

#![allow(clippy::too_many_arguments, reason = "routines of C have those that they have")]

mod active_set;
mod amo;
mod bootstrap;
mod call_site;
mod collective;
mod combine;
mod context;
mod errors;
mod extension;
mod globals;
mod handles;
pub mod header;
mod heap;
mod lock;
mod long_double;
mod order;
mod rma;
mod setup;
mod signal;
mod strided;
mod symmetric;
mod table;
mod team;
mod types;
mod wait;
mod word;
mod world;
