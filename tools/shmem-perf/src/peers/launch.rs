//! How peers are started.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use super::program::Programs;
use super::{Launcher, Peer};

/// What starts the processes of a program: two on the first two of some cores, or more on all of them.
pub(super) fn launch(peer: Peer, program: &Path, directory: &Path, cores: &[usize]) -> Command {
    let mut command = match peer.launcher() {
        Launcher::OpenMpi(launcher) => open_mpi(launcher, program, directory),
        Launcher::Own => own(peer.processes(cores.len()), program, directory),
        Launcher::None => Command::new(program),
    };
    if let ([first, second, ..], 2) = (cores, peer.processes(cores.len())) {
        command.args([first.to_string(), second.to_string()]);
    }
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(name)) {
        command.env_remove(name);
    }
    command
}

/// The launcher of the C library, which binds nothing either.
fn own(processes: usize, program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(Programs::of_library(directory).join("oshrun"));
    command.args(["-np", &processes.to_string()]).arg(program);
    command
}

/// Open MPI's launcher, with what makes it fast and lets it end:
///
/// * It binds nothing, the program does that by itself: its CPUs are those of our PEs.
/// * Without memory hooks, since OSHMEM ends with a segmentation fault otherwise.
/// * What it would leave behind when it is ended by force lies in the directory of the programs.
fn open_mpi(launcher: &str, program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(launcher);
    command.args(["-np", "2", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]);
    command.args(["--mca", "memory", "^patcher"]);
    for parameter in ["orte_tmpdir_base", "btl_vader_backing_directory"] {
        command.args(["--mca", parameter]).arg(directory);
    }
    command.arg(program);
    command
}

/// Whether a variable is one of our jobs. Some of them are OSHMEM's, too, and mean another job there.
fn is_ours(name: &OsStr) -> bool {
    [&b"SHMEM_"[..], b"SMA_"].iter().any(|prefix| name.as_bytes().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_our_jobs_do_not_reach_the_peers() {
        assert!(is_ours(OsStr::new("SHMEM_SYMMETRIC_SIZE")) && is_ours(OsStr::new("SMA_SYMMETRIC_SIZE")));
        assert!(!is_ours(OsStr::new("PATH")) && !is_ours(OsStr::new("OMPI_MCA_pml")));
    }

    #[test]
    fn two_cores_are_for_the_two_processes() {
        let of = |cores: &[usize]| {
            let command = launch(Peer::Oshmem, Path::new("program"), Path::new("here"), cores);
            let arguments: Vec<_> =
                command.get_args().map(|one| one.to_string_lossy().into_owned()).collect();
            arguments[arguments.iter().position(|one| one == "program").unwrap()..].join(" ")
        };
        assert_eq!(of(&[3, 5, 7]), "program 3 5");
        assert_eq!(of(&[3]), "program");
    }

    #[test]
    fn more_processes_than_cores_are_put_on_none() {
        for (cores, processes) in [(&[3][..], "4"), (&[3, 5], "4"), (&[3, 5, 7], "6")] {
            let command = launch(Peer::Waking, Path::new("program"), Path::new("here"), cores);
            let arguments: Vec<_> =
                command.get_args().map(|one| one.to_string_lossy().into_owned()).collect();
            assert_eq!(arguments, ["-np", processes, "program"]);
        }
    }
}
