//! Checked mode (`SHMEM_CHECK`): finds errors in the synchronisation of PEs at run time.
//!
//! Vector clocks ([`clock`]) find races, and flags that may overtake their data. A PE passes its clock on when it
//! changes a word or enters a collective. Another PE joins this clock when it waits for the word, fetches the word, or
//! leaves the collective. Every access to a PE's memory is recorded with its epoch ([`history`]), and compared with the
//! accesses of other PEs. [`buffers_in_flight`] records the buffers of incomplete transfers.
//!
//! Accesses whose order cannot be determined count as ordered. So each report is a mistake of the program, but a run without
//! reports proves nothing. Not checked are PEs on other nodes, accesses through the references that
//! [phases](crate::phase) lend, and races between threads of one PE.

mod blocks;
mod buffers_in_flight;
mod checker;
mod clock;
mod clock_words;
mod history;
mod report;
mod shadow;

pub(super) use checker::Checker;
pub(crate) use checker::NodePes;
