//! `shmem-perf`: measures what operations cost on this machine, each against a limit measured beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    shmem_perf::main()
}
