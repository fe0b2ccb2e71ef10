//! Starting the PEs of a job, and seeing it to its end: the library behind `shmrun`, behind a program that launches
//! itself, and behind tests with several PEs.
//!
//! Each PE is a child process with one end of a socket, announced by `SHMRUN_SOCKET`. Over it PEs
//! meet before they share memory, pass descriptors, leave or end the job. The launcher waits for
//! sockets, ends of processes, output and signals in one thread, passes output on in others, and puts nothing into files or
//! named shared memory: when it dies, whatever kills it, the kernel kills the PEs, and nothing is left.
//!
//! All PEs are on this host, even if they are told otherwise ([`HostsAs`]). Those on other hosts are started by a launcher
//! that is installed, which a command asks for it ([`Launch::command`]).
//!
//! ```text
//! launchers    the command of an installed launcher        host_list  the hosts for it
//! run          the loop, and how a job comes to its end
//! pes          the PEs as they are served, and what happens to them
//! spawn        starting a process, with limits, bind
//! member       one PE: its process, its socket, what it does, and what the kernel says about it
//! hosts        which PEs are told that they share a host
//! rendezvous   fences and shared descriptors
//! record       what a PE says about itself     report    what people are told
//! channel      packets with descriptors    wire      what stands in them
//! output       lines of what they print    signals   those to the launcher
//! ```

mod bind;
pub(crate) mod channel;
mod error;
mod host_list;
mod hosts;
mod launchers;
pub(crate) mod limits;
mod member;
mod output;
mod pes;
pub mod record;
pub(crate) mod rendezvous;
pub mod report;
mod run;
mod signals;
mod spawn;
pub(crate) mod wire;

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use rustix::event::Timespec;

pub use crate::env::Bind;
pub use error::LaunchError;
pub use host_list::HostList;
pub use hosts::HostsAs;
pub use member::held;

/// Variable that announces the socket: the number of an inherited descriptor.
pub(crate) const SOCKET: &str = "SHMRUN_SOCKET";
/// Variable with the PE's number.
pub(crate) const PE: &str = "SHMRUN_PE";
/// Variable with the number of PEs.
pub(crate) const NPES: &str = "SHMRUN_NPES";
/// Variable with the job's random number, in hexadecimal.
pub(crate) const JOB: &str = "SHMRUN_JOB";

/// Variable with the pattern of hosts of the jobs that tests start.
pub const HOSTS_AS: &str = "SHMRUN_HOSTS_AS";

/// What messages of a launcher begin with that is no command.
const PRODUCT: &str = "shmem";

/// Where the PEs' output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// To where the launcher's goes; by whole lines, unless that is a terminal.
    #[default]
    Inherit,
    /// There, line by line, with the PE's number before each.
    Tag,
    /// To the caller.
    Capture,
}

/// A job to be started.
///
/// ```no_run
/// # use shmem_launch as shmem;
/// use shmem::launch::Launch;
///
/// let outcome = Launch::new("./stencil", 4).args(["input.npy"]).tag_output().run()?;
/// std::process::exit(outcome.code.into());
/// # Ok::<(), shmem::launch::LaunchError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is started before `run`"]
pub struct Launch {
    program: OsString,
    /// What the PEs are told that they are called; `None`: as the program.
    arg0: Option<OsString>,
    args: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    pes: usize,
    hosts: Option<HostsAs>,
    bind: Bind,
    output: Output,
    attach_wait: bool,
    watch_signals: bool,
    time: Option<Duration>,
    speaker: String,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its exit code: 0, or that of the first PE that failed, or 128 and the signal's number.
    pub code: u8,
    /// What ended it, if not all PEs ended in order.
    pub failure: Option<Failure>,
    /// All that the launcher has said, or would have said were output not captured.
    pub report: String,
    /// What each PE printed, in the order of their numbers, if it was captured; else empty.
    pub outputs: Vec<Printed>,
}

/// What a PE printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// To its standard output.
    pub out: Vec<u8>,
    /// To its standard error.
    pub err: Vec<u8>,
}

