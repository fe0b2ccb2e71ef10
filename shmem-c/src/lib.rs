//! OpenSHMEM 1.5 and 1.6 for C and C++, on the runtime of `shmem-rt`.
//!
//! A thin layer: the table of routines, and functions that find the place a C address means and hand it to the
//! runtime. There is one world in a process, which lives from the first `shmem_init` to the exit. Symmetric are the
//! heaps, all segments, and the data of the executable (`data`).
//!
//! ```text
//! setup bootstrap heap rma strided amo wait order context signal extension     the one-sided families
//! active_set collective combine long_double team lock                       what PEs do together
//! data          the executable's variables as a segment
//! symmetric     what a C address means
//! world         the state of the process
//! handles       what C has for contexts and teams
//! caller        where C calls, found once for each way there
//! refusal       how a mistake of the caller is told
//! table types   names and types of C
//! header        the headers, which follow from the table
//! ```

#![allow(clippy::too_many_arguments, reason = "routines of C have those that they have")]

mod active_set;
mod amo;
mod bootstrap;
mod caller;
mod collective;
mod combine;
mod context;
mod data;
mod extension;
mod handles;
pub mod header;
mod heap;
mod lock;
mod long_double;
mod order;
mod refusal;
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
