//! Starts, watches and ends the PEs of a job: the library behind `shmrun`, programs that launch themselves, and tests with several PEs.
//!
//! Each PE is a child process with one end of a socket (`SHMRUN_SOCKET`), over which it synchronises with the others before they share
//! memory, passes descriptors, leaves or ends the job. One thread waits for sockets, processes, output and signals; other threads
//! write output. The launcher has no files and no named shared memory: if it dies, the kernel kills the PEs, and nothing is left.
//!
//! All PEs are on this host, even pretended hosts ([`HostsAs`]). For other hosts there is the command of an installed launcher
//! ([`Launch::command`]).
//!
//! ```text
//! launchers          the command of an installed launcher   host_list         the hosts for it
//! run                the loop, and the end of a job
//! pes                requests and deaths of PEs
//! spawn              starting a process                      descriptor_limit  raising `ulimit -n`
//! cpu_binding        the CPUs of each PE                     pretended         pretended hosts
//! pe                 one PE: its processes, its socket, its state
//! exchange_server    puts, fences, and descriptors that PEs share
//! pe_record          a PE's record in its memory             report            reports for people
//! socket             packets with descriptors                protocol          what packets say
//! output             output of PEs                           posix_signals     SIGINT and others
//! ```

mod cpu_binding;
pub(crate) mod descriptor_limit;
mod error;
pub(crate) mod exchange_server;
mod host_list;
mod launchers;
mod output;
mod pe;
pub mod pe_record;
mod pes;
mod posix_signals;
mod pretended;
pub(crate) mod protocol;
pub mod report;
mod run;
pub(crate) mod socket;
mod spawn;

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use rustix::event::Timespec;

pub use crate::env::Bind;
pub use error::LaunchError;
pub use host_list::HostList;
pub use pe::held;
pub use pretended::HostsAs;

/// Variable with the descriptor of the inherited socket.
pub(crate) const SOCKET: &str = "SHMRUN_SOCKET";
pub(crate) const PE: &str = "SHMRUN_PE";
pub(crate) const NPES: &str = "SHMRUN_NPES";
/// Variable with the job's random number, in hexadecimal.
pub(crate) const JOB: &str = "SHMRUN_JOB";

/// Variable with the pretended hosts of jobs that tests start.
pub const HOSTS_AS: &str = "SHMRUN_HOSTS_AS";

const PRODUCT: &str = "shmem";

/// The destination of the PEs' output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// The launcher's own output; by whole lines, unless that is a terminal.
    #[default]
    Inherit,
    /// Likewise, with a PE number before each line.
    Tag,
    /// The caller.
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
    /// `None`: the program.
    arg0: Option<OsString>,
    args: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    pes: usize,
    hosts: Option<HostsAs>,
    bind: Bind,
    output: Output,
    watch_signals: bool,
    time: Option<Duration>,
    speaker: String,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code: 0, the code of the first failed PE, or 128 plus the signal's number.
    pub code: u8,
    /// The cause of its end, if not all PEs ended in order.
    pub failure: Option<Failure>,
    /// All messages of the launcher, printed or not.
    pub report: String,
    /// The output of each PE, if it was captured; else empty.
    pub outputs: Vec<Printed>,
}

/// The output of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
}

/// Why a job ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// A PE ended by a signal, with a code other than 0, or before it left the job.
    Died {
        /// The first such PE.
        pe: usize,
        /// In words: `was killed by signal 11 (SIGSEGV)`.
        how: String,
    },
    /// A PE ended the job.
    Aborted {
        /// The PE.
        pe: usize,
        /// Its exit code for the job.
        code: i32,
        /// Its message.
        message: String,
    },
    /// A PE broke the launcher's protocol.
    Broken {
        /// The PE.
        pe: usize,
        /// In words.
        what: String,
    },
    /// The PEs' output could not be written.
    Output {
        /// In words.
        what: String,
    },
    /// A signal to the launcher.
    Interrupted {
        /// Its number.
        signal: i32,
    },
    /// The job ran for the time of [`Launch::timeout`].
    TimedOut,
}

impl Launch {
    /// A job of `pes` processes of `program`: a path with a `/`, or a name in a directory of `PATH`.
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

    /// Sets a variable for the PEs. They inherit the launcher's environment.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), Some(value.into())));
        self
    }

    /// Removes a variable from the PEs' environment.
    pub fn env_remove(mut self, key: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), None));
        self
    }

    /// Places PEs on pretended hosts, between which no memory is shared.
    pub fn hosts_as(mut self, hosts: HostsAs) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// Binds PEs to CPUs. By default they are not bound: jobs that a program starts often run side by side.
    pub fn bind(mut self, bind: Bind) -> Self {
        self.bind = bind;
        self
    }

    /// Writes `[PE] ` before each line of output.
    pub fn tag_output(mut self) -> Self {
        self.output = Output::Tag;
        self
    }

    /// Keeps the PEs' output, and the launcher's messages, for the [`Outcome`].
    pub fn capture_output(mut self) -> Self {
        self.output = Output::Capture;
        self
    }

    /// Handles signals to the calling thread while the job runs: SIGINT, SIGTERM and SIGHUP end the job, SIGQUIT prints what each PE
    /// waits for.
    pub fn watch_signals(mut self) -> Self {
        self.watch_signals = true;
        self
    }

    /// Sets the launcher's prefix of messages; by default `shmem`.
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

/// Launches the calling program, with its arguments, as `pes` PEs (`SHMEM_NPES`). Returns the job's exit code.
///
/// To be called before the program has started threads.
pub fn itself(pes: usize, bind: Bind) -> u8 {
    let run = || {
        let program =
            std::env::current_exe().map_err(LaunchError::system("the file of this program is not known"))?;
        // `exe` leads to this file even if its name is gone, or names a newer build.
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

fn say(speaker: &str, text: &str) {
    crate::diagnostics::say(&format!("{speaker}: {text}"));
}

/// Converts a time for the kernel, rounded up so that no wait ends early.
pub(crate) fn timespec(time: Duration) -> Timespec {
    let time = time.saturating_add(Duration::from_micros(1));
    Timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}

pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}