/// What ended a job before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// A PE ended by a signal, with a code other than 0, or before it left the job.
    Died {
        /// The first that did.
        pe: usize,
        /// In words: `was killed by signal 11 (SIGSEGV)`.
        how: String,
    },
    /// A PE ended the job.
    Aborted {
        /// Which.
        pe: usize,
        /// The exit code it asked for.
        code: i32,
        /// What it said.
        message: String,
    },
    /// A PE and the launcher did not understand each other.
    Broken {
        /// Which.
        pe: usize,
        /// In words.
        what: String,
    },
    /// What the PEs print could not be written to where it was to go.
    Output {
        /// In words.
        what: String,
    },
    /// A signal to the launcher.
    Interrupted {
        /// Its number.
        signal: i32,
    },
    /// The time given was over.
    TimedOut,
}

impl Launch {
    /// A job of `pes` processes of `program`, which is found as shells find it: by its path if it has a `/`, or in the directories of
    /// `PATH`.
    pub fn new(program: impl Into<OsString>, pes: usize) -> Self {
        Self {
            program: program.into(),
            arg0: None,
            args: Vec::new(),
            environment: Vec::new(),
            pes,
            hosts: None,
            bind: Bind::None,
            output: Output::Inherit,
            attach_wait: false,
            watch_signals: false,
            time: None,
            speaker: PRODUCT.into(),
        }
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable for the PEs, which otherwise have the launcher's.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), Some(value.into())));
        self
    }

    /// Takes a variable from the PEs.
    pub fn env_remove(mut self, key: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), None));
        self
    }

    /// Tells PEs that they are on several hosts, though they are on this one: those that are told apart share
    /// no memory.
    pub fn hosts_as(mut self, hosts: HostsAs) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// Binds PEs to CPUs. Not said, they are not bound: jobs that a program starts often run side by side.
    pub fn bind(mut self, bind: Bind) -> Self {
        self.bind = bind;
        self
    }

    /// Writes `[PE] ` before each line that a PE prints, and passes on whole lines only.
    pub fn tag_output(mut self) -> Self {
        self.output = Output::Tag;
        self
    }

    /// Keeps what the PEs print, and what the launcher would say, for the [`Outcome`].
    pub fn capture_output(mut self) -> Self {
        self.output = Output::Capture;
        self
    }

    /// Lets all PEs wait at their start until a debugger is attached to them.
    pub fn attach_wait(mut self) -> Self {
        self.attach_wait = true;
        self
    }

    /// Takes SIGINT, SIGTERM, SIGHUP (the job is ended) and SIGQUIT (it is told what each PE waits
    /// for) that come to the calling thread, while the job runs.
    pub fn watch_signals(mut self) -> Self {
        self.watch_signals = true;
        self
    }

    /// What the launcher's messages begin with: not said, `shmem`.
    pub fn speaker(mut self, name: impl Into<String>) -> Self {
        self.speaker = name.into();
        self
    }

    /// Ends the job when it has run for `time`.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }
}

/// Launches the calling program, with its arguments, as `pes` PEs that are bound so, and gives its exit code at the
/// job's end: what a program does that was started with `SHMEM_NPES` and without a launcher.
///
/// To be called before the program has started threads.
pub fn itself(pes: usize, bind: Bind) -> u8 {
    let run = || {
        let program =
            std::env::current_exe().map_err(LaunchError::system("the file of this program is not known"))?;
        // The link still leads to the file when its name is taken by a newer build, or gone.
        let program = if program.exists() { program } else { "/proc/self/exe".into() };
        let mut words = std::env::args_os();
        let arg0 = words.next();
        let job = Launch::new(program, pes)
            .args(words)
            .env_remove(crate::env::NPES.name)
            .bind(bind)
            .watch_signals();
        Launch { arg0, ..job }.run()
    };
    match run() {
        Ok(outcome) => outcome.code,
        Err(error) => {
            say(PRODUCT, &error.to_string());
            error.code()
        }
    }
}

/// Prints a message of the launcher that is called so.
fn say(speaker: &str, text: &str) {
    crate::say::say(&format!("{speaker}: {text}"));
}

/// As the kernel takes it; rounded up, not to wake before it is time.
pub(crate) fn timespec(time: Duration) -> Timespec {
    let time = time.saturating_add(Duration::from_micros(1));
    Timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}

/// A random number.
///
/// # Errors
///
/// If the kernel has none.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}
