//! The user and the process at the other end of a Unix socket (`SO_PEERCRED`, unix(7)), and inherited sockets.
//!
//! The kernel reports process 0 if it is outside this process's PID namespace. rustix is not used, because its `Pid` cannot be 0.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, RawFd};

use rustix::io::FdFlags;
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::process::{Pid, Uid, getpid};

/// The process that made or connected the other end of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) user: Uid,
    /// The process, or `None` if it is outside this PID namespace.
    pub(super) process: Option<Pid>,
}

impl Peer {
    pub(super) fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut length = size_of_val(&found) as libc::socklen_t;
        let socket = socket.as_fd().as_raw_fd();
        // SAFETY: the kernel writes at most `length` bytes to `found`, which has `length` bytes and consists of integers, so any
        // bits are valid. It writes the number of bytes to `length`.
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

/// Returns the inherited socket `descriptor`, of type `of`, and the process that made it. Returns the reason if `descriptor` is not
/// such a socket: another part of the program may own it.
///
/// # Safety
///
/// If the descriptor is open, it must stay open as long as the result is used.
pub(super) unsafe fn inherited(
    descriptor: RawFd,
    of: SocketType,
) -> Result<(BorrowedFd<'static>, Peer), &'static str> {
    if descriptor < 3 {
        return Err("that is no socket of a launcher");
    }
    // SAFETY: `descriptor` is not -1. The first call finds out whether it is open. An open descriptor stays open (caller).
    let socket = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let Ok(flags) = rustix::io::fcntl_getfd(socket) else { return Err("it is not open in this process") };
    let is_socket =
        sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX) && sockopt::socket_type(socket) == Ok(of);
    // An inherited descriptor cannot have `CLOEXEC`, because it was passed through `exec`.
    if !is_socket || flags.contains(FdFlags::CLOEXEC) {
        return Err("it is something else in this process");
    }
    match Peer::of(socket) {
        Ok(peer) if peer.process != Some(getpid()) => Ok((socket, peer)),
        _ => Err("this process has made it itself"),
    }
}
