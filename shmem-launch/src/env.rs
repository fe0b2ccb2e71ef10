//! The environment variables that launchers and PEs read, in one table.
//!
//! [`VARIABLES`] is the source for parsing, for defaults, for warnings about mistyped names, and for the list of `shmem-info`. A
//! default is text, which is parsed like a set value. Of partition variables, the table has only names and
//! help; [`Environment`](shmem_core::partition::Environment) parses them. Variables that a launcher sets for PEs begin with
//! `SHMRUN_`.
//!
//! Four of the variables are those of OpenSHMEM (`environment_variables.tex`), with their older names, which begin with `SMA_`.

mod keywords;
mod list;
mod settings;
mod variable;

pub use keywords::{
    BarrierChoice, Bind, CheckChoice, CollectiveFamily, CollectiveWay, CollectiveWays, TransportChoice,
};
pub use list::{Row, rows, unknown};
pub use settings::*;
pub use variable::{EnvError, Variable, process};

#[cfg(test)]
mod tests;
