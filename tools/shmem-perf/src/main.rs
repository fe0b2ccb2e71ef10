//! `shmem-perf`: measures what operations cost on this machine, each against a limit measured beside it.
//!
//! The tool starts its own program as PEs, with the hidden subcommand `pe`. PE 0 prints its samples as
//! JSON; the tool joins those of several jobs and shows what comes out. Several, because which pages
//! a job gets is luck, and caches make a difference of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    shmem_perf::main()
}
