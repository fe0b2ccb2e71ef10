//! Benchmarks (*measures*) of operations, each beside a baseline (*limit*): what the machine or another program needs for the same.
//!
//! A measure takes `samples`: pairs of a cost and the baseline's, in turn. A `case` has their statistics, and may have a `goal`.
//!
//! ```text
//! command check report       the tool: its command line, what must not become slower, everything on one page
//! measure sheet pattern      the measures: rows of data, and a function for each side
//! bench operation baseline   inside a PE: what measures have in common, and limits
//! fabric peers               what is measured beside: a bare program, other libraries
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
