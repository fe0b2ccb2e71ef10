//! Joining a job: number and count of PEs, their hosts, and an exchange of small values until there is symmetric memory.

mod claim;
mod connection;
mod counted;
mod exchange;
mod foreign;
mod launcher;
mod local;
mod managed;
mod peer;
mod pmi;
mod pmix;
mod process_manager;
mod singleton;

pub use connection::{Connection, attach_wait, connect};
pub use counted::CountedBootstrap;
pub use foreign::require_one_process;
pub use launcher::{Bootstrap, Exchanged};
pub use local::Local;
pub use managed::Managed;
pub use process_manager::ProcessManager;
pub use singleton::Singleton;
