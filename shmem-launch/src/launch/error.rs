//! Why a job could not be started.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

use shmem_core::sync::NodeBarrier;

/// A job that could not be started. Nothing of it is left.
#[derive(thiserror::Error)]
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
    /// More PEs than the hosts take.
    #[error(
        "{asked} PEs were asked for, and the hosts take {slots} together; say how many each takes, as `node1:4`"
    )]
    TooFewSlots {
        /// PEs asked for.
        asked: usize,
        /// PEs that the hosts take.
        slots: usize,
    },
    /// PEs cannot be both on other hosts and told so.
    #[error("hosts were named, and a pattern of hosts too (--hosts-as), which is for the PEs of one host")]
    HostsTwice,
    /// Launchers would start what stands behind it.
    #[error(
        "the argument `:` would begin a second program for the launcher that is asked; give it to the program by another way, or \
         start the PEs on this host"
    )]
    SecondProgram,
    /// Nothing is installed that starts PEs on other hosts.
    #[error(
        "no launcher that PEs can join starts them on other hosts: {why}; install Open MPI from version 4 on all hosts (Debian: \
         openmpi-bin), MPICH, or Slurm; --launcher names another, and without hosts PEs are started here"
    )]
    NoLauncher {
        /// What was looked for, and why it is none.
        why: String,
    },
    /// What was named starts no PEs.
    #[error(
        "--launcher: {why}; name prterun, mpirun, mpiexec or srun; with hosts (-H) it may be left out, and the first that is there is taken"
    )]
    NotALauncher {
        /// Why it does not.
        why: String,
    },
    /// The debugger needs the terminal.
    #[error(
        "the debugger was asked for PE {pe}, which may be on another host, and its terminal is here; start with --attach-wait, \
         and attach a debugger there"
    )]
    DebuggerElsewhere {
        /// The PE asked for.
        pe: usize,
    },
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
    #[error("there is no program `{}`{}", .program.display(), .hint.iter().map(|hint| format!("; {hint}")).collect::<String>())]
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
    /// The system does not bind processes to CPUs.
    #[error("PEs cannot be bound to CPUs here: {0}; with `--bind none` they run where the system likes")]
    Bind(io::Error),
    /// A process could not be started.
    #[error("the process of PE {pe} could not be started: {source}{}", where_none_is_left(.source))]
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

/// What it is in words: `unwrap` shows that.
impl fmt::Debug for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl LaunchError {
    /// The exit code that shells use for this: 127 for a missing program, 126 for one that cannot be
    /// run, 2 for everything else.
    pub fn code(&self) -> u8 {
        match self {
            Self::NotFound { .. }
            | Self::NoDebugger
            | Self::NoLauncher { .. }
            | Self::NotALauncher { .. } => 127,
            Self::NotExecutable { .. } => 126,
            _ => 2,
        }
    }

    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}

/// What to do where this user has as many processes as he may.
fn where_none_is_left(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::WouldBlock => "; raise the limit of this user's processes (ulimit -u), or start fewer",
        _ => "",
    }
}
