//! Measures: what operations cost, each against a limit that is measured beside it.
//!
//! A measure takes `samples`: pairs of what the operation cost and what its limit cost, taken in turn. What comes out of them is
//! a `case`, and what it ought to be a `goal`.
//!
//! ```text
//! command     the tool's command line         check       what must not become slower
//! report      everything on one page          runner      starts jobs, shows or keeps what they print
//! measure     the measures: rows of data, and a function for each side
//! bench       inside a PE: what it is started for, and what measures have in common
//! operation fabric                            what PEs do to each other, and the same by a bare program
//! peers       other libraries, as programs
//! jobs        the tool's own program as PEs, and where they run
//! baseline    the limits                      pattern     names of cases
//! table       cases as text                   sheet       texts with lines of data
//! case goal samples                           a line of a report, what it ought to be, what it comes from
//! ```

mod baseline;
mod bench;
mod case;
mod check;
mod command;
mod fabric;
mod goal;
mod jobs;
mod measure;
mod operation;
mod pattern;
mod peers;
mod report;
mod runner;
mod samples;
mod sheet;
mod table;

pub use command::main;
