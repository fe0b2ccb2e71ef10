//! [`Local`]: a PE's connection to its launcher on this host: `shmrun`, or a program that launches itself.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::net::SocketType;
use rustix::process::getuid;
use shmem_core::exclusion::Mutex;
use shmem_core::process_exit;
use shmem_core::run_length::EqualRun;

use super::exchange_client::{self, Exchange as _, Served, owned};
use super::interface::{Bootstrap, Exchanged};
use super::socket_peer::inherited;
use crate::codec;
use crate::diagnostics::say;
use crate::launch::protocol::{ToLauncher, ToPe, VERSION, cut};
use crate::launch::socket::{Channel, is_readable};
use crate::launch::{JOB, NPES, PE, SOCKET};

const SERVER: &str = "shmrun";

/// Time limit of the launcher's first answer. The peer may be no launcher, and never answer.
const GREETING: Timespec = Timespec { tv_sec: 30, tv_nsec: 0 };

/// A PE of a job that `shmrun`, or the program itself, has launched on this host.
#[derive(Debug)]
pub struct Local {
    exchange: Served,
    number: usize,
    hosts: EqualRun<u32>,
    /// Whether each PE counts as alone on its host, and shares no memory with others.
    is_apart: bool,
    exchanged: Mutex<Exchanged>,
    /// A pipe from the launcher. When the launcher's end closes, the kernel kills this process.
    _lifeline: OwnedFd,
}

impl Local {
    /// Joins the job that the environment announces. Returns `None` if it announces none.
    ///
    /// The socket is closed on `exec`, so a child process cannot pose as the PE.
    ///
    /// # Errors
    ///
    /// If a variable or the socket is missing, the socket is not the launcher's, or the launcher refuses this process.
    ///
    /// # Safety
    ///
    /// As [`bootstrap::connect`](super::connect).
    pub unsafe fn connect() -> io::Result<Option<Self>> {
        if std::env::var_os(SOCKET).is_none() {
            return Ok(None);
        }
        let (descriptor, job): (RawFd, u64) = (number(SOCKET, 10)?, number(JOB, 16)?);
        let (pe, pes): (u32, u32) = (number(PE, 10)?, number(NPES, 10)?);
        if pe >= pes {
            return Err(invalid(format!("{PE}={pe}, but {NPES}={pes}: the PEs are 0 to {NPES} - 1")));
        }
        // SAFETY: an inherited descriptor stays open until this process has joined (caller).
        let channel = Channel::inherited(unsafe { duplicate(descriptor) }?);
        channel.send(&codec::encode(&ToLauncher::Hello { version: VERSION, job, pe }), &[])?;
        let mut ready = [PollFd::new(&channel, PollFlags::IN)];
        if rustix::io::retry_on_intr(|| poll(&mut ready, Some(&GREETING)))? == 0 {
            return Err(not_ours(descriptor, "whoever holds the other end does not answer"));
        }
        let other = || not_ours(descriptor, "whoever holds the other end answers what is no greeting");
        let (reply, mut lifelines) =
            exchange_client::reply(&channel, SERVER).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidInput => other(),
                _ => error,
            })?;
        let hosts = match reply {
            ToPe::Welcome { hosts } if hosts.len() == pes as usize => hosts,
            ToPe::Refused { reason } => return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason)),
            _ => return Err(other()),
        };
        let lifeline = lifelines.pop().ok_or_else(other)?;
        // Close the inherited descriptor, so that child processes do not inherit it.
        // SAFETY: this process owns `descriptor`, because the launcher has answered over a duplicate of it, and leaves it to this
        // process alone. It is closed once, because the function is called once (caller).
        drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        hold_on_to(&lifeline)?;
        let number = pe as usize;
        let neighbours = (0..hosts.len()).filter(|other| hosts[*other] == hosts[number]).collect();
        let exchange = Served::new(Arc::new(channel), number, neighbours, SERVER, None);
        let hosts = hosts.into_iter().collect();
        Ok(Some(Self {
            exchange,
            number,
            hosts,
            is_apart: false,
            exchanged: Mutex::default(),
            _lifeline: lifeline,
        }))
    }
}

