//! Runs of many short programs, in which an outcome is looked for that may not be: order, atomicity, and no tearing.

mod linearizability;
mod litmus;
mod races;
