//! The environment variables that the product reads, in one table.
//!
//! [`VARIABLES`] is the source of parsing, defaults, warnings about mistyped names, and the list of `shmem-info`. A default is a text
//! that is parsed as a value. [`Environment`](shmem_core::partition::Environment) parses variables of partitions; the table has
//! their names. Variables of the launcher for its PEs begin with `SHMRUN_`, and are not for users.
//!
//! OpenSHMEM (`environment_variables.tex`) has four of these variables, and older names of them with `SMA_`.

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
