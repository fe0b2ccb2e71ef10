//! Bringing a job together: who am I, how many are we, who else is on this host, and a way to tell
//! each other small things until the arena exists.

mod connection;
mod counted;
mod debugger;
mod exchanged;
mod foreign;
mod launcher;
mod local;
mod peer;
mod pmix;
mod singleton;
mod steps;
mod visible;

pub use connection::{Connection, connect};
pub use counted::CountedBootstrap;
pub use debugger::attach_wait;
pub use exchanged::Exchanged;
pub use foreign::require_one_process;
pub use launcher::Bootstrap;
pub use local::Local;
pub use pmix::Pmix;
pub use singleton::Singleton;
