//! Other libraries, to stand beside our own.
//!
//! A peer is a small program (`examples/peers`) of two processes, written for the fastest way that its library
//! has: in C, which this module carries along, or a package of its own. It is [built](Programs) where the tool runs,
//! and [kept running](Running) beside PE 0: it answers each [request](Request) with samples of one
//! operation, and sleeps in between. So our times and theirs are taken in turn, on the same cores, with the
//! same sizes and the same number of operations in a sample, and come out as pairs.
//!
//! What a machine lacks is [said](Missing), never passed over: no compiler, a program that hangs, a
//! library that does something else than it was asked to.
//!
//! ```text
//! program    what runs, built and started    running    a peer that answers    answer    what it is asked, and says
//! ```

mod answer;
mod program;
mod running;

use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;
use std::{fmt, io};

pub(crate) use self::answer::Request;
pub(crate) use self::program::{PATIENCE, Programs};
pub(crate) use self::running::Running;

/// A program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Peer {
    /// Strided transfers of MPI-3 one-sided communication, as Open MPI has it.
    Mpi,
    /// Strided transfers of Open MPI's OpenSHMEM.
    Oshmem,
    /// C over `mmap`: what the machine needs for micro-benchmarks without any library.
    Floor,
    /// Micro-benchmarks of Open MPI's OpenSHMEM.
    OshmemMicro,
    /// Micro-benchmarks of MPI-3 one-sided communication and collectives, as Open MPI has them.
    MpiMicro,
    /// Micro-benchmarks of the Rust crate `lamellar`.
    Lamellar,
    /// Single routines of Open MPI's OpenSHMEM.
    OshmemRoutines,
    /// Single routines of the C library of this workspace.
    Routines,
    /// Micro-benchmarks of that: the program of [`OshmemMicro`](Self::OshmemMicro).
    Library,
    /// How PEs of the C library wake each other: more processes than cores.
    Waking,
    /// A program of the C library that answers nothing: all PEs greet, and end.
    Hello,
}

