//! The programs of the peers, which are built where the tool runs.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{Missing, Peer, PeerError, Source};
use crate::scratch::Scratch;

/// What the programs in C have in common.
const HEADERS: [(&str, &str); 2] = [
    ("peer.h", include_str!("../../../../examples/peers/peer.h")),
    ("micro.h", include_str!("../../../../examples/peers/micro.h")),
];

/// How long a program may take to be built. C needs a second; a package with all that it depends on, minutes, but
/// only once.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// The programs, in a directory of their own, which goes away with this.
#[derive(Debug)]
pub struct Programs {
    directory: Scratch,
    missing: Vec<Missing>,
}

impl Programs {
    /// Builds the programs of some peers, each within a time. Those that cannot be built are
    /// [`missing`](Self::missing).
    ///
    /// # Errors
    ///
    /// If there is no place for them.
    pub fn build(peers: &[Peer], patience: Duration) -> io::Result<Self> {
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
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Those that could not be built.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Forgets the program of a peer in a directory: it has failed, and nobody shall wait for it again.
    pub fn forget(peer: Peer, directory: &Path) {
        // Whoever tries it again finds out again.
        let _ = fs::remove_file(directory.join(peer.name()));
    }

    /// Where the commands of the C library are, of programs in a directory.
    pub(super) fn of_library(directory: &Path) -> PathBuf {
        directory.join("libshmem/bin")
    }

    /// The program of a peer in a directory, if it has been built.
    pub fn of(peer: Peer, directory: &Path) -> Option<PathBuf> {
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
    match peer.source() {
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
    fn a_compiler_that_refuses_is_quoted() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'no such header' >&2; exit 1"]);
        let line = refused(&mut command, PATIENCE).to_string();
        assert_eq!(line, "its program does not compile, sh: exit status: 1\nno such header");
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
    fn a_package_that_is_not_there_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let manifest = directory.path().join("Cargo.toml");
        let error = package(Peer::Lamellar, &manifest, directory.path(), PATIENCE).unwrap_err().to_string();
        assert!(error.starts_with("its package is not at ") && error.contains("Cargo.toml"), "{error}");
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
}
