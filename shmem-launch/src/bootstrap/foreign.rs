//! Launchers that announce several processes in the environment, which PEs cannot join.

use std::io;
use std::time::Duration;

use shmem_core::exit;

use super::{pmi, pmix};
use crate::env::{EnvError, TRANSPORT};
use crate::launch::NPES;

/// Refuses PEs that are threads of this process if a launcher has started several processes: each would be a job of its own.
///
/// # Errors
///
/// If the environment announces several processes.
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

/// Exit code of a process that has not become a PE.
const CODE: i32 = 2;

/// Time for the first process to print its message.
const FIRST_TURN: Duration = Duration::from_secs(1);

/// A launcher, the variables of its number of processes and of this one's number, and advice how it starts PEs.
type Launcher = (&'static str, &'static str, &'static str, &'static str);

/// Advice for a launcher that speaks PMIx, if its server was not reached.
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

/// Ends all but the first of several processes that a launcher has started; the first returns the error.
pub(super) fn refuse() -> io::Result<()> {
    match several(|name| std::env::var(name).ok()) {
        None => Ok(()),
        Some((0, error)) => Err(io::Error::other(error)),
        Some(_) => {
            // Launchers end a job in which a process fails. Before that, the first one prints why.
            std::thread::sleep(FIRST_TURN);
            exit::end(CODE, || ())
        }
    }
}

/// The number of this process among several of a launcher, and the error. `variable` reads the environment.
fn several(variable: impl Fn(&str) -> Option<String>) -> Option<(usize, String)> {
    // A socket of PMI is announced but missing, so the other variables of that launcher are left over from another process.
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

    fn find(variables: &[(&str, &str)]) -> Option<(usize, String)> {
        several(|name| Some(variables.iter().find(|(n, _)| *n == name)?.1.to_owned()))
    }

    #[test]
    fn several_processes_of_another_launcher_are_noticed() {
        let of_mpirun = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "0")];
        let (rank, text) = find(&of_mpirun).unwrap();
        assert!(
            rank == 0 && text.starts_with("mpirun has started 4 processes (OMPI_COMM_WORLD_SIZE=4)"),
            "{text}"
        );
        for (variables, part) in [
            (&of_mpirun[..], "`shmrun -n 4`; for 4 jobs"),
            (
                &[("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_PROCID", "0")],
                "add --mpi=pmix or --mpi=pmi2 to srun, or",
            ),
            (
                &[&of_mpirun[..], &[("PMIX_NAMESPACE", "job")]].concat(),
                "its PMIx server does not answer; in a container, share",
            ),
            (&[("PMI_SIZE", "2"), ("PMI_RANK", "0")], "use one that speaks PMIx or PMI-1"),
        ] {
            let (_, text) = find(variables).unwrap();
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn one_process_is_no_mistake() {
        let left_over = [("PMI_SIZE", "2"), ("PMI_RANK", "0"), ("PMI_FD", "6")];
        let of_srun = |count| [("SLURM_STEP_NUM_TASKS", count), ("SLURM_PROCID", "0")];
        let both = |count| [&left_over[..], &of_srun(count)].concat();
        let few = |size| [("PMI_SIZE", size), ("PMI_RANK", "0")];
        for variables in [&[][..], &few("1"), &few("many"), &left_over, &both("2")] {
            assert_eq!(find(variables), None, "{variables:?}");
        }
        // Another job, in a shell of the one that is left over.
        assert!(find(&both("4")).is_some());
    }
}
