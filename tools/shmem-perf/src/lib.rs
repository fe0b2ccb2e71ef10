//! Measures: what operations cost, each against a limit that is measured beside it.
//!
//! A measure takes `samples`: pairs of what the operation cost and what its limit cost, taken in turn. What comes out of them is
//! a `case`, and what it ought to be a `goal`.
//!
//! ```text
//! command     the tool's command line         check       what must not become slower
//! report      everything on one page          runner      starts jobs, shows or keeps what they print
//! measure     the measures: rows of data, and a function for each side
//! task        what PEs are started for        bench       inside a PE
//! strided fabric                              what measures are made of, where one file is not enough
//! peers       other libraries, as programs    sources     what a build leaves beside this program
//! jobs hosts  the tool's own program as PEs, and where they run
//! baseline    the limits                      affinity    a core for each PE
//! rounds      what threads do together        scratch     a directory that goes away again
//! table       cases as text                   footprint   what a process has of the machine
//! case goal samples pattern                   a line of a report, what it ought to be, what it comes from, which ones
//! ```

mod affinity;
mod baseline;
mod bench;
mod case;
mod check;
mod command;
mod fabric;
mod footprint;
mod goal;
mod hosts;
mod jobs;
mod measure;
mod pattern;
mod peers;
mod report;
mod rounds;
mod runner;
mod samples;
mod scratch;
mod sources;
mod strided;
mod table;
mod task;

pub use command::main;
