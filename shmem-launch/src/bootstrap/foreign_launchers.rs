//! Launchers that PEs cannot join, but whose environment variables announce several processes.

use std::io;
use std::time::Duration;

use shmem_core::process_exit;

use super::{pmi, pmix};
use crate::env::{EnvError, TRANSPORT};
use crate::launch::NPES;

/// Checks that no launcher has started several processes. Called if PEs are threads: then each process would be a separate job.
///
/// # Errors
///
/// If a launcher has started several processes.
pub fn require_one_process() -> Result<(), EnvError> {
    let counts = LAUNCHERS.iter().map(|(launcher, size, ..)| (*launcher, *size));
    let several = [("shmrun", NPES)].into_iter().chain(counts).find_map(|(launcher, size)| {
        let count = std::env::var(size).ok()?.trim().parse::<usize>().ok().filter(|&count| count > 1)?;
        let why = format!(
            "the PEs are threads of one process, and {launcher} has started {count} ({size}={count}); start the program by itself with SHMEM_NPES={count}, or unset {}; for a program that one of these processes starts, unset {size}",
            TRANSPORT.name
        );
        Some(EnvError { variable: TRANSPORT.name.to_owned(), value: "loopback".to_owned(), why })
    });
    several.map_or(Ok(()), Err)
}

const CODE: i32 = 2;

/// Time for the launcher's first process to print its error.
const FIRST_TURN: Duration = Duration::from_secs(1);

/// Name of a launcher, its variables for the number of processes and for this process's number, and advice for the user.
type Launcher = (&'static str, &'static str, &'static str, &'static str);

/// Advice if a PMIx launcher has started this process, but its server cannot be reached.
const OUT_OF_REACH: &str =
    "its PMIx server does not answer; in a container, share the host's network, users and /tmp with it";

const LAUNCHERS: [Launcher; 4] = [
    (
        "mpirun",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_RANK",
        "use an mpirun that speaks PMIx (Open MPI 4 or later)",
    ),
    ("mpirun", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", "use an mpirun that speaks PMIx (Open MPI 4 or later)"),
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "add --mpi=pmix or --mpi=pmi2 to srun"),
    ("a launcher", pmi::SIZE, pmi::RANK, "use one that speaks PMIx or PMI-1 (PMI_FD, PMI_PORT)"),
];

/// Fails if a launcher that cannot be joined has started several processes. Only the first of them returns; the others end.
pub(super) fn refuse() -> io::Result<()> {
    match several(|name| std::env::var(name).ok()) {
        None => Ok(()),
        Some((0, error)) => Err(io::Error::other(error)),
        Some(_) => {
            // Wait, so that process 0 can print the error before the launcher ends the job, which it does when a process fails.
            std::thread::sleep(FIRST_TURN);
            process_exit::end(CODE, || ())
        }
    }
}

/// Returns this process's number and an error if a launcher has started several processes. `variable` reads the environment.
fn several(variable: impl Fn(&str) -> Option<String>) -> Option<(usize, String)> {
    // No launcher was joined. So if `PMI_FD` is set, its socket is missing, and that launcher's other variables are left over, too,
    // and do not count.
    let is_announced = variable(pmi::FD).is_some();
    let said = |size: &str, rank: &str| (variable(size), variable(rank));
    let is_left_over = |size: &str, rank: &str| {
        is_announced && (size == "MPI_LOCALNRANKS" || said(size, rank) == said(pmi::SIZE, pmi::RANK))
    };
    let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
    LAUNCHERS.into_iter().filter(|(_, size, rank, _)| !is_left_over(size, rank)).find_map(
        |(launcher, size, rank, advice)| {
            let count = number(size).filter(|&count| count > 1)?;
            let advice = if variable(pmix::NAMESPACE).is_some() { OUT_OF_REACH } else { advice };
            let error = format!(
                "{launcher} has started {count} processes ({size}={count}), which cannot be brought together as one job: {advice}, or start the program with `shmrun -n {count}`; for {count} jobs of one PE each set SHMEM_SINGLETON=1"
            );
            Some((number(rank)?, error))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_processes_of_another_launcher_are_noticed() {
        let mpirun = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "0")];
        let pmi = |size| [("PMI_SIZE", size), ("PMI_RANK", "0")];
        let srun = |count| [("SLURM_STEP_NUM_TASKS", count), ("SLURM_PROCID", "0")];
        let left_over = [&pmi("2")[..], &[("PMI_FD", "6")]].concat();
        let pmix = [&mpirun[..], &[("PMIX_NAMESPACE", "job")]].concat();
        for (variables, part) in [
            (&mpirun[..], Some("mpirun has started 4 processes (OMPI_COMM_WORLD_SIZE=4)")),
            (&mpirun, Some("`shmrun -n 4`; for 4 jobs")),
            (&srun("2"), Some("add --mpi=pmix or --mpi=pmi2 to srun, or")),
            (&pmix, Some("its PMIx server does not answer; in a container, share")),
            (&pmi("2"), Some("use one that speaks PMIx or PMI-1")),
            (&[], None),
            (&pmi("1"), None),
            (&pmi("many"), None),
            (&left_over, None),
            (&[&left_over[..], &srun("2")].concat(), None),
            // Another job, started from a shell in the one that is left over.
            (&[&left_over[..], &srun("4")].concat(), Some("srun has started 4")),
        ] {
            let found =
                several(|name| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_owned()));
            let matches = match (&found, part) {
                (Some((0, text)), Some(part)) => text.contains(part),
                (found, part) => found.is_none() && part.is_none(),
            };
            assert!(matches, "{variables:?}: {found:?}");
        }
    }
}
