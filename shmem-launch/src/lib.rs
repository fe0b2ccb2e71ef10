//! What comes before there is memory: starting the PEs of a job, and seeing it to its end;
//! joining it; and what the environment sets.
//!
//! Nothing here knows of worlds, teams or heaps; those stand in `shmem-rt`, which imports this crate and never the other
//! way round. Inside, a module imports only those below it (`ui-tests/tests/layers.rs` holds it to that):
//!
//! ```text
//! bootstrap    joining a job: who am I, how many are we, who shares this host
//! launch       starting PEs and seeing them to their end: the library behind `shmrun`
//! env          the environment variables, in one table
//! cpus         the CPUs that processes may run on
//! codec        how what launchers and PEs tell each other becomes bytes
//! text         words for people that launcher and PEs share
//! say          messages to people
//! ```

// Where documentation of another crate finds it while its own is being made.
#![doc(html_root_url = "https://docs.rs/shmem-launch/0.1.0")]

pub mod bootstrap;
pub mod codec;
pub mod cpus;
pub mod env;
pub mod launch;
pub mod say;
pub mod text;
