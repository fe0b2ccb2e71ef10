//! Starting the process of one PE.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};

use rustix::fs::OFlags;
use rustix::io::FdFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Resource, Rlimit, Signal, getpid, getppid, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::bind::Binding;
use super::channel::Channel;
use super::error::LaunchError;
use super::output::Kind;
use super::signals::{Given, Mask};
use super::{JOB, NPES, Output, PE, SOCKET, program};
use crate::env::{ATTACH_WAIT, Bind, OFI_INTERFACE, OFI_PROVIDER};

/// What PEs find in their environment unless it says otherwise. Variables of libfabric's, which reads them before anybody
/// could tell it by a call: `ofi_rxm` keeps so many buffers of 16 KiB for each endpoint, by itself 4096 of them (1.17), or
/// 8192 (2.1), and touches them all. The engine's window bounds what is under way.
pub(crate) const DEFAULTS: [(&str, &str); 1] = [("FI_OFI_RXM_MSG_RX_SIZE", "128")];

/// What providers of libfabric are called whose interfaces are those of the internet.
const OF_INTERNET: [&[u8]; 4] = [b"tcp", b"udp", b"sockets", b"net"];

/// A job, as its PEs are started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Description {
    pub(crate) program: OsString,
    /// What the PEs are told that they are called.
    pub(crate) arg0: OsString,
    pub(crate) args: Vec<OsString>,
    /// Variables for the PEs beside those of their launcher, and those to be taken from them.
    pub(crate) environment: Vec<(OsString, Option<OsString>)>,
    /// The job's random number.
    pub(crate) number: u64,
    /// The host that each PE is told to be on.
    pub(crate) hosts: Vec<u32>,
    /// Whether that is pretended.
    pub(crate) pretends: bool,
    pub(crate) bind: Bind,
    pub(crate) output: Output,
    /// The streams of each PE that come to the launcher, by the pipes that they come through.
    pub(crate) pipes: Vec<Vec<Kind>>,
    /// The PE that runs under the debugger.
    pub(crate) debugger: Option<usize>,
    pub(crate) attach_wait: bool,
}

/// Starts the processes of a job: what is the same for all of them.
#[derive(Debug)]
pub(crate) struct Spawner {
    pub(crate) description: Description,
    /// The file of the program.
    program: PathBuf,
    /// The debugger, if a PE is to run under it.
    debugger: Option<PathBuf>,
    /// Empty: not bound. Else the i-th PE gets the i-th set, starting over at the end.
    cpus: Vec<CpuSet>,
    /// What is to be in force again in the processes.
    before: Before,
}

/// What was in force in a launcher before it changed it for itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    /// The limit on descriptors to start with.
    pub(crate) descriptors: Option<Rlimit>,
    /// The signals to block. A launcher that has changed its own answers SIGQUIT, and a key that sends
    /// it to all must not kill the PEs.
    pub(crate) mask: Option<Mask>,
}

/// A pipe that nobody writes to: its end tells a PE that the launcher is gone.
#[derive(Debug)]
pub(crate) struct Lifeline {
    /// Held by the launcher as long as it lives.
    pub(crate) _held: OwnedFd,
    /// For the PE.
    pub(crate) given: OwnedFd,
}

/// A process that has been started.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) child: Child,
    pub(crate) channel: Channel,
    pub(crate) lifeline: Lifeline,
    /// What it prints, by pipes that do not block.
    pub(crate) sources: Vec<(Kind, OwnedFd)>,
}

impl Spawner {
    /// Finds the program and the CPUs, of which there may be something to remark.
    ///
    /// # Errors
    ///
    /// If this host has no such program, or PEs cannot be bound as they are to be.
    pub(crate) fn new(
        description: Description,
        before: Before,
    ) -> Result<(Self, Option<String>), LaunchError> {
        let path = value(&description, "PATH");
        let program = program::find(&description.program, path.as_deref())?;
        let gdb = || program::find(OsStr::new("gdb"), path.as_deref()).map_err(|_| LaunchError::NoDebugger);
        let debugger = description.debugger.map(|_| gdb()).transpose()?;
        let binding = description.bind.binding(description.hosts.len());
        let Binding { sets: cpus, remark } = binding.map_err(LaunchError::Bind)?;
        Ok((Self { description, program, debugger, cpus, before }, remark))
    }

