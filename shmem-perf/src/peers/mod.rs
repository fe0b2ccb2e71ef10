//! Other libraries, to stand beside our own.
//!
//! A peer is a small C program (`examples/peers`, which this module carries along) of two processes,
//! written for the fastest way that its library has. It is [built](Programs) where the tool runs,
//! and [kept running](Running) beside PE 0: it answers each [request](Request) with samples of one
//! operation, and sleeps in between. So our times and theirs are taken in turn, on the same cores, with the
//! same sizes and the same number of operations in a sample, and come out as pairs.
//!
//! What a machine lacks is [said](Missing), never passed over: no compiler, a program that hangs, a
//! library that does something else than it was asked to.
//!
//! ```text
//! running       a peer that answers       request    what it is asked       answer    what it says
//! program       what runs, built from C
//! ```

mod answer;
mod program;
mod request;
mod running;

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

pub use program::Programs;
pub use request::Request;
pub use running::Running;

/// A program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// MPI-3 one-sided communication, as Open MPI has it.
    Mpi,
    /// One-sided communication of Open MPI's OpenSHMEM.
    Oshmem,
    /// Collectives of Open MPI's OpenSHMEM.
    OshmemCollectives,
}

impl Peer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mpi, Self::Oshmem, Self::OshmemCollectives];

    /// Those with strided transfers.
    pub const STRIDED: [Self; 2] = [Self::Mpi, Self::Oshmem];

    /// The name of its program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mpi => "mpi",
            Self::Oshmem => "oshmem",
            Self::OshmemCollectives => "oshmem-collectives",
        }
    }

    const fn source(self) -> &'static str {
        match self {
            Self::Mpi => include_str!("../../../examples/peers/mpi.c"),
            Self::Oshmem => include_str!("../../../examples/peers/oshmem.c"),
            Self::OshmemCollectives => include_str!("../../../examples/peers/oshmem-collectives.c"),
        }
    }

    const fn compiler(self) -> &'static str {
        match self {
            Self::Mpi => "mpicc",
            Self::Oshmem | Self::OshmemCollectives => "oshcc",
        }
    }

    const fn launcher(self) -> &'static str {
        match self {
            Self::Mpi => "mpirun",
            Self::Oshmem | Self::OshmemCollectives => "oshrun",
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
pub struct Missing {
    /// Which one.
    pub peer: Peer,
    /// Why.
    #[source]
    pub reason: PeerError,
}

/// Why there is no comparison with a peer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// Its compiler, or its launcher, is not there.
    #[error("not installed, there is no {0} (Debian: openmpi-bin libopenmpi-dev)")]
    NotInstalled(&'static str),
    /// Its program could not be written or started.
    #[error("its program could not be run: {0}")]
    Run(#[from] io::Error),
    /// Its compiler refuses its program.
    #[error("its program does not compile, {compiler}: {status}\n{report}")]
    Compile {
        /// The compiler.
        compiler: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        report: String,
    },
    /// It hangs.
    #[error("no answer within {} s, it hangs{}", .within.as_secs_f64(), behind(.remarks))]
    Silent {
        /// How long it was waited for.
        within: Duration,
        /// What it has said besides.
        remarks: String,
    },
    /// It ended too early.
    #[error("it ended before it had answered{}", behind(.0))]
    Ended(String),
    /// It says something else than was asked for.
    #[error("`{line}` is no answer to `{request}`: {fault}")]
    Answer {
        /// What it says.
        line: String,
        /// What it was asked.
        request: String,
        /// What is wrong with it.
        fault: String,
    },
    /// It says that it cannot do what it was asked.
    #[error("{fault} (asked for `{request}`)")]
    Refused {
        /// What it was asked.
        request: String,
        /// What it says.
        fault: String,
    },
}

impl PeerError {
    /// Whether there is no more to be expected of the peer, for other requests either.
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::Answer { .. } | Self::Refused { .. })
    }
}

/// What a program said besides, in front of which something else stands.
fn behind(remarks: &str) -> String {
    let remarks = remarks.trim();
    if remarks.is_empty() { String::new() } else { format!("; it said:\n{remarks}") }
}
