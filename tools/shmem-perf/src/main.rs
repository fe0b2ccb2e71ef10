//! The program `shmem-perf`, which measures what operations cost on this machine.

use std::process::ExitCode;

fn main() -> ExitCode {
    shmem_perf::main()
}
