//! Checked mode (`SHMEM_CHECK`): mistakes in how PEs follow one another, found while a program runs.
//!
//! Three are found, each reported with the lines of both calls:
//!
//! * a flag that is set before what it announces is ordered before it ([`clock`]);
//! * two accesses to the same bytes, one of them a write, that nothing orders ([`history`]);
//! * a buffer that is used while a transfer may still read or write it ([`flights`]).
//!
//! The first two are one check: every PE keeps a vector clock of what it knows to have happened. It passes the clock on when it
//! changes a word or enters a collective; a PE that waits for the word, fetches it, or takes part in the collective, learns it.
//! Every access to a PE's memory is kept with its epoch, and compared with those of other PEs. Accesses whose order cannot be
//! determined count as ordered: a report is a mistake, but no report is no proof. PEs of other nodes are not checked, nor are
//! references, because phases are exclusive by construction.
//!
//! Accesses of one PE are never compared with each other, so neither are those of its threads.

mod blocks;
mod checker;
mod clock;
mod flights;
mod history;
mod report;
mod shadow;
mod words;

pub(super) use checker::Checker;
pub(crate) use checker::NodePes;
