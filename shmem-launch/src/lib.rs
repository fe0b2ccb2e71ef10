//! What a job needs before symmetric memory exists: starting and ending its processes, joining the job, and environment variables.
//!
//! A module imports only those below it (`ui-tests/tests/layers.rs` checks it):
//!
//! ```text
//! bootstrap    joining a job: number and count of PEs, their hosts, exchange of values
//! launch       starting, watching and ending PEs: the library behind `shmrun`
//! env          the environment variables, in one table
//! cpus         the CPUs that processes may run on
//! codec        messages between launchers and PEs, as bytes
//! diagnostics  printing error texts and warnings
//! pe_list      lists of PEs in texts
//! ```

// Other crates' documentation links to this address.
#![doc(html_root_url = "https://docs.rs/shmem-launch/0.1.0")]

pub mod bootstrap;
pub mod codec;
pub mod cpus;
pub mod diagnostics;
pub mod env;
pub mod launch;
pub mod pe_list;
