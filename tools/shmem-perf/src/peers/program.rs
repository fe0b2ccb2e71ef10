//! The programs of the peers, which are built where the tool runs, and how they are started.

use std::ffi::{OsStr, OsString};
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
use tempfile::TempDir;

use super::{CC, Missing, Peer, PeerError, Source};

/// What the programs in C have in common.
const HEADERS: [(&str, &str); 2] =
    [("peer.h", example!("peers/peer.h")), ("micro.h", example!("peers/micro.h"))];

/// How long a program may take to be built. C needs a second; a package with all that it depends on, minutes, but
/// only once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// The programs, in a directory of their own, which goes away with this.
#[derive(Debug)]
pub(crate) struct Programs {
    directory: TempDir,
    missing: Vec<Missing>,
}

impl Programs {
    /// Builds the programs of some peers, each within a time. Those that cannot be built are
    /// [`missing`](Self::missing).
    pub(crate) fn build(peers: &[Peer], patience: Duration) -> io::Result<Self> {
        let mut programs = Self { directory: TempDir::new()?, missing: Vec::new() };
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

    /// The program of a peer in a directory, if it has been built.
    pub(crate) fn of(peer: Peer, directory: &Path) -> Option<PathBuf> {
        Some(directory.join(peer.name())).filter(|program| program.is_file())
    }
}

/// Builds the program of a peer in a directory.
fn build(peer: Peer, directory: &Path, patience: Duration) -> Result<(), PeerError> {
    let of_c = |text, mut compiler: Command, packages| {
        let file = format!("{peer}.c");
        fs::write(directory.join(&file), text)?;
        compiler.args(["-O2", "-pthread", &file, "-o", peer.name()]).current_dir(directory);
        compile(&mut compiler, packages, directory, patience)
    };
    let found = |file: &'static str| {
        let file = Path::new(file);
        let missing =
            || format!("its package is not at {}, where it was when this tool was built", file.display());
        file.is_file().then_some(file).ok_or_else(|| PeerError::Lost(missing()))
    };
    match peer.facts().1 {
        Source::C { text, compiler, packages } => of_c(text, Command::new(compiler), packages),
        // What is built of the library is kept with what the workspace is built into.
        Source::Own(text) => {
            let script = found(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shmem-c/make.sh"))?;
            let mut command = Command::new("sh");
            command.arg(script).arg(directory.join("libshmem"));
            compile(&mut command, CC, directory, patience)?;
            of_c(text, Command::new(of_library(directory).join("oshcc")), CC)
        }
        // The same of a package: it takes minutes.
        Source::Package(manifest) => {
            let target = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")).join(peer.name());
            let mut command = Command::new("cargo");
            command
                .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
                .arg(found(manifest)?);
            compile(command.arg("--target-dir").arg(&target), "cargo", directory, patience)?;
            symlink(target.canonicalize()?.join("release").join(peer.name()), directory.join(peer.name()))?;
            Ok(())
        }
    }
}

/// Where the commands of the C library are, of programs in a directory.
fn of_library(directory: &Path) -> PathBuf {
    directory.join("libshmem/bin")
}

/// Runs a compiler to its end, or to the end of patience.
fn compile(
    command: &mut Command,
    packages: &str,
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
                return Err(PeerError::Lost(format!(
                    "its program was not built within {} s; what is built so far is kept, another run goes on",
                    patience.as_secs()
                )));
            }
        }
    };
    if status.success() {
        return Ok(());
    }
    let (compiler, report) = (command.get_program().display(), fs::read(&remarks)?);
    let report = String::from_utf8_lossy(&report);
    Err(PeerError::Lost(format!("its program does not compile, {compiler}: {status}\n{}", report.trim_end())))
}

/// What starts the processes of a program: two on the first two of some cores, or more on all of them. Nothing binds them,
/// they do that by themselves: their CPUs are those of our PEs.
pub(super) fn launch(peer: Peer, program: &Path, directory: &Path, cores: &[usize]) -> Command {
    let mut command = match peer.facts().1 {
        Source::C { compiler: "cc", .. } | Source::Package(_) => Command::new(program),
        Source::C { compiler, .. } => {
            let launcher = if compiler == "oshcc" { "oshrun" } else { "mpirun" };
            open_mpi(launcher, &["-np", "2", "--bind-to", "none"], program, directory)
        }
        Source::Own(_) => {
            let mut command = Command::new(of_library(directory).join("oshrun"));
            command.args(["-np", &peer.processes(cores.len()).to_string()]).arg(program);
            command
        }
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

/// Open MPI's launcher with some options, and what makes it fast and lets it end:
///
/// * Without memory hooks, since OSHMEM ends with a segmentation fault otherwise.
/// * What it would leave behind when it is ended by force lies in the directory of the programs.
pub(crate) fn open_mpi(launcher: &str, options: &[&str], program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(launcher);
    command.args(["--allow-run-as-root", "--oversubscribe"]).args(options);
    command.args(["--mca", "memory", "^patcher"]);
    for parameter in ["orte_tmpdir_base", "btl_vader_backing_directory"] {
        command.args(["--mca", parameter]).arg(directory);
    }
    command.arg(program);
    command
}

/// A file beside this program, where a build leaves it; built, by these arguments of `cargo build`, if it is not there and the
/// sources are.
pub(crate) fn built(name: &str, arguments: &[&str]) -> Result<PathBuf, String> {
    let this =
        std::env::current_exe().map_err(|why| format!("the file of this program is not known: {why}"))?;
    let (file, by) = (this.with_file_name(name), arguments.join(" "));
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"));
    // target/release/shmem-perf
    if let Some(target) = this.ancestors().nth(2).filter(|_| !file.is_file() && sources.is_file()) {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet"]).args(arguments).arg("--manifest-path").arg(sources);
        build.args((!cfg!(debug_assertions)).then_some("--release")).env("CARGO_TARGET_DIR", target);
        let failed = |said: &str| format!("`cargo build {by}` has failed: {}", said.trim());
        let output = build.output().map_err(|error| failed(&error.to_string()))?;
        if !output.status.success() {
            return Err(failed(&String::from_utf8_lossy(&output.stderr)));
        }
    }
    let missing = || {
        let file = file.display();
        format!("{file} is not beside this program: `cargo build --release {by}` in the sources builds it")
    };
    file.is_file().then_some(&file).cloned().ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::super::OPEN_MPI;
    use super::*;

    fn refused(command: &mut Command, patience: Duration) -> PeerError {
        let directory = TempDir::new().unwrap();
        compile(command, OPEN_MPI, directory.path(), patience).unwrap_err()
    }

    #[test]
    fn a_missing_compiler_is_a_line_that_says_what_to_install() {
        let reason = refused(&mut Command::new("mpicc-of-nobody"), PATIENCE);
        let line = Missing { peer: Peer::Mpi, reason }.to_string();
        let expected =
            "peer mpi: not installed, there is no mpicc-of-nobody (Debian: openmpi-bin libopenmpi-dev)";
        assert_eq!(line, expected);
    }

    #[test]
    fn a_build_that_takes_too_long_is_ended_and_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000; true"]);
        let line = refused(&mut command, Duration::from_millis(50)).to_string();
        assert!(line.starts_with("its program was not built within 0 s"), "{line}");
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