impl Bootstrap for Local {
    fn name(&self) -> &'static str {
        "shmrun"
    }

    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.hosts.len()
    }

    fn hosts(&self) -> Vec<u32> {
        if self.is_apart { (0..self.count() as u32).collect() } else { self.hosts.iter().copied().collect() }
    }

    fn keep_apart(&mut self) {
        self.is_apart = true;
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        let mut exchanged = self.exchanged.lock();
        exchanged.puts += 1;
        exchanged.bytes_put += value.len() as u64;
        drop(exchanged);
        self.exchange.put(key, value)
    }

    fn fence(&self) -> io::Result<()> {
        self.exchanged.lock().rounds += 1;
        self.exchange.fence()
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        let value = self.exchange.get(pe, key)?;
        let mut exchanged = self.exchanged.lock();
        exchanged.gets += 1;
        exchanged.bytes_got += value.len() as u64;
        Ok(value)
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        if self.is_apart { Ok(vec![owned(descriptors)?]) } else { self.exchange.share(descriptors) }
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        process_exit::end(code, || {
            let request = ToLauncher::Abort { code, message: cut(message).into() };
            // If the launcher cannot be reached, this PE prints the text itself.
            if self.exchange.request(&request, &[]).is_err() && !message.is_empty() {
                say(&format!("PE {} ended the job with code {code}: {message}", self.number));
            }
        })
    }

    fn finish(&self) {
        // Errors are ignored. If the launcher has ended, the lifeline kills this process.
        let _ = self.exchange.request(&ToLauncher::Finish, &[]);
    }

    fn exchanged(&self) -> Exchanged {
        *self.exchanged.lock()
    }
}

/// Duplicates the socket with the number in `SHMRUN_SOCKET`, if a launcher of this user may have made it. Until the launcher has
/// answered, the number may belong to another part of the program.
///
/// # Safety
///
/// If the descriptor is open, it must stay open during the call.
unsafe fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: an open descriptor stays open during this function (caller).
    let found = unsafe { inherited(descriptor, SocketType::SEQPACKET) };
    let (socket, maker) = found.map_err(|why| match descriptor {
        ..3 => invalid(format!("{SOCKET}={descriptor}: {why}")),
        _ => not_ours(descriptor, why),
    })?;
    let (maker, user) = (maker.user.as_raw(), getuid().as_raw());
    if maker != user {
        let why = format!("user {maker} made it, and this process runs as user {user}");
        return Err(not_ours(descriptor, &why));
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(socket, 3)?)
}

/// Asks the kernel to kill this process when the launcher's end of the lifeline closes, as it does when the launcher ends.
/// (`PR_SET_PDEATHSIG`, which the launcher also sets, does not reach a PE below a wrapper script.)
fn hold_on_to(lifeline: &OwnedFd) -> io::Result<()> {
    const F_SETSIG: libc::c_int = 10;
    let raw = lifeline.as_raw_fd();
    let pid = std::process::id().cast_signed();
    // SAFETY: sets the process that gets the pipe's signals. This process owns the pipe.
    let owner = unsafe { libc::fcntl(raw, libc::F_SETOWN, pid) };
    // SAFETY: sets the signal of the pipe, which this process owns.
    let signal = unsafe { libc::fcntl(raw, F_SETSIG, libc::SIGKILL) };
    if owner < 0 || signal < 0 {
        return Err(io::Error::last_os_error());
    }
    rustix::fs::fcntl_setfl(lifeline, OFlags::ASYNC)?;
    // Check once, because a pipe that was closed earlier sends no signal.
    if is_readable(lifeline) { Err(exchange_client::gone(SERVER)) } else { Ok(()) }
}

fn number<N: TryFrom<u64>>(name: &str, radix: u32) -> io::Result<N> {
    let value = std::env::var(name).unwrap_or_else(|why| why.to_string());
    let number = u64::from_str_radix(&value, radix).ok().and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| {
        invalid(format!("{name}=`{value}` is nothing that shmrun sets: unset {SOCKET} to run without it"))
    })
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

fn not_ours(descriptor: RawFd, why: &str) -> io::Error {
    invalid(format!(
        "{SOCKET}={descriptor} is set, but descriptor {descriptor} is not this process's socket to shmrun: {why}; a process that a PE starts is no PE; set SHMEM_SINGLETON=1 to run it alone"
    ))
}
