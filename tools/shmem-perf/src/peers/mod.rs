//! Peers: programs of other libraries that are measured beside our own.
//!
//! A peer is a small C program (`examples/peers`) with two processes, which uses its library in the fastest way. It is
//! [built](Programs) where the tool runs, and [keeps running](Running) beside PE 0. It answers each [request](PeerRequest) with
//! samples of one operation, and sleeps in between. So samples of both libraries are taken in turn, on the same cores. Missing
//! peers are reported.

macro_rules! example {
    ($file:literal) => {
        include_str!(concat!("../../../../examples/", $file))
    };
}

mod running;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fmt, fs, io};

use tempfile::TempDir;

pub(crate) use self::running::{PeerRequest, Running};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// Text of the program's C file.
    source: &'static str,
    /// The C compiler that builds the program: a command of a Debian package, or [`OWN`].
    by: &'static str,
}

/// Stands for the compiler and the launcher of this workspace's C library.
const OWN: &str = "library";

impl Peer {
    /// Strided transfers by Open MPI's MPI-3 one-sided communication. [`OSHMEM`](Self::OSHMEM) does the same by Open MPI's
    /// OpenSHMEM.
    pub(crate) const MPI: Self = Self::of("mpi", example!("peers/mpi.c"), "mpicc");
    pub(crate) const OSHMEM: Self = Self::of("oshmem", example!("peers/oshmem.c"), "oshcc");
    pub(crate) const FLOOR: Self = Self::of("floor", example!("peers/floor.c"), "cc");
    /// Micro-benchmarks by Open MPI's OpenSHMEM. [`MPI_MICRO`](Self::MPI_MICRO) does the same by MPI-3 (one-sided, and
    /// collectives).
    pub(crate) const OSHMEM_MICRO: Self = Self::of("oshmem-micro", example!("peers/oshmem-micro.c"), "oshcc");
    pub(crate) const MPI_MICRO: Self = Self::of("mpi-micro", example!("peers/mpi-micro.c"), "mpicc");
    /// Single routines of Open MPI's OpenSHMEM. [`ROUTINES`](Self::ROUTINES) are those of our C library.
    pub(crate) const OSHMEM_ROUTINES: Self =
        Self::of("oshmem-routines", example!("peers/routines.c"), "oshcc");
    pub(crate) const ROUTINES: Self = Self::of("routines", example!("peers/routines.c"), OWN);
    /// Micro-benchmarks of our C library, by the same program as [`OSHMEM_MICRO`](Self::OSHMEM_MICRO).
    pub(crate) const LIBRARY: Self = Self::of("library", example!("peers/oshmem-micro.c"), OWN);
    /// Measures how PEs of our C library wake each other, with more processes than cores.
    pub(crate) const WAKING: Self = Self::of("waking", example!("peers/waking.c"), OWN);
    /// A program that uses our C library and answers no requests. Each PE prints a line and ends.
    pub(crate) const HELLO: Self = Self::of("hello", example!("c/hello.c"), OWN);

    pub(crate) const STRIDED: [Self; 2] = [Self::MPI, Self::OSHMEM];

    pub(crate) const MICRO: [Self; 3] = [Self::FLOOR, Self::OSHMEM_MICRO, Self::MPI_MICRO];

    /// The peers that run beside PE 0 and answer requests.
    pub(crate) const ANSWERING: [&[Self]; 3] =
        [&Self::STRIDED, &Self::MICRO, &[Self::OSHMEM_ROUTINES, Self::ROUTINES, Self::LIBRARY]];

    const fn of(name: &'static str, source: &'static str, by: &'static str) -> Self {
        Self { name, source, by }
    }

    /// Returns whether the peer needs no other library. Such a peer runs also when other libraries are left out.
    pub(crate) fn is_own(self) -> bool {
        [OWN, "cc"].contains(&self.by)
    }

