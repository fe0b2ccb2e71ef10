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
//! program    what runs, built and started    running    a peer that answers
//! ```

/// A file of `examples`.
macro_rules! example {
    ($file:literal) => {
        include_str!(concat!("../../../../examples/", $file))
    };
}

mod program;
mod running;

use std::ffi::OsStr;
use std::{fmt, io};

pub(crate) use self::program::{PATIENCE, Programs, built, open_mpi};
pub(crate) use self::running::{Request, Running};

/// A program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// What waiting costs a program of the C library that has just begun; it answers nothing.
    Waiting,
    /// The same of Open MPI's OpenSHMEM.
    OshmemWaiting,
    /// A program of the C library that answers nothing: all PEs greet, and end.
    Hello,
}

/// What a program is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A file of C, by a compiler that a Debian package brings.
    C { text: &'static str, compiler: &'static str, packages: &'static str },
    /// A file of C, by the compiler that the C library of this workspace brings, whose launcher starts it.
    Own(&'static str),
    /// A Rust package with its manifest, outside of the workspace.
    Package(&'static str),
}

/// The packages of Open MPI, and of a C compiler.
const OPEN_MPI: &str = "openmpi-bin libopenmpi-dev";
const CC: &str = "gcc libc6-dev";

impl Peer {
    /// All that run beside PE 0, of two processes each.
    pub(crate) const ANSWERING: [Self; 9] = [
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

    /// Those with strided transfers.
    pub(crate) const STRIDED: [Self; 2] = [Self::Mpi, Self::Oshmem];

    /// Those with micro-benchmarks.
    pub(crate) const MICRO: [Self; 4] = [Self::Floor, Self::OshmemMicro, Self::MpiMicro, Self::Lamellar];

    /// The name of its program, and what that is built from.
    const fn facts(self) -> (&'static str, Source) {
        const ROUTINES: &str = example!("peers/routines.c");
        const WAITING: &str = example!("peers/waiting.c");
        const OSHMEM_MICRO: &str = example!("peers/oshmem-micro.c");
        const LAMELLAR: &str =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/peers/lamellar/Cargo.toml");
        const fn oshmem(text: &'static str) -> Source {
            Source::C { text, compiler: "oshcc", packages: OPEN_MPI }
        }
        const fn mpi(text: &'static str) -> Source {
            Source::C { text, compiler: "mpicc", packages: OPEN_MPI }
        }
        match self {
            Self::Mpi => ("mpi", mpi(example!("peers/mpi.c"))),
            Self::Oshmem => ("oshmem", oshmem(example!("peers/oshmem.c"))),
            Self::Floor => {
                ("floor", Source::C { text: example!("peers/floor.c"), compiler: "cc", packages: CC })
            }
            Self::OshmemMicro => ("oshmem-micro", oshmem(OSHMEM_MICRO)),
            Self::MpiMicro => ("mpi-micro", mpi(example!("peers/mpi-micro.c"))),
            Self::Lamellar => ("lamellar", Source::Package(LAMELLAR)),
            Self::OshmemRoutines => ("oshmem-routines", oshmem(ROUTINES)),
            Self::Routines => ("routines", Source::Own(ROUTINES)),
            Self::Library => ("library", Source::Own(OSHMEM_MICRO)),
            Self::Waking => ("waking", Source::Own(example!("peers/waking.c"))),
            Self::Waiting => ("waiting", Source::Own(WAITING)),
            Self::OshmemWaiting => ("oshmem-waiting", oshmem(WAITING)),
            Self::Hello => ("hello", Source::Own(example!("c/hello.c"))),
        }
    }

    /// The name of its program.
    pub(crate) const fn name(self) -> &'static str {
        self.facts().0
    }

    /// Whether it is no other library: it stands beside where those are not wanted.
    pub(crate) const fn is_own(self) -> bool {
        matches!(self, Self::Floor) || matches!(self.facts().1, Source::Own(_))
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

/// Why there is no comparison with a peer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    /// There is no more to be expected of it: its compiler is not there, it does not compile, it hangs.
    #[error("{0}")]
    Lost(String),
    #[error("its program could not be run: {0}")]
    Run(#[from] io::Error),
    /// It says something else than was asked for.
    #[error("`{line}` is no answer to `{request}`: {fault}")]
    Answer { line: String, request: String, fault: String },
    /// It says that it cannot do what it was asked.
    #[error("{fault} (asked for `{request}`)")]
    Refused { request: String, fault: String },
}

impl PeerError {
    /// That a program of some Debian packages is not there.
    fn not_installed(program: &OsStr, packages: &str) -> Self {
        Self::Lost(format!("not installed, there is no {} (Debian: {packages})", program.display()))
    }

    /// Whether there is no more to be expected of the peer, for other requests either.
    pub(crate) const fn is_final(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Run(_))
    }
}
