//! The environment variables that the product reads, in one table.
//!
//! [`VARIABLES`] is the source of parsing, defaults, warnings about mistyped names, and the list of `shmem-info`. A default is a text
//! that is parsed as a value. [`Environment`](shmem_core::partition::Environment) parses variables of partitions; the table has
//! their names. Variables of the launcher for its PEs begin with `SHMRUN_`, and are not for users.
//!
//! OpenSHMEM (`environment_variables.tex`) has four of these variables, and older names of them with `SMA_`.

mod choice;
mod given;
mod list;
mod settings;

pub use choice::{
    BarrierChoice, Bind, CheckChoice, CollectiveFamily, CollectiveWay, CollectiveWays, TransportChoice,
};
pub use given::{EnvError, Variable, process};
pub use list::{Row, rows, unknown};
pub use settings::*;

#[cfg(test)]
mod tests;
