//! Starts, watches and ends the PEs of a job. Used by `shmrun`, by programs that launch themselves, and by tests with several PEs.
//!
//! Each PE is a child process with one end of a socket (`SHMRUN_SOCKET`). Over the socket, PEs pass descriptors, leave the job or
//! end it, and, until they share memory, synchronise. One thread waits for sockets, processes, output and signals. Other threads
//! write output. The launcher has no files and no named shared memory. If it dies, the kernel kills the PEs, and nothing is left.
//!
//! All PEs run on this host, even those on pretended hosts ([`HostsAs`]). An installed launcher starts PEs on other hosts
//! ([`Launch::command`]).
//!
//! ```text
//! launchers         the command of an installed launcher
//! host_list         the hosts for it
//! run               the loop, and the end of a job
//! pes               requests and deaths of PEs
//! spawn             starting a process
//! descriptor_limit  raising `ulimit -n`
//! cpu_binding       the CPUs of each PE
//! pretended         pretended hosts
//! pe                one PE: its processes, its socket, its state
//! exchange_server   puts, fences, and descriptors that PEs share
//! pe_record         a PE's record in its memory
//! report            error texts and reports
//! socket            packets with descriptors
//! protocol          contents of packets
//! output            output of PEs
//! posix_signals     SIGINT and others
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

/// Variable with the descriptor of the PE's inherited socket.
pub(crate) const SOCKET: &str = "SHMRUN_SOCKET";
pub(crate) const PE: &str = "SHMRUN_PE";
pub(crate) const NPES: &str = "SHMRUN_NPES";
/// Variable with the random number that identifies the job, in hexadecimal.
pub(crate) const JOB: &str = "SHMRUN_JOB";

/// Variable with the placement on pretended hosts, for jobs that tests start.
pub const HOSTS_AS: &str = "SHMRUN_HOSTS_AS";

const PRODUCT: &str = "shmem";

/// The destination of PEs' output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// The launcher's standard output and standard error. If that is a terminal, or the job has one PE, PEs write to it directly.
    /// Otherwise the launcher forwards whole lines.
    #[default]
    Inherit,
    /// The launcher's standard output and standard error. Whole lines are forwarded, each after its PE's number.
    Tag,
    /// The [`Outcome`], for the caller.
    Capture,
}

/// The description of a job to start.
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
    /// The program's `argv[0]`, or `None` for the program's path.
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
    /// The exit code: 0, or that of the first failed PE. 128 plus the number of a signal, if one ended that PE or the job. 124
    /// after a timeout, and 1 after another failure.
    pub code: u8,
    /// The cause of the job's end, unless all PEs ended in order.
    pub failure: Option<Failure>,
    /// All texts that the launcher has reported, printed or not.
    pub report: String,
    /// The output of each PE if it was captured, or else empty.
    pub outputs: Vec<Printed>,
}

/// The output of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The PE's standard output.
    pub out: Vec<u8>,
    /// The PE's standard error.
    pub err: Vec<u8>,
}

/// The cause of a job's early end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// A PE was killed by a signal, exited with a code other than 0, or ended before it left the job.
    Died {
        /// The number of the first PE that died.
        pe: usize,
        /// How the PE died: `was killed by signal 11 (SIGSEGV)`.
        how: String,
    },
    /// A PE aborted the job.
    Aborted {
        /// The number of the PE that aborted the job.
        pe: usize,
        /// The exit code that the PE asked for.
        code: i32,
        /// The PE's error text.
        message: String,
    },
    /// A PE violated the launcher's protocol.
    Broken {
        /// The number of the PE.
        pe: usize,
        /// A description of the violation.
        what: String,
    },
    /// The PEs' output could not be written.
    Output {
        /// A description of the error.
        what: String,
    },
    /// The launcher received a signal that ends the job.
    Interrupted {
        /// The number of the signal.
        signal: i32,
    },
    /// The job ran for longer than [`Launch::timeout`].
    TimedOut,
}

impl Launch {
    /// Describes a job of `pes` processes of `program`, which is a path with a `/`, or the name of a file in a directory of `PATH`.
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

    /// Adds arguments of the program.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable for the PEs, which otherwise inherit the launcher's environment.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), Some(value.into())));
        self
    }

    /// Removes a variable from the PEs' environment.
    pub fn env_remove(mut self, key: impl Into<OsString>) -> Self {
        self.environment.push((key.into(), None));
        self
    }

    /// Places PEs on pretended hosts. PEs of different pretended hosts share no memory.
    pub fn hosts_as(mut self, hosts: HostsAs) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// Binds PEs to CPUs. By default PEs are not bound, because a program may start several jobs at a time.
    pub fn bind(mut self, bind: Bind) -> Self {
        self.bind = bind;
        self
    }

    /// Writes `[PE] ` before each line of the PEs' output.
    pub fn tag_output(mut self) -> Self {
        self.output = Output::Tag;
        self
    }

    /// Collects the PEs' output, and the launcher's reports, in the [`Outcome`], and prints neither.
    pub fn capture_output(mut self) -> Self {
        self.output = Output::Capture;
        self
    }

    /// During the job, a SIGINT, SIGTERM or SIGHUP that reaches the thread which calls [`run`](Self::run) ends the job, and a
    /// SIGQUIT prints what each PE does.
    pub fn watch_signals(mut self) -> Self {
        self.watch_signals = true;
        self
    }

    /// Sets the prefix of the launcher's reports. The default is `shmem`.
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

/// Runs the calling program again, with its arguments, as a job of `pes` PEs, as `SHMEM_NPES` asks for. Returns the job's exit
/// code.
///
/// Must be called before the program starts threads.
pub fn itself(pes: usize, bind: Bind) -> u8 {
    let run = || {
        let program =
            std::env::current_exe().map_err(LaunchError::system("the file of this program is not known"))?;
        // A file that was removed or replaced by a newer build has no path, but `/proc/self/exe` still leads to it.
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

/// Converts a time to the kernel's type. Rounds up, so that no wait ends early.
pub(crate) fn timespec(time: Duration) -> Timespec {
    let time = time.saturating_add(Duration::from_micros(1));
    Timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}

pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}