    /// Starts a PE.
    pub(crate) fn spawn(&self, pe: usize) -> io::Result<Spawned> {
        let (channel, theirs) = Channel::pair()?;
        let theirs = OwnedFd::from(theirs);
        let (given, held) = pipe_with(PipeFlags::CLOEXEC)?;

        let (job, mut command) = (&self.description, self.command(pe));
        command
            .env(SOCKET, theirs.as_raw_fd().to_string())
            .env(PE, pe.to_string())
            .env(NPES, job.hosts.len().to_string())
            .env(JOB, format!("{:016x}", job.number));
        let value = |key: &str| value(job, key);
        command.envs(DEFAULTS.into_iter().filter(|(key, _)| value(key).is_none()));
        // Hosts that are all this one need no network, which others could reach.
        let has_lo =
            |provider: OsString| OF_INTERNET.iter().any(|one| provider.as_encoded_bytes().starts_with(one));
        if job.pretends && value(OFI_PROVIDER.name).is_none_or(has_lo) && value(OFI_INTERFACE.name).is_none()
        {
            command.env(OFI_INTERFACE.name, "lo");
        }
        if job.attach_wait {
            command.env(ATTACH_WAIT.name, "1");
        }
        for (key, value) in &job.environment {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        let sources = self.sources(pe, &mut command)?;
        let prepare = self.prepare(pe, theirs);
        // SAFETY: between `fork` and `exec` the closure makes system calls, reads what it owns, and
        // neither allocates nor locks.
        unsafe { command.pre_exec(prepare) };
        let child = command.spawn()?;
        Ok(Spawned { child, channel, lifeline: Lifeline { _held: held, given }, sources })
    }

    fn command(&self, pe: usize) -> Command {
        let mut command = match &self.debugger {
            Some(debugger) if self.description.debugger == Some(pe) => {
                let mut command = Command::new(debugger);
                command.arg("--args").arg(&self.program);
                command
            }
            _ => {
                let mut command = Command::new(&self.program);
                command.arg0(&self.description.arg0);
                command
            }
        };
        command.args(&self.description.args);
        command
    }

    /// One PE has the launcher's input; what it would get if all read from it is up to chance.
    fn sources(&self, pe: usize, command: &mut Command) -> io::Result<Vec<(Kind, OwnedFd)>> {
        let Description { debugger, output, ref pipes, .. } = self.description;
        if pe != debugger.unwrap_or(0) || output == Output::Capture {
            let null = File::open("/dev/null");
            command.stdin(
                null.map_err(|e| io::Error::new(e.kind(), format!("/dev/null cannot be opened: {e}")))?,
            );
        }
        let mut sources = Vec::new();
        for streams in pipes.iter().filter(|_| debugger != Some(pe)) {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK)?;
            for kind in streams {
                match kind {
                    Kind::Out => command.stdout(write.try_clone()?),
                    Kind::Err => command.stderr(write.try_clone()?),
                };
            }
            sources.extend(streams.first().map(|kind| (*kind, read)));
        }
        Ok(sources)
    }

    /// What the new process does to itself before it becomes the program.
    fn prepare(&self, pe: usize, socket: OwnedFd) -> impl FnMut() -> io::Result<()> + use<> {
        let launcher: Pid = getpid();
        let cpus = (!self.cpus.is_empty()).then(|| self.cpus[pe % self.cpus.len()]);
        let (Before { descriptors, mask }, given) = (self.before, Given::take());
        move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(launcher) {
                // It died before the line above: the signal will never come.
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if let Some(cpus) = &cpus {
                sched_setaffinity(None, cpus)?;
            }
            given.give_back();
            if let Some(limit) = descriptors {
                setrlimit(Resource::Nofile, limit)?;
            }
            if let Some(mask) = mask {
                mask.set();
                // SAFETY: allowed between `fork` and `exec`; no handler is installed.
                unsafe { libc::signal(libc::SIGQUIT, libc::SIG_IGN) };
            }
            rustix::io::fcntl_setfd(&socket, FdFlags::empty())?;
            Ok(())
        }
    }
}

/// What a variable is for the PEs.
fn value(description: &Description, key: &str) -> Option<OsString> {
    let set = description.environment.iter().rev().find(|(name, _)| name.as_os_str() == key);
    set.map_or_else(|| std::env::var_os(key), |(_, value)| value.clone())
}
