//! The programs of the peers, which are built where the tool runs, and how they are started.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{Launcher, Missing, Peer, PeerError, Source};
use crate::scratch::Scratch;

/// What the programs in C have in common.
const HEADERS: [(&str, &str); 2] = [
    ("peer.h", include_str!("../../../../examples/peers/peer.h")),
    ("micro.h", include_str!("../../../../examples/peers/micro.h")),
];

/// How long a program may take to be built. C needs a second; a package with all that it depends on, minutes, but
/// only once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// The programs, in a directory of their own, which goes away with this.
#[derive(Debug)]
pub(crate) struct Programs {
    directory: Scratch,
    missing: Vec<Missing>,
}

impl Programs {
    /// Builds the programs of some peers, each within a time. Those that cannot be built are
    /// [`missing`](Self::missing).
    pub(crate) fn build(peers: &[Peer], patience: Duration) -> io::Result<Self> {
        let mut programs = Self { directory: Scratch::new()?, missing: Vec::new() };
        for (name, text) in HEADERS {
            fs::write(programs.directory().join(name), text)?;
        }
        for peer in peers.iter().copied() {
            if let Err(reason) = build(peer, programs.directory(), patience) {
                programs.missing.push(Missing { peer, reason });
            }
        }
        Ok(programs)
    }

    /// Where they are.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Those that could not be built.
    pub(crate) fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Forgets the program of a peer in a directory: it has failed, and nobody shall wait for it again.
    pub(crate) fn forget(peer: Peer, directory: &Path) {
        // Whoever tries it again finds out again.
        let _ = fs::remove_file(directory.join(peer.name()));
    }

    /// Where the commands of the C library are, of programs in a directory.
    pub(super) fn of_library(directory: &Path) -> PathBuf {
        directory.join("libshmem/bin")
    }

    /// The program of a peer in a directory, if it has been built.
    pub(crate) fn of(peer: Peer, directory: &Path) -> Option<PathBuf> {
        Some(directory.join(peer.name())).filter(|program| program.is_file())
    }
}

/// The packages of a C compiler.
pub(super) const CC: &str = "gcc libc6-dev";

/// Builds the program of a peer in a directory.
fn build(peer: Peer, directory: &Path, patience: Duration) -> Result<(), PeerError> {
    let of_c = |text, mut compiler: Command, packages| {
        let file = format!("{peer}.c");
        fs::write(directory.join(&file), text)?;
        compiler.args(["-O2", "-pthread", &file, "-o", peer.name()]).current_dir(directory);
        compile(&mut compiler, packages, directory, patience)
    };
    match peer.facts().1 {
        Source::C { text, compiler, packages } => of_c(text, Command::new(compiler), packages),
        Source::Own(text) => {
            library(directory, patience)?;
            of_c(text, Command::new(Programs::of_library(directory).join("oshcc")), CC)
        }
        Source::Package(manifest) => package(peer, Path::new(manifest), directory, patience),
    }
}

/// Makes the C library, and keeps what is built with what the workspace is built into.
fn library(directory: &Path, patience: Duration) -> Result<(), PeerError> {
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shmem-c/make.sh"));
    if !script.is_file() {
        return Err(PeerError::NoPackage(script.to_owned()));
    }
    let mut command = Command::new("sh");
    command.arg(script).arg(directory.join("libshmem"));
    compile(&mut command, CC, directory, patience)
}

/// Builds a package, and keeps what is built beside what the workspace is built into: it takes minutes.
fn package(peer: Peer, manifest: &Path, directory: &Path, patience: Duration) -> Result<(), PeerError> {
    if !manifest.is_file() {
        return Err(PeerError::NoPackage(manifest.to_owned()));
    }
    let target = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")).join(peer.name());
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--locked", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(&target);
    compile(&mut command, "cargo", directory, patience)?;
    symlink(target.canonicalize()?.join("release").join(peer.name()), directory.join(peer.name()))?;
    Ok(())
}

/// Runs a compiler to its end, or to the end of patience.
fn compile(
    command: &mut Command,
    packages: &'static str,
    directory: &Path,
    patience: Duration,
) -> Result<(), PeerError> {
    let until = Instant::now() + patience;
    let remarks = directory.join("compiler.remarks");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&remarks)?).process_group(0);
    let mut child = command.spawn().map_err(|error| PeerError::of_start(error, command, packages))?;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() < until => sleep(Duration::from_millis(5)),
            None => {
                // With what it has started itself.
                let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
                child.wait()?;
                return Err(PeerError::Slow(patience));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let compiler = command.get_program().to_string_lossy().into_owned();
    let report = String::from_utf8_lossy(&fs::read(&remarks)?).trim_end().to_owned();
    Err(PeerError::Compile { compiler, status, report })
}

/// What starts the processes of a program: two on the first two of some cores, or more on all of them.
pub(super) fn launch(peer: Peer, program: &Path, directory: &Path, cores: &[usize]) -> Command {
    let mut command = match peer.facts().2 {
        Launcher::OpenMpi(launcher) => open_mpi(launcher, program, directory),
        // It binds nothing either.
        Launcher::Own => {
            let mut command = Command::new(Programs::of_library(directory).join("oshrun"));
            command.args(["-np", &peer.processes(cores.len()).to_string()]).arg(program);
            command
        }
        Launcher::None => Command::new(program),
    };
    if let ([first, second, ..], 2) = (cores, peer.processes(cores.len())) {
        command.args([first.to_string(), second.to_string()]);
    }
    // Variables of our jobs. Some of them are OSHMEM's, too, and mean another job there.
    let is_ours =
        |name: &OsStr| [&b"SHMEM_"[..], b"SMA_"].iter().any(|prefix| name.as_bytes().starts_with(prefix));
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(name)) {
        command.env_remove(name);
    }
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

#[cfg(test)]
mod tests {
    use super::super::OPEN_MPI;
    use super::*;

    fn refused(command: &mut Command, patience: Duration) -> PeerError {
        let directory = tempfile::tempdir().unwrap();
        compile(command, OPEN_MPI, directory.path(), patience).unwrap_err()
    }

    #[test]
    fn a_missing_compiler_is_a_line_that_says_what_to_install() {
        let reason = refused(&mut Command::new("mpicc-of-nobody"), PATIENCE);
        let line = Missing { peer: Peer::Mpi, reason }.to_string();
        assert_eq!(
            line,
            "peer mpi: not installed, there is no mpicc-of-nobody (Debian: openmpi-bin libopenmpi-dev)"
        );
    }

    #[test]
    fn a_build_that_takes_too_long_is_ended_and_said() {
        let started = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000; true"]);
        let line = refused(&mut command, Duration::from_millis(50)).to_string();
        assert!(line.starts_with("its program was not built within 0 s"), "{line}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn the_directory_goes_away_with_the_programs() {
        let programs = Programs::build(&Peer::C, PATIENCE).unwrap();
        let directory = programs.directory().to_owned();
        assert!(directory.join("peer.h").is_file());
        for peer in Peer::C {
            let missing = programs.missing().iter().any(|missing| missing.peer == peer);
            assert_eq!(Programs::of(peer, &directory).is_none(), missing, "{peer}");
        }
        drop(programs);
        assert!(!directory.exists());
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
}