/// What a program is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A file of C, by a compiler that a Debian package brings.
    C { text: &'static str, compiler: &'static str, packages: &'static str },
    /// A file of C, by the compiler that the C library of this workspace brings.
    Own(&'static str),
    /// A Rust package with its manifest, outside of the workspace.
    Package(&'static str),
}

/// What starts the processes of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launcher {
    /// The program itself.
    None,
    /// One of Open MPI's.
    OpenMpi(&'static str),
    /// That of the C library of this workspace.
    Own,
}

/// The packages of Open MPI.
const OPEN_MPI: &str = "openmpi-bin libopenmpi-dev";

impl Peer {
    /// All that run beside PE 0, of two processes each.
    pub(crate) const ALL: [Self; 9] = [
        Self::Mpi,
        Self::Oshmem,
        Self::Floor,
        Self::OshmemMicro,
        Self::MpiMicro,
        Self::Lamellar,
        Self::OshmemRoutines,
        Self::Routines,
        Self::Library,
    ];

    /// Those written in C, for compilers that packages bring.
    #[cfg(test)]
    pub(crate) const C: [Self; 6] =
        [Self::Mpi, Self::Oshmem, Self::Floor, Self::OshmemMicro, Self::MpiMicro, Self::OshmemRoutines];

    /// Those with strided transfers.
    pub(crate) const STRIDED: [Self; 2] = [Self::Mpi, Self::Oshmem];

    /// Those with micro-benchmarks.
    pub(crate) const MICRO: [Self; 4] = [Self::Floor, Self::OshmemMicro, Self::MpiMicro, Self::Lamellar];

    /// The name of its program, what that is built from, and what starts its processes.
    const fn facts(self) -> (&'static str, Source, Launcher) {
        const MPI: Launcher = Launcher::OpenMpi("mpirun");
        const OSHMEM: Launcher = Launcher::OpenMpi("oshrun");
        const ROUTINES: &str = include_str!("../../../../examples/peers/routines.c");
        const OSHMEM_MICRO: &str = include_str!("../../../../examples/peers/oshmem-micro.c");
        const LAMELLAR: &str =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/peers/lamellar/Cargo.toml");
        const fn c(text: &'static str, compiler: &'static str) -> Source {
            Source::C { text, compiler, packages: OPEN_MPI }
        }
        match self {
            Self::Mpi => ("mpi", c(include_str!("../../../../examples/peers/mpi.c"), "mpicc"), MPI),
            Self::Oshmem => {
                ("oshmem", c(include_str!("../../../../examples/peers/oshmem.c"), "oshcc"), OSHMEM)
            }
            Self::Floor => {
                let text = include_str!("../../../../examples/peers/floor.c");
                ("floor", Source::C { text, compiler: "cc", packages: program::CC }, Launcher::None)
            }
            Self::OshmemMicro => ("oshmem-micro", c(OSHMEM_MICRO, "oshcc"), OSHMEM),
            Self::MpiMicro => {
                ("mpi-micro", c(include_str!("../../../../examples/peers/mpi-micro.c"), "mpicc"), MPI)
            }
            Self::Lamellar => ("lamellar", Source::Package(LAMELLAR), Launcher::None),
            Self::OshmemRoutines => ("oshmem-routines", c(ROUTINES, "oshcc"), OSHMEM),
            Self::Routines => ("routines", Source::Own(ROUTINES), Launcher::Own),
            Self::Library => ("library", Source::Own(OSHMEM_MICRO), Launcher::Own),
            Self::Waking => {
                ("waking", Source::Own(include_str!("../../../../examples/peers/waking.c")), Launcher::Own)
            }
            Self::Hello => {
                ("hello", Source::Own(include_str!("../../../../examples/c/hello.c")), Launcher::Own)
            }
        }
    }

    /// The name of its program.
    pub(crate) const fn name(self) -> &'static str {
        self.facts().0
    }

    /// How many processes it has where there are so many cores: one for each of two, or twice as many as there are.
    pub(crate) const fn processes(self, cores: usize) -> usize {
        match self {
            Self::Waking if cores > 2 => 2 * cores,
            Self::Waking => 4,
            _ => 2,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A peer that there is no comparison with, and why.
#[derive(Debug, thiserror::Error)]
#[error("peer {peer}: {reason}")]
pub(crate) struct Missing {
    pub(crate) peer: Peer,
    #[source]
    pub(crate) reason: PeerError,
}

/// Why there is no comparison with a peer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    /// Its compiler, or its launcher, is not there.
    #[error("not installed, there is no {program} (Debian: {packages})")]
    NotInstalled { program: String, packages: &'static str },
    #[error("its package is not at {}, where it was when this tool was built", .0.display())]
    NoPackage(PathBuf),
    #[error("its program was not built within {} s; what is built so far is kept, another run goes on", .0.as_secs())]
    Slow(Duration),
    #[error("its program could not be run: {0}")]
    Run(#[from] io::Error),
    #[error("its program does not compile, {compiler}: {status}\n{report}")]
    Compile { compiler: String, status: ExitStatus, report: String },
    #[error("no answer within {} s, it hangs{}", .within.as_secs_f64(), behind(.remarks))]
    Silent { within: Duration, remarks: String },
    #[error("it ended before it had answered{}", behind(.0))]
    Ended(String),
    /// It says something else than was asked for.
    #[error("`{line}` is no answer to `{request}`: {fault}")]
    Answer { line: String, request: String, fault: String },
    /// It says that it cannot do what it was asked.
    #[error("{fault} (asked for `{request}`)")]
    Refused { request: String, fault: String },
}

impl PeerError {
    /// What it means that a program of some Debian packages cannot be started.
    fn of_start(error: io::Error, command: &Command, packages: &'static str) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => {
                Self::NotInstalled { program: command.get_program().to_string_lossy().into(), packages }
            }
            _ => Self::Run(error),
        }
    }

    /// Whether there is no more to be expected of the peer, for other requests either.
    pub(crate) const fn is_final(&self) -> bool {
        !matches!(self, Self::Answer { .. } | Self::Refused { .. })
    }
}

/// What a program said besides, in front of which something else stands.
fn behind(remarks: &str) -> String {
    let remarks = remarks.trim();
    if remarks.is_empty() { String::new() } else { format!("; it said:\n{remarks}") }
}
