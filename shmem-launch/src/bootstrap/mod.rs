//! Bringing a job together: who am I, how many are we, who else is on this host, and a way to tell
//! each other small things until the arena exists.

mod connection;
mod counted;
mod foreign;
mod launcher;
mod local;
mod managed;
mod manager;
mod peer;
mod pmi;
mod pmix;
mod singleton;
mod steps;

pub use connection::{Connection, attach_wait, connect};
pub use counted::CountedBootstrap;
pub use foreign::require_one_process;
pub use launcher::{Bootstrap, Exchanged};
pub use local::Local;
pub use managed::Managed;
pub use manager::ProcessManager;
pub use singleton::Singleton;
