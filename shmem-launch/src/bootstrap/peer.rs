//! The user and the process at the other end of a Unix socket: `SO_PEERCRED` of unix(7); and sockets that launchers leave to
//! what they start.
//!
//! The kernel reports process 0 where the other end is outside this process's PID namespace. rustix reads that into a
//! `Pid`, which cannot be 0, so the call is made here.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, RawFd};

use rustix::io::FdFlags;
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::process::{Pid, Uid, getpid};

/// Who made or connected the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) user: Uid,
    /// `None`: a process outside this PID namespace.
    pub(super) process: Option<Pid>,
}

impl Peer {
    /// Reads them from the socket.
    ///
    /// # Errors
    ///
    /// If `socket` is no Unix socket.
    pub(super) fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut length = size_of_val(&found) as libc::socklen_t;
        let socket = socket.as_fd().as_raw_fd();
        // SAFETY: the kernel writes at most `length` bytes to `found`, which has as many, and whose fields are integers, of
        // which each bit pattern is a value; it writes their number to `length`.
        let status = unsafe {
            libc::getsockopt(
                socket,
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut found).cast(),
                &raw mut length,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { user: Uid::from_raw(found.uid), process: Pid::from_raw(found.pid) })
    }
}

/// The socket of this type that a launcher has left to this process under a number, and who has made it; or why it is none.
/// The number may be wrong: what has it may belong to some other part of the program.
///
/// # Safety
///
/// Nobody closes the descriptor, if it is open, as long as the result is used.
pub(super) unsafe fn inherited(
    descriptor: RawFd,
    of: SocketType,
) -> Result<(BorrowedFd<'static>, Peer), &'static str> {
    if descriptor < 3 {
        return Err("that is no socket of a launcher");
    }
    // SAFETY: not -1, which `BorrowedFd` may not be; whether it is open is what the first call on it finds out, and nothing closes it
    // meanwhile (caller).
    let socket = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let Ok(flags) = rustix::io::fcntl_getfd(socket) else { return Err("it is not open in this process") };
    let is_socket =
        sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX) && sockopt::socket_type(socket) == Ok(of);
    // What a launcher leaves to a process is inherited by `exec`.
    if !is_socket || flags.contains(FdFlags::CLOEXEC) {
        return Err("it is something else in this process");
    }
    match Peer::of(socket) {
        Ok(peer) if peer.process != Some(getpid()) => Ok((socket, peer)),
        _ => Err("this process has made it itself"),
    }
}
