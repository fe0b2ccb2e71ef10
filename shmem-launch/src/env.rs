//! The environment variables that the product reads, in one table.
//!
//! Reading, defaults, the warning about mistyped names and the list of `shmem-info` all come from
//! [`VARIABLES`]: a default is the text that would have to be set, and is read in the same way. What
//! the variables of partitions say is read by [`Environment`](shmem_core::partition::Environment);
//! here they only have their names. Variables with which the launcher speaks to its PEs start with
//! `SHMRUN_` and are not meant for users.
//!
//! OpenSHMEM (`environment_variables.tex`) names four variables, and their older names with `SMA_`.

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
mod strange;
#[cfg(test)]
mod tests;
