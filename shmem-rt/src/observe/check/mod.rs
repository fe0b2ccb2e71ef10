//! Checked mode (`SHMEM_CHECK`): finds errors in the synchronisation of PEs at run time.
//!
//! Races and flags that may overtake their data are found by vector clocks ([`clock`]). A PE passes its clock on when it changes a word
//! or enters a collective; a PE that waits for the word, fetches it, or takes part in the collective, learns it. Every access to a PE's
//! memory is kept with its epoch ([`history`]), and compared with those of other PEs. Buffers of unfinished transfers are in [`flights`].
//!
//! Accesses whose order cannot be determined count as ordered: a report is a mistake, but no report is no proof. PEs of other nodes,
//! references of phases, and threads of one PE against each other are not checked.

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
