//! The environment variables that the product reads, in one table.
//!
//! Reading, defaults, the warning about mistyped names and the list of `shmem-info` all come from
//! [`VARIABLES`]: a default is the text that would have to be set, and is read in the same way. What
//! the variables of partitions say is read by [`Environment`](shmem_core::partition::Environment);
//! here they only have their names. Variables with which the launcher speaks to its PEs start with
//! `SHMRUN_` and are not meant for users.
//!
//! OpenSHMEM (`environment_variables.tex`) names four variables, and their older names with `SMA_`.

mod given;
mod row;
mod settings;
mod variable;

pub use row::{Row, rows};
pub use settings::{BarrierChoice, CheckChoice, EnvError, Settings, TransportChoice};
pub(crate) use variable::{ATTACH_WAIT, CHECK, LIBFABRIC, NPES, STATS, TRACE, TRANSPORT};
pub use variable::{VARIABLES, ValueKind, Variable, unknown};

/// The environment of this process. What is not UTF-8 is shown as `\u{fffd}`, which no variable may
/// contain.
pub fn process() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()))
}

#[cfg(test)]
mod tests;
