//! Launchers that start processes and say so in the environment.

use std::io;
use std::time::Duration;

use shmem_core::exit;

use super::{pmi, pmix};
use crate::env::{EnvError, TRANSPORT};
use crate::launch::{NPES, PE};

/// Refuses PEs that are threads of this process where a launcher has started several processes: each would be a job of
/// its own.
///
/// # Errors
///
/// If the environment tells of several.
pub fn require_one_process() -> Result<(), EnvError> {
    let ours = ("shmrun", NPES, PE, "");
    let variable = |name: &str| std::env::var(name).ok();
    match Foreign::among([&ours], variable).or_else(|| Foreign::among(&LAUNCHERS, variable)) {
        Some(Foreign { launcher, variable, count, .. }) => Err(EnvError::Processes {
            variable: TRANSPORT.name.to_owned(),
            launcher,
            counted: variable,
            count,
        }),
        None => Ok(()),
    }
}

/// With what a process ends that has not become a PE.
const CODE: i32 = 2;

/// How long the first process has for its message.
const FIRST_TURN: Duration = Duration::from_secs(1);

/// A process of several that a launcher has started, which PEs cannot join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    launcher: &'static str,
    variable: &'static str,
    advice: &'static str,
    count: usize,
    rank: usize,
}

/// Launcher, number of processes, number of this one, and how it would start PEs.
type Launcher = (&'static str, &'static str, &'static str, &'static str);

/// The launcher speaks PMIx, and its server was not reached.
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
    ("a launcher", "PMI_SIZE", "PMI_RANK", "use one that speaks PMIx or PMI-1 (PMI_FD, PMI_PORT)"),
];

impl Foreign {
    /// The launcher that the environment tells of, if it started more than one process.
    pub(super) fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        // A socket of PMI that is announced is not there: what else that launcher has said is left over from another process as well.
        let is_announced = variable(pmi::FD).is_some();
        let said = |size: &str, rank: &str| (variable(size), variable(rank));
        let is_left_over = |&&(_, size, rank, _): &&Launcher| {
            is_announced && (size == "MPI_LOCALNRANKS" || said(size, rank) == said("PMI_SIZE", "PMI_RANK"))
        };
        Self::among(LAUNCHERS.iter().filter(|launcher| !is_left_over(launcher)), &variable)
    }

    fn among<'l>(
        launchers: impl IntoIterator<Item = &'l Launcher>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
        launchers.into_iter().find_map(|&(launcher, size, rank, advice)| {
            let count = number(size).filter(|&count| count > 1)?;
            let advice = if variable(pmix::NAMESPACE).is_some() { OUT_OF_REACH } else { advice };
            Some(Self { launcher, variable: size, advice, count, rank: number(rank)? })
        })
    }

    /// The first of the processes has the error, for all; the others end.
    pub(super) fn refuse(&self) -> io::Result<()> {
        match self.rank {
            0 => Err(io::Error::other(self.error())),
            _ => {
                // Launchers end a job in which a process fails, and the first one has to say why.
                std::thread::sleep(FIRST_TURN);
                exit::end(CODE, || ())
            }
        }
    }

    fn error(&self) -> String {
        let Self { launcher, variable, advice, count, .. } = self;
        format!(
            "{launcher} has started {count} processes ({variable}={count}), which cannot be brought together as one job: {advice}, or start the program with `shmrun -n {count}`; for {count} jobs of one PE each set SHMEM_SINGLETON=1"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<Foreign> {
        Foreign::find(|name| Some(variables.iter().find(|(n, _)| *n == name)?.1.to_owned()))
    }

    #[test]
    fn several_processes_of_another_launcher_are_noticed_once() {
        let first = find(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "0")]).unwrap();
        let text = first.refuse().unwrap_err().to_string();
        assert!(text.starts_with("mpirun has started 4 processes (OMPI_COMM_WORLD_SIZE=4)"), "{text}");
        assert!(text.contains("`shmrun -n 4`; for 4 jobs"), "{text}");
        let first = find(&[("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_PROCID", "0")]).unwrap();
        assert!(first.error().contains("add --mpi=pmix or --mpi=pmi2 to srun, or"));
        let apart = [("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "0"), ("PMIX_NAMESPACE", "job")];
        assert!(
            find(&apart).unwrap().error().contains("its PMIx server does not answer; in a container, share")
        );
        let library = find(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]).unwrap();
        assert!(library.error().contains("use one that speaks PMIx or PMI-1"));
    }

    #[test]
    fn one_process_is_no_mistake() {
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")]), None);
        assert_eq!(find(&[("PMI_SIZE", "many"), ("PMI_RANK", "0")]), None);
        let left_over = [("PMI_SIZE", "2"), ("PMI_RANK", "0"), ("PMI_FD", "6")];
        assert_eq!(find(&left_over), None);
        let of_srun = |count| [("SLURM_STEP_NUM_TASKS", count), ("SLURM_PROCID", "0")];
        assert_eq!(find(&[&left_over[..], &of_srun("2")].concat()), None);
        // Another job, in a shell of the one that is left over.
        assert!(find(&[&left_over[..], &of_srun("4")].concat()).is_some());
    }
}
