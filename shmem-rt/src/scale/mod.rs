//! How collectives grow with a job: messages and bytes by formula, times by a model.
//!
//! The formulas are those of the algorithms, and tests count that they are right (`tests/scale.rs` of shmem-perf). Which way
//! data go is not said again here: that is asked where jobs choose it (`collective/choice.rs`). Times
//! are something else: [`Cost::time`] puts what was counted and the three numbers of a [`Model`], measured
//! between two PEs, into an equation. Nothing is extrapolated from times of jobs that share cores.

mod collective;
mod cost;
mod shape;
mod streams;

pub use crate::model::Model;
pub use collective::Collective;
pub use cost::Cost;
pub use shape::Shape;
