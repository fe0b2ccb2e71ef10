//! Other libraries, to stand beside our own.
//!
//! A peer is a small program (`examples/peers`) of two processes, written for the fastest way that its library has: in C, which
//! this module carries along, or a package of its own. It is [built](Programs) where the tool runs, and [kept running](Running)
//! beside PE 0: it answers each [request](Request) with samples of one operation, and sleeps in between. So our times and theirs are
//! taken in turn, on the same cores, and come out as pairs. What a machine lacks is said, never passed over.

macro_rules! example {
    ($file:literal) => {
        include_str!(concat!("../../../../examples/", $file))
    };
}

mod program;
mod running;

use std::{fmt, io};

pub(crate) use self::program::{LATE, MISSING, PATIENCE, Programs, built};
pub(crate) use self::running::{Request, Running};

/// A program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// A file of C; or the manifest of a Rust package, outside of the workspace.
    source: &'static str,
    /// What builds it: a compiler of C that a Debian package brings, [`OWN`], or [`CARGO`].
    by: &'static str,
}

/// The compiler that the C library of this workspace brings, whose launcher starts the program; and what builds packages.
const OWN: &str = "library";
const CARGO: &str = "cargo";

impl Peer {
    /// Strided transfers of MPI-3 one-sided communication, as Open MPI has it, and of its OpenSHMEM.
    pub(crate) const MPI: Self = Self::of("mpi", example!("peers/mpi.c"), "mpicc");
    pub(crate) const OSHMEM: Self = Self::of("oshmem", example!("peers/oshmem.c"), "oshcc");
    /// C over `mmap`: what the machine needs for micro-benchmarks without any library.
    pub(crate) const FLOOR: Self = Self::of("floor", example!("peers/floor.c"), "cc");
    /// Micro-benchmarks: of Open MPI's OpenSHMEM, of MPI-3 one-sided communication and collectives, as Open MPI has them, and of
    /// the Rust crate `lamellar`.
    pub(crate) const OSHMEM_MICRO: Self = Self::of("oshmem-micro", example!("peers/oshmem-micro.c"), "oshcc");
    pub(crate) const MPI_MICRO: Self = Self::of("mpi-micro", example!("peers/mpi-micro.c"), "mpicc");
    pub(crate) const LAMELLAR: Self = Self::of(
        "lamellar",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/peers/lamellar/Cargo.toml"),
        CARGO,
    );
    /// Single routines: of Open MPI's OpenSHMEM, and of the C library of this workspace.
    pub(crate) const OSHMEM_ROUTINES: Self =
        Self::of("oshmem-routines", example!("peers/routines.c"), "oshcc");
    pub(crate) const ROUTINES: Self = Self::of("routines", example!("peers/routines.c"), OWN);
    /// Micro-benchmarks of that: the program of [`OSHMEM_MICRO`](Self::OSHMEM_MICRO).
    pub(crate) const LIBRARY: Self = Self::of("library", example!("peers/oshmem-micro.c"), OWN);
    /// How PEs of the C library wake each other: more processes than cores.
    pub(crate) const WAKING: Self = Self::of("waking", example!("peers/waking.c"), OWN);
    /// A program of the C library that answers nothing: all PEs greet, and end.
    pub(crate) const HELLO: Self = Self::of("hello", example!("c/hello.c"), OWN);

    pub(crate) const STRIDED: [Self; 2] = [Self::MPI, Self::OSHMEM];

    pub(crate) const MICRO: [Self; 4] = [Self::FLOOR, Self::OSHMEM_MICRO, Self::MPI_MICRO, Self::LAMELLAR];

    /// All that run beside PE 0, of two processes each.
    pub(crate) const ANSWERING: [&[Self]; 3] =
        [&Self::STRIDED, &Self::MICRO, &[Self::OSHMEM_ROUTINES, Self::ROUTINES, Self::LIBRARY]];

    const fn of(name: &'static str, source: &'static str, by: &'static str) -> Self {
        Self { name, source, by }
    }

    /// Whether it is no other library: it stands beside where those are not wanted.
    pub(crate) fn is_own(self) -> bool {
        [OWN, "cc"].contains(&self.by)
    }

    /// How many processes it has where there are so many cores: one for each of two, or twice as many as there are.
    pub(crate) fn processes(self, cores: usize) -> usize {
        if self == Self::WAKING { 2 * cores.max(2) } else { 2 }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Why there is no comparison with a peer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeerError {
    /// There is no more to be expected of it: its compiler is not there, it does not compile, it hangs, it says something else than
    /// was asked for.
    #[error("{0}")]
    Lost(String),
    /// It says that it cannot do what it was asked.
    #[error("{fault} (asked for `{request}`)")]
    Refused { request: String, fault: String },
}

impl From<io::Error> for PeerError {
    fn from(error: io::Error) -> Self {
        Self::Lost(format!("its program could not be run: {error}"))
    }
}