    /// Returns the number of the peer's processes: two, or for [`WAKING`](Self::WAKING) twice the number of cores, at least 4.
    pub(crate) fn processes(self, cores: usize) -> usize {
        if self == Self::WAKING { 2 * cores.max(2) } else { 2 }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    /// The peer cannot be used any more: its compiler is missing, its program does not compile or hangs, or an answer is wrong.
    #[error("{0}")]
    Lost(String),
    #[error("{fault} (asked for `{request}`)")]
    Refused { request: String, fault: String },
}

impl From<io::Error> for PeerError {
    fn from(error: io::Error) -> Self {
        Self::Lost(format!("its program could not be run: {error}"))
    }
}

const HEADERS: [(&str, &str); 2] =
    [("peer.h", example!("peers/peer.h")), ("micro.h", example!("peers/micro.h"))];

/// Upper limit on the time to build a program. A peer needs a second. This workspace's C library needs minutes, but only once.
const PATIENCE: Duration = Duration::from_secs(240);

/// Exit code of `timeout` for a program that it has ended. [`MISSING`] is its exit code if the program does not exist.
pub(crate) const LATE: i32 = 124;
pub(crate) const MISSING: i32 = 127;

/// The built programs of peers. Their directory is removed with this value.
#[derive(Debug)]
pub(crate) struct Programs {
    directory: TempDir,
    pub(crate) missing: Vec<String>,
}

impl Programs {
    /// Builds the programs of peers. [`missing`](Self::missing) lists the peers whose programs cannot be built.
    pub(crate) fn build(peers: &[Peer]) -> io::Result<Self> {
        let mut programs = Self { directory: TempDir::new()?, missing: Vec::new() };
        for (name, text) in HEADERS {
            fs::write(programs.directory().join(name), text)?;
        }
        for &peer in peers {
            if let Err(reason) = build(peer, programs.directory()) {
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

/// The directory of this workspace, on the machine that built the tool.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Options of Open MPI's launchers. `^patcher` turns off memory hooks, with which OSHMEM ends by a segmentation fault. Temporary
/// files are in the directory of the programs.
const OPEN_MPI: &str = "--allow-run-as-root --oversubscribe -np 2 --bind-to none --mca memory ^patcher --mca orte_tmpdir_base . \
                        --mca btl_vader_backing_directory .";

/// Returns two shell commands, which run in the directory of the programs: one builds a peer's program, one starts its processes.
fn lines(Peer { name, by, .. }: Peer, processes: usize) -> [String; 2] {
    let of_c = |compiler| format!("{compiler} -O2 -pthread {name}.c -o {name}");
    let open_mpi = |launcher| format!("{launcher} {OPEN_MPI} ./{name}");
    match by {
        OWN => [
            format!("sh '{SOURCES}/shmem-c/make.sh' libshmem && {}", of_c("libshmem/bin/oshcc")),
            format!("libshmem/bin/oshrun -np {processes} ./{name}"),
        ],
        "cc" => [of_c(by), format!("./{name}")],
        "oshcc" => [of_c(by), open_mpi("oshrun")],
        _ => [of_c(by), open_mpi("mpirun")],
    }
}

fn build(peer: Peer, directory: &Path) -> Result<(), PeerError> {
    fs::write(directory.join(format!("{peer}.c")), peer.source)?;
    let (seconds, [line, _]) = (PATIENCE.as_secs(), lines(peer, 0));
    let mut timeout = Command::new("timeout");
    timeout.current_dir(directory).args(["--kill-after=1", &seconds.to_string(), "sh", "-c", &line]);
    let output = timeout.output()?;
    let (compiler, packages) = match peer.by {
        OWN | "cc" => ("cc", "gcc libc6-dev"),
        compiler => (compiler, "openmpi-bin libopenmpi-dev"),
    };
    Err(PeerError::Lost(match output.status.code() {
        Some(0) => return Ok(()),
        Some(MISSING) => format!("not installed, there is no {compiler} (Debian: {packages})"),
        Some(LATE) => format!(
            "its program was not built within {seconds} s; what is built so far is kept, another run goes on"
        ),
        _ => format!(
            "its program does not compile, {compiler}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        ),
    }))
}

/// Returns the command that starts a peer's processes. Two processes bind themselves to the first two cores; more run on all cores.
fn launch(peer: Peer, directory: &Path, cores: &[usize]) -> Command {
    let processes = peer.processes(cores.len());
    let [_, line] = lines(peer, processes);
    let mut command = Command::new("sh");
    command.current_dir(directory).args(["-c", &format!("exec {line} \"$@\""), peer.name]);
    if let ([first, second, ..], 2) = (cores, processes) {
        command.args([first.to_string(), second.to_string()]);
    }
    // Removes variables of our library, some of which OSHMEM would read.
    let is_ours =
        |name: &OsStr| [&b"SHMEM_"[..], b"SMA_"].iter().any(|prefix| name.as_bytes().starts_with(prefix));
    std::env::vars_os().filter(|(name, _)| is_ours(name)).for_each(|(name, _)| _ = command.env_remove(name));
    command
}

/// Returns the path of a file in this program's directory. If it is missing, builds it by `cargo build` with `arguments`.
pub(crate) fn built(name: &str, arguments: &[&str]) -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|why| why.to_string())?;
    let file = this.with_file_name(name);
    // The path of this program is `target/release/shmem-perf`.
    let Some(target) = this.ancestors().nth(2).filter(|_| !file.is_file()) else { return Ok(file) };
    let missing = |why: &str| {
        let (file, by) = (file.display(), arguments.join(" "));
        format!(
            "{file} is not beside this program: `cargo build --release {by}` in the sources has failed: {}",
            why.trim()
        )
    };
    let mut build = Command::new("cargo");
    build.current_dir(SOURCES).args(["build", "--quiet"]).args(arguments).env("CARGO_TARGET_DIR", target);
    let output = build.args((!cfg!(debug_assertions)).then_some("--release")).output();
    let output = output.map_err(|error| missing(&error.to_string()))?;
    if file.is_file() { Ok(file) } else { Err(missing(&String::from_utf8_lossy(&output.stderr))) }
}
