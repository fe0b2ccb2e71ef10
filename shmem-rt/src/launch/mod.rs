//! Starting the PEs of a job on this host, and seeing it to its end: the library behind `shmrun`,
//! behind a program that launches itself, and behind tests with several PEs.
//!
//! Each PE is a child process with one end of a socket, announced by `SHMRUN_SOCKET`. Over it PEs
//! meet before they share memory, pass descriptors, leave or end the job. The launcher waits for
//! sockets, ends of processes, output and signals in one thread, and puts nothing into files or named
//! shared memory: when it dies, whatever kills it, the kernel kills the PEs, and nothing is left.
//!
//! ```text
//! job          the loop, and what ends a job      conversation   what it answers to PEs
//! member       one PE: its process, its socket, what it does
//! spawn        starting a process          program, limits, bind    before that
//! rendezvous   fences and shared descriptors
//! report       what people are told        record   what a PE says about itself
//! channel      packets with descriptors    wire     what stands in them
//! output       lines with tags             signals  those to the launcher
//! hosts        which PEs are told that they share a host
//! ```

mod bind;
pub(crate) mod channel;
mod conversation;
mod error;
mod hosts;
mod job;
pub(crate) mod limits;
mod member;
mod output;
mod program;
mod record;
pub(crate) mod rendezvous;
pub(crate) mod report;
mod signals;
mod spawn;
pub(crate) mod wire;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

pub use bind::Bind;
pub use error::LaunchError;
pub use hosts::{HostsAs, HostsError};

/// Variable that announces the socket: the number of an inherited descriptor.
pub(crate) const SOCKET: &str = "SHMRUN_SOCKET";
/// Variable with the PE's number.
pub(crate) const PE: &str = "SHMRUN_PE";
/// Variable with the number of PEs.
pub(crate) const NPES: &str = "SHMRUN_NPES";
/// Variable with the job's random number, in hexadecimal.
pub(crate) const JOB: &str = "SHMRUN_JOB";

/// Variable with the pattern of hosts of the jobs that tests start.
pub(crate) const HOSTS_AS: &str = "SHMRUN_HOSTS_AS";

/// Where the PEs' output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// To where the launcher's goes.
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
    args: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    pes: usize,
    hosts: Option<HostsAs>,
    bind: Bind,
    output: Output,
    debugger: Option<usize>,
    attach_wait: bool,
    watch_signals: bool,
    time: Option<Duration>,
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
    /// A signal to the launcher.
    Interrupted {
        /// Its number.
        signal: i32,
    },
    /// The time given was over.
    TimedOut,
}

impl Launch {
    /// A job of `pes` processes of `program`, which is found as shells find it.
    pub fn new(program: impl Into<OsString>, pes: usize) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            environment: Vec::new(),
            pes,
            hosts: None,
            bind: Bind::None,
            output: Output::Inherit,
            debugger: None,
            attach_wait: false,
            watch_signals: false,
            time: None,
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

    /// Binds PEs to CPUs.
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

    /// Runs this PE under `gdb`, which gets the terminal.
    pub fn gdb(mut self, pe: usize) -> Self {
        self.debugger = Some(pe);
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

    /// Ends the job when it has run for `time`.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Starts the job and waits for its end.
    ///
    /// # Errors
    ///
    /// If it could not be started. What happens to a job that runs is its [`Outcome`].
    pub fn run(self) -> Result<Outcome, LaunchError> {
        let limit = limits::prepare(self.pes)?;
        if let Some(pe) = self.debugger.filter(|&pe| pe >= self.pes) {
            return Err(LaunchError::NoSuchPe { pe, pes: self.pes });
        }
        let hosts = self.hosts.map_or_else(|| Ok(vec![0; self.pes]), |hosts| hosts.hosts(self.pes))?;
        let path = path(&self.environment);
        let program = program::find(&self.program, path.as_deref())?;
        let debugger = match self.debugger {
            Some(pe) => {
                let gdb = program::find(OsStr::new("gdb"), path.as_deref());
                Some((pe, gdb.map_err(|_| LaunchError::NoDebugger)?))
            }
            None => None,
        };
        let binding = self.bind.binding(self.pes).map_err(LaunchError::Bind)?;
        if let Some(remark) = &binding.remark
            && self.output != Output::Capture
        {
            say(remark);
        }
        let mut job = [0; 8];
        rustix::rand::getrandom(&mut job, rustix::rand::GetRandomFlags::empty())
            .map_err(|e| LaunchError::system("no random number for the job")(e.into()))?;
        let signals = self.watch_signals.then(signals::Signals::watch).transpose();
        let signals = signals.map_err(LaunchError::system("signals cannot be received"))?;
        let spawner = spawn::Spawner {
            program,
            name: self.program,
            args: self.args,
            environment: self.environment,
            hosts,
            job: u64::from_le_bytes(job),
            output: self.output,
            debugger,
            attach_wait: self.attach_wait,
            cpus: binding.sets,
            descriptors: limit,
            mask: signals.as_ref().map(signals::Signals::before),
        };
        Ok(job::Job::start(spawner, signals, self.time)?.run())
    }
}

/// Where programs are looked for: as the PEs would.
fn path(environment: &[(OsString, Option<OsString>)]) -> Option<OsString> {
    let set = environment.iter().rev().find(|(key, _)| key == "PATH");
    set.map_or_else(|| std::env::var_os("PATH"), |(_, value)| value.clone())
}

/// Launches the calling program, with its arguments, as `pes` PEs, and gives its exit code at the
/// job's end: what a program does that was started with `SHMEM_NPES` and without a launcher.
///
/// To be called before the program has started threads.
pub fn itself(pes: usize) -> u8 {
    // The link still leads to the file when its name is taken by a newer build, or gone.
    let program = std::env::current_exe()
        .ok()
        .filter(|program| program.exists())
        .unwrap_or_else(|| Path::new("/proc/self/exe").to_owned());
    let job = Launch::new(program, pes)
        .args(std::env::args_os().skip(1))
        .env_remove(crate::env::NPES.name)
        .watch_signals();
    match job.run() {
        Ok(outcome) => outcome.code,
        Err(error) => {
            say(&error.to_string());
            error.code()
        }
    }
}

/// Prints a message of the launcher.
fn say(text: &str) {
    crate::report::say(&format!("shmrun: {text}"));
}
