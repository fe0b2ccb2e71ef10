//! [`Spawner`]: starts the process of a PE.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::fs::OFlags;
use rustix::io::FdFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Resource, Rlimit, Signal, getpid, getppid, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::error::LaunchError;
use super::output::{Forwarders, StdStream};
use super::pe::PeProcess;
use super::posix_signals::Before;
use super::socket::Channel;
use super::{JOB, Launch, NPES, Output, PE, SOCKET, random};
use crate::env::{OFI_INTERFACE, OFI_PROVIDER};

/// Variables that PEs get unless they are set already, because libfabric reads them before a call could set them. For each endpoint
/// `ofi_rxm` touches this number of 16 KiB buffers, by default 4096 (version 1.17) or 8192 (2.1). 128 are enough, because the
/// runtime limits operations in flight.
pub(crate) const DEFAULTS: [(&str, &str); 1] = [("FI_OFI_RXM_MSG_RX_SIZE", "128")];

/// Prefixes of the names of libfabric's providers that use internet protocols.
const OF_INTERNET: [&[u8]; 4] = [b"tcp", b"udp", b"sockets", b"net"];

#[derive(Debug)]
pub(crate) struct Spawner {
    pub(crate) job: Launch,
    pub(crate) number: u64,
    /// The host number of each PE, on real or pretended hosts.
    pub(crate) hosts: Vec<u32>,
    /// The output pipes that every PE has: for each pipe, the streams that write to it ([`pipes`](super::output::pipes)).
    pipes: Vec<Vec<StdStream>>,
    /// CPU sets, which are assigned to PEs in turn. If empty, PEs are not bound.
    cpus: Vec<CpuSet>,
    /// The limit on descriptors to restore in PEs, if the launcher has raised its own.
    descriptors: Option<Rlimit>,
    before: Before,
}

impl Spawner {
    /// Returns the spawner of a job's PEs, and a remark about CPU binding for the user.
    pub(crate) fn new(
        job: Launch,
        pipes: Vec<Vec<StdStream>>,
        descriptors: Option<Rlimit>,
        before: Before,
    ) -> Result<(Self, Option<String>), LaunchError> {
        let pes = job.pes;
        let hosts = job.hosts.as_ref().map_or_else(|| Ok(vec![0; pes]), |hosts| hosts.hosts(pes))?;
        let number = random().map_err(LaunchError::system("no random number for the job"))?;
        let (cpus, remark) = job.bind.binding(pes).map_err(|why| {
            LaunchError::new(format!(
                "PEs cannot be bound to CPUs here: {why}; with `--bind none` they run where the system likes"
            ))
        })?;
        let number = u64::from_le_bytes(number);
        Ok((Self { job, number, hosts, pipes, cpus, descriptors, before }, remark))
    }

    pub(crate) fn spawn(&self, pe: usize, forwarders: &mut Forwarders) -> Result<PeProcess, LaunchError> {
        let failed = |why: io::Error| LaunchError::process(pe, &why);
        let (channel, theirs) = Channel::pair().map_err(failed)?;
        let lifeline = pipe_with(PipeFlags::CLOEXEC).map_err(|why| failed(why.into()))?;
        let mut command = self.command(pe, theirs.as_fd().as_raw_fd());
        let sources = self.sources(pe, &mut command).map_err(failed)?;
        let prepare = self.prepare(pe, theirs.into());
        // SAFETY: between `fork` and `exec` the closure makes system calls and reads its own data. It allocates and locks nothing.
        unsafe { command.pre_exec(prepare) };
        let child = command.spawn().map_err(|why| LaunchError::program(pe, &self.job.program, &why))?;
        sources.into_iter().for_each(|(kind, pipe)| forwarders.add(pe, kind, pipe));
        Ok(PeProcess::new(pe, child, channel, lifeline))
    }

    fn command(&self, pe: usize, socket: RawFd) -> Command {
        let job = &self.job;
        let mut command = Command::new(&job.program);
        command
            .arg0(job.arg0.as_ref().unwrap_or(&job.program))
            .args(&job.args)
            .env(SOCKET, socket.to_string())
            .env(PE, pe.to_string())
            .env(NPES, job.pes.to_string())
            .env(JOB, format!("{:016x}", self.number));
        let value = |key: &str| value(job, key);
        command.envs(DEFAULTS.into_iter().filter(|(key, _)| value(key).is_none()));
        // Pretended hosts use the loopback interface, because no other machine takes part.
        let has_lo =
            |provider: OsString| OF_INTERNET.iter().any(|one| provider.as_encoded_bytes().starts_with(one));
        let pretends = job.hosts.is_some();
        if pretends && value(OFI_PROVIDER.name).is_none_or(has_lo) && value(OFI_INTERFACE.name).is_none() {
            command.env(OFI_INTERFACE.name, "lo");
        }
        for (key, value) in &job.environment {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command
    }

    /// Sets the standard streams of a PE. Only PE 0 gets the launcher's input, and only if output is not captured. Returns the read
    /// ends of the PE's output pipes.
    fn sources(&self, pe: usize, command: &mut Command) -> io::Result<Vec<(StdStream, OwnedFd)>> {
        if pe != 0 || self.job.output == Output::Capture {
            let null = File::open("/dev/null");
            command.stdin(
                null.map_err(|e| io::Error::new(e.kind(), format!("/dev/null cannot be opened: {e}")))?,
            );
        }
        let mut sources = Vec::new();
        for streams in &self.pipes {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK)?;
            for kind in streams {
                match kind {
                    StdStream::Out => command.stdout(write.try_clone()?),
                    StdStream::Err => command.stderr(write.try_clone()?),
                };
            }
            sources.extend(streams.first().map(|kind| (*kind, read)));
        }
        Ok(sources)
    }

    /// Returns the closure that the child process runs before `exec`.
    fn prepare(&self, pe: usize, socket: OwnedFd) -> impl FnMut() -> io::Result<()> + use<> {
        let launcher: Pid = getpid();
        let cpus = (!self.cpus.is_empty()).then(|| self.cpus[pe % self.cpus.len()]);
        let (descriptors, before) = (self.descriptors, self.before);
        move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(launcher) {
                // The launcher died before the call above, so the kernel will never send the signal of a parent's death.
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if let Some(cpus) = &cpus {
                sched_setaffinity(None, cpus)?;
            }
            before.restore();
            if let Some(limit) = descriptors {
                setrlimit(Resource::Nofile, limit)?;
            }
            rustix::io::fcntl_setfd(&socket, FdFlags::empty())?;
            Ok(())
        }
    }
}

fn value(job: &Launch, key: &str) -> Option<OsString> {
    let set = job.environment.iter().rev().find(|(name, _)| name.as_os_str() == key);
    set.map_or_else(|| std::env::var_os(key), |(_, value)| value.clone())
}
