//! The programs of the peers, which are built where the tool runs, and how they are started.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use tempfile::TempDir;

use super::{CARGO, OWN, Peer, PeerError};

const HEADERS: [(&str, &str); 2] =
    [("peer.h", example!("peers/peer.h")), ("micro.h", example!("peers/micro.h"))];

/// How long a program may take to be built. C needs a second; a package with all that it depends on, minutes, but
/// only once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// What `timeout` says of a program that it has ended, and of one that is not there.
pub(crate) const LATE: i32 = 124;
pub(crate) const MISSING: i32 = 127;

/// The programs, in a directory of their own, which goes away with this.
#[derive(Debug)]
pub(crate) struct Programs {
    directory: TempDir,
    pub(crate) missing: Vec<String>,
}

impl Programs {
    /// Builds the programs of some peers, each within a time. Those that cannot be built are
    /// [`missing`](Self::missing).
    pub(crate) fn build(peers: &[Peer], patience: Duration) -> io::Result<Self> {
        let mut programs = Self { directory: TempDir::new()?, missing: Vec::new() };
        for (name, text) in HEADERS {
            fs::write(programs.directory().join(name), text)?;
        }
        for &peer in peers {
            if let Err(reason) = build(peer, programs.directory(), patience) {
                programs.missing.push(format!("peer {peer}: {reason}"));
            }
        }
        Ok(programs)
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn of(peer: Peer, directory: &Path) -> Option<PathBuf> {
        Some(directory.join(peer.name)).filter(|program| program.is_file())
    }
}

/// Builds the program of a peer in a directory: within the time that is left, with what a compiler starts itself.
fn build(peer: Peer, directory: &Path, patience: Duration) -> Result<(), PeerError> {
    let seconds = patience.as_secs();
    let compile = |compiler: &OsStr, arguments: &[&OsStr]| {
        let mut timeout = Command::new("timeout");
        timeout.current_dir(directory).args(["--kill-after=1", &seconds.to_string()]);
        let output = timeout.arg(compiler).args(arguments).output()?;
        let why = match output.status.code() {
            Some(0) => return Ok(()),
            Some(MISSING) => return Err(PeerError::not_installed(compiler)),
            Some(LATE) => format!(
                "its program was not built within {seconds} s; what is built so far is kept, another run goes on"
            ),
            _ => format!(
                "its program does not compile, {}: {}\n{}",
                compiler.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr).trim_end()
            ),
        };
        Err(PeerError::Lost(why))
    };
    let of_c = |compiler: &OsStr| {
        let file = format!("{peer}.c");
        fs::write(directory.join(&file), peer.source)?;
        compile(compiler, &["-O2", "-pthread", &file, "-o", peer.name].map(OsStr::new))
    };
    let found = |file: &'static str| {
        let missing = || format!("its package is not at {file}, where it was when this tool was built");
        Path::new(file).is_file().then_some(OsStr::new(file)).ok_or_else(|| PeerError::Lost(missing()))
    };
    match peer.by {
        // What is built of the library is kept with what the workspace is built into.
        OWN => {
            let script = found(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shmem-c/make.sh"))?;
            compile(OsStr::new("sh"), &[script, directory.join("libshmem").as_os_str()])?;
            of_c(of_library(directory).join("oshcc").as_os_str())
        }
        // The same of a package: it takes minutes.
        CARGO => {
            let target = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")).join(peer.name);
            let build = ["build", "--quiet", "--release", "--locked", "--manifest-path"].map(OsStr::new);
            let of = [found(peer.source)?, OsStr::new("--target-dir"), target.as_os_str()];
            compile(OsStr::new(CARGO), &[&build[..], &of].concat())?;
            symlink(target.canonicalize()?.join("release").join(peer.name), directory.join(peer.name))?;
            Ok(())
        }
        compiler => of_c(OsStr::new(compiler)),
    }
}

fn of_library(directory: &Path) -> PathBuf {
    directory.join("libshmem/bin")
}

/// What starts the processes of a program: two on the first two of some cores, or more on all of them. Nothing binds them,
/// they do that by themselves: their CPUs are those of our PEs.
pub(super) fn launch(peer: Peer, program: &Path, directory: &Path, cores: &[usize]) -> Command {
    let mut command = match peer.by {
        "cc" | CARGO => Command::new(program),
        OWN => {
            let mut command = Command::new(of_library(directory).join("oshrun"));
            command.args(["-np", &peer.processes(cores.len()).to_string()]).arg(program);
            command
        }
        compiler => {
            let launcher = if compiler == "oshcc" { "oshrun" } else { "mpirun" };
            open_mpi(launcher, &["-np", "2", "--bind-to", "none"], program, directory)
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
fn open_mpi(launcher: &str, options: &[&str], program: &Path, directory: &Path) -> Command {
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
