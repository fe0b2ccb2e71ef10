//! Joining a job: this PE's number, the number of PEs, their hosts, and an exchange of values before symmetric memory exists.

mod connect;
mod exchange_client;
mod foreign_launchers;
mod interface;
mod managed;
mod pe_claim;
mod pmi;
mod pmix;
mod process_manager;
mod shmrun;
mod singleton;
mod socket_peer;

pub use connect::{Connection, attach_wait, connect};
pub use foreign_launchers::require_one_process;
pub use interface::{Bootstrap, Exchanged};
pub use managed::Managed;
pub use process_manager::ProcessManager;
pub use shmrun::Local;
pub use singleton::Singleton;
