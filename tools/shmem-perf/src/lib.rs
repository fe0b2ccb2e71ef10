//! Benchmarks (*measures*) of operations, each beside a baseline (*limit*): what the machine or another program needs for the same.
//!
//! A measure takes `samples`: pairs of the operation's cost and the baseline's, one after the other. A `case` is one line of
//! results: statistics of samples. It may have a `goal`.
//!
//! ```text
//! command check report       the tool: its command line, what must not become slower, everything on one page
//! measure sheet pattern      the measures: their data, and functions for the operation and the baseline
//! bench operation baseline   inside a PE: what measures have in common, and common baselines
//! fabric peers               what the library is compared with: a bare libfabric program, other libraries
//! runner jobs table          starts jobs, and keeps or shows what they print
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
