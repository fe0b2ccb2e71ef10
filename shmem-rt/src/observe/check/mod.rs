//! Checked mode (`SHMEM_CHECK`): mistakes in how PEs follow one another, found while a program runs.
//!
//! Three are found, each reported with the lines of both calls:
//!
//! * a flag that is set before what it announces is ordered before it ([`clock`]);
//! * two accesses to the same bytes, one of them a write, that nothing orders ([`history`]);
//! * a buffer that is used while a transfer may still read or write it ([`flights`]).
//!
//! The first two are one: every PE keeps a clock of what it knows to have happened. It passes it on where it
//! changes a word, and where it meets others; whoever waits for the word, fetches it, or meets, learns it.
//! Every access to a PE's memory is kept with its epoch, and compared with those of other PEs. What cannot
//! be seen is taken for ordered rather than not: a report is a mistake, silence is no proof. PEs of other
//! nodes are not looked at, and neither are references: phases are exclusive by construction.
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
