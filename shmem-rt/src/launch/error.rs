//! Why a job could not be started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use shmem_core::sync::NodeBarrier;

/// A job that could not be started. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No PE was asked for.
    #[error("0 PEs were asked for; a job has at least one")]
    NoPes,
    /// More PEs than can meet on one node, whatever the limits.
    #[error(
        "{asked} PEs were asked for; a node takes at most {}, because its barrier counts in 16 bits; start fewer",
        NodeBarrier::MAX_PES
    )]
    MoreThanANodeTakes {
        /// PEs asked for.
        asked: usize,
    },
    /// More PEs than the limits of this user allow.
    #[error("{asked} PEs were asked for; {limit}, which allows {allowed}; start fewer, or raise the limit")]
    TooMany {
        /// PEs asked for.
        asked: usize,
        /// PEs that can be had.
        allowed: usize,
        /// The limit and its value.
        limit: String,
    },
    /// The PEs cannot be told to be on these hosts.
    #[error(transparent)]
    Hosts(#[from] super::HostsError),
    /// The PE for the debugger is not in the job.
    #[error("the debugger was asked for PE {pe}, but the PEs are 0 to {last}", last = .pes - 1)]
    NoSuchPe {
        /// The PE asked for.
        pe: usize,
        /// PEs of the job.
        pes: usize,
    },
    /// There is no debugger.
    #[error(
        "the debugger `gdb` was asked for, and is in no directory of PATH; install it, or start with --attach-wait and attach another"
    )]
    NoDebugger,
    /// There is no such program.
    #[error("there is no program `{}`{}", .program.display(), Hint(.hint.as_ref()))]
    NotFound {
        /// What was asked for.
        program: OsString,
        /// What may have been meant.
        hint: Option<String>,
    },
    /// The program is there, but cannot be run.
    #[error("`{}` cannot be run: {reason}", .program.display())]
    NotExecutable {
        /// The file.
        program: PathBuf,
        /// Why not.
        reason: String,
    },
    /// CPUs could not be found out.
    #[error("the CPUs for `--bind` could not be found out: {0}")]
    Bind(io::Error),
    /// A process could not be started.
    #[error("the process of PE {pe} could not be started: {source}")]
    Spawn {
        /// Its PE.
        pe: usize,
        /// Why not.
        source: io::Error,
    },
    /// The launcher's own means failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl LaunchError {
    /// The exit code that shells use for this: 127 for a missing program, 126 for one that cannot be
    /// run, 2 for everything else.
    pub fn code(&self) -> u8 {
        match self {
            Self::NotFound { .. } | Self::NoDebugger => 127,
            Self::NotExecutable { .. } => 126,
            _ => 2,
        }
    }

    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}

struct Hint<'a>(Option<&'a String>);

impl std::fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}
