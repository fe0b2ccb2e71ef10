//! Starting the process of one PE.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::fs::OFlags;
use rustix::io::FdFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Resource, Rlimit, Signal, getpid, getppid, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::channel::Channel;
use super::output::{Kind, Stream};
use super::signals::Mask;
use super::{JOB, NPES, Output, PE, SOCKET};
use crate::env::ATTACH_WAIT;

/// Starts the processes of a job: what is the same for all of them.
pub(crate) struct Spawner {
    pub(crate) program: PathBuf,
    pub(crate) name: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, Option<OsString>)>,
    /// The host of each PE, as the PEs are told.
    pub(crate) hosts: Vec<u32>,
    pub(crate) job: u64,
    pub(crate) output: Output,
    /// The PE under the debugger, and the debugger.
    pub(crate) debugger: Option<(usize, PathBuf)>,
    pub(crate) attach_wait: bool,
    pub(crate) cpus: Vec<CpuSet>,
    /// The limit on descriptors to start with, where the launcher has changed its own.
    pub(crate) descriptors: Option<Rlimit>,
    /// The signals to block, where the launcher has changed its own: then it answers SIGQUIT, and a
    /// key that sends it to all must not kill the PEs.
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
    pub(crate) streams: Vec<Stream>,
}

impl Spawner {
    /// Starts a PE.
    pub(crate) fn spawn(&self, pe: usize) -> io::Result<Spawned> {
        let (channel, theirs) = Channel::pair()?;
        let theirs = OwnedFd::from(theirs);
        let (given, held) = pipe_with(PipeFlags::CLOEXEC)?;

        let mut command = self.command(pe);
        command
            .env(SOCKET, theirs.as_raw_fd().to_string())
            .env(PE, pe.to_string())
            .env(NPES, self.hosts.len().to_string())
            .env(JOB, format!("{:016x}", self.job));
        if self.attach_wait {
            command.env(ATTACH_WAIT.name, "1");
        }
        for (key, value) in &self.environment {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        let streams = self.streams(pe, &mut command)?;
        let prepare = self.prepare(pe, theirs);
        // SAFETY: between `fork` and `exec` the closure makes system calls, reads what it owns, and
        // neither allocates nor locks.
        unsafe { command.pre_exec(prepare) };
        let child = command.spawn()?;
        Ok(Spawned { child, channel, lifeline: Lifeline { _held: held, given }, streams })
    }

    fn command(&self, pe: usize) -> Command {
        let mut command = match &self.debugger {
            Some((debugged, debugger)) if *debugged == pe => {
                let mut command = Command::new(debugger);
                command.arg("--args").arg(&self.program);
                command
            }
            _ => {
                let mut command = Command::new(&self.program);
                command.arg0(&self.name);
                command
            }
        };
        command.args(&self.args);
        command
    }

    /// One PE has the launcher's input; what it would get if all read from it is up to chance.
    fn streams(&self, pe: usize, command: &mut Command) -> io::Result<Vec<Stream>> {
        let reader = self.debugger.as_ref().map_or(0, |(pe, _)| *pe);
        if pe != reader || self.output == Output::Capture {
            command.stdin(Stdio::null());
        }
        let debugged = self.debugger.is_some() && pe == reader;
        if self.output == Output::Inherit || debugged {
            return Ok(Vec::new());
        }
        let stream = |kind| -> io::Result<(Stream, OwnedFd)> {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK)?;
            let tag = (self.output == Output::Tag).then(|| format!("[{pe}] "));
            Ok((Stream::new(kind, read, tag), write))
        };
        let (out, out_end) = stream(Kind::Out)?;
        let (err, err_end) = stream(Kind::Err)?;
        command.stdout(out_end).stderr(err_end);
        Ok(vec![out, err])
    }

    /// What the new process does to itself before it becomes the program.
    fn prepare(&self, pe: usize, socket: OwnedFd) -> impl FnMut() -> io::Result<()> + use<> {
        let launcher: Pid = getpid();
        let cpus = (!self.cpus.is_empty()).then(|| self.cpus[pe % self.cpus.len()]);
        let descriptors = self.descriptors;
        let mask = self.mask;
        move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(launcher) {
                // It died before the line above: the signal will never come.
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if let Some(cpus) = &cpus {
                sched_setaffinity(None, cpus)?;
            }
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
