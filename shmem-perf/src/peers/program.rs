//! The programs of the peers: C that is compiled where the tool runs.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Missing, Peer, PeerError};

/// What the programs have in common.
const HEADER: (&str, &str) = ("peer.h", include_str!("../../../examples/peers/peer.h"));

/// The programs, in a directory of their own, which goes away with this.
#[derive(Debug)]
pub struct Programs {
    directory: PathBuf,
    missing: Vec<Missing>,
}

impl Programs {
    /// Compiles the programs of some peers. Those that cannot be compiled are [`missing`](Self::missing).
    ///
    /// # Errors
    ///
    /// If there is no place for them.
    pub fn build(peers: &[Peer]) -> io::Result<Self> {
        let mut programs = Self { directory: directory()?, missing: Vec::new() };
        fs::write(programs.directory.join(HEADER.0), HEADER.1)?;
        for peer in peers.iter().copied() {
            if let Err(reason) = compile(peer, peer.compiler(), &programs.directory) {
                programs.missing.push(Missing { peer, reason });
            }
        }
        Ok(programs)
    }

    /// Where they are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Those that could not be compiled.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Forgets the program of a peer in a directory: it has failed, and nobody shall wait for it again.
    pub fn forget(peer: Peer, directory: &Path) {
        // Whoever tries it again finds out again.
        let _ = fs::remove_file(directory.join(peer.name()));
    }

    /// The program of a peer in a directory, if it has been compiled.
    pub(super) fn of(peer: Peer, directory: &Path) -> Option<PathBuf> {
        Some(directory.join(peer.name())).filter(|program| program.is_file())
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        // What is left lies among temporary files.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A new directory that nobody else may look into.
fn directory() -> io::Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("shmem-peers-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        match fs::DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => return Ok(directory),
            // Left by a process of the same number that was ended by force.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn compile(peer: Peer, compiler: &'static str, directory: &Path) -> Result<(), PeerError> {
    let source = format!("{peer}.c");
    fs::write(directory.join(&source), peer.source())?;
    let mut command = Command::new(compiler);
    command.args(["-O2", &source, "-o", peer.name()]).current_dir(directory);
    let output = command.output().map_err(|error| not_found(error, compiler))?;
    if output.status.success() {
        return Ok(());
    }
    let report = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    Err(PeerError::Compile { compiler, status: output.status, report })
}

/// What it means that a program cannot be started.
pub(super) fn not_found(error: io::Error, program: &'static str) -> PeerError {
    match error.kind() {
        io::ErrorKind::NotFound => PeerError::NotInstalled(program),
        _ => PeerError::Run(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_a_line_that_says_what_to_install() {
        let directory = tempfile::tempdir().unwrap();
        let reason = compile(Peer::Mpi, "mpicc-of-nobody", directory.path()).unwrap_err();
        let line = Missing { peer: Peer::Mpi, reason }.to_string();
        assert_eq!(
            line,
            "peer mpi: not installed, there is no mpicc-of-nobody (Debian: openmpi-bin libopenmpi-dev)"
        );
        assert_eq!(Programs::of(Peer::Mpi, directory.path()), None);
    }

    #[test]
    fn a_compiler_that_refuses_is_quoted() {
        let directory = tempfile::tempdir().unwrap();
        // No compiler that knows of no library finds its header.
        let line = compile(Peer::Oshmem, "false", directory.path()).unwrap_err().to_string();
        assert!(line.starts_with("its program does not compile, false: exit status: 1"), "{line}");
    }

    #[test]
    fn the_directory_goes_away_with_the_programs() {
        let programs = Programs::build(&Peer::ALL).unwrap();
        let directory = programs.directory().to_owned();
        assert!(directory.join("peer.h").is_file());
        for peer in Peer::ALL {
            let missing = programs.missing().iter().any(|missing| missing.peer == peer);
            assert_eq!(Programs::of(peer, &directory).is_none(), missing, "{peer}");
        }
        drop(programs);
        assert!(!directory.exists());
    }
}
