//! Jobs whose PEs are the test's own binary, which runs one of the programs in `programs.rs` when the environment
//! names one: how they are started, and what is asked of them.

pub(crate) mod programs;
mod running;

pub(crate) use crate::attempts::one_of;
pub(crate) use crate::command::*;
pub(crate) use running::*;

/// The arguments by which the binary becomes a PE.
pub(crate) const ENTRY: [&str; 4] = ["--exact", "entry::program", "--nocapture", "-q"];

/// Not a test of its own: the PEs' entry.
#[test]
fn program() {
    if let Ok(name) = std::env::var(programs::NAME) {
        programs::run(&name);
    }
}
