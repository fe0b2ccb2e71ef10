//! One process for each PE.
//!
//! A process that a PE starts inherits what the launcher has told the PE, and the launcher's server would take it for
//! the PE. So whoever joins as a PE first binds a socket of the PE's name, which nobody else on the host can bind, and
//! which the kernel gives back when the process ends in whatever way.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use rustix::process::{Uid, getuid};

use super::NAMESPACE;

/// Set with [`NAMESPACE`]: the PE's number.
const RANK: &str = "PMIX_RANK";

/// Most bytes of a job's name in that of a socket, which has 107. Names of jobs differ at their end.
const MOST: usize = 64;

/// A PE that this process is. Nobody else becomes it as long as this lives.
pub(super) struct Claim {
    _socket: OwnedFd,
}

impl Claim {
    /// Of the PE that the environment names; `None`: it names none, or another user holds the name, who cannot be the PE.
    ///
    /// # Errors
    ///
    /// If a process of this user is the PE already.
    pub(super) fn of_environment() -> io::Result<Option<Self>> {
        match (std::env::var(NAMESPACE), std::env::var(RANK)) {
            (Ok(job), Ok(pe)) => Self::new(&job, &pe),
            _ => Ok(None),
        }
    }

    fn new(job: &str, pe: &str) -> io::Result<Option<Self>> {
        let tail = &job.as_bytes()[job.len().saturating_sub(MOST)..];
        let head = format!("shmem-pe-{}-{pe:.10}-", getuid().as_raw());
        let address = SocketAddrUnix::new_abstract_name(&[head.as_bytes(), tail].concat())?;
        let socket = socket()?;
        match net::bind(&socket, &address) {
            Ok(()) => {
                // Who comes later asks this socket whose it is.
                net::listen(&socket, 1)?;
                Ok(Some(Self { _socket: socket }))
            }
            Err(Errno::ADDRINUSE) => match holder(&address) {
                Some((user, _)) if user != getuid() => Ok(None),
                holder => Err(refused(pe, holder.map(|(_, process)| process))),
            },
            Err(error) => Err(error.into()),
        }
    }
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Whose it is, by user and process; `None`: it does not say.
fn holder(address: &SocketAddrUnix) -> Option<(Uid, i32)> {
    let socket = socket().ok()?;
    net::connect(&socket, address).ok()?;
    let holder = sockopt::socket_peercred(&socket).ok()?;
    Some((holder.uid, holder.pid.as_raw_nonzero().get()))
}

fn refused(pe: &str, process: Option<i32>) -> io::Error {
    let process =
        process.map_or_else(|| "another process".to_owned(), |process| format!("process {process}"));
    let text = format!(
        "PE {pe} is {process} already; a process that a PE starts is no PE; unset {NAMESPACE} to run it alone"
    );
    io::Error::new(io::ErrorKind::AlreadyExists, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pe_is_one_process_and_free_again_when_that_has_ended() {
        let job = format!("{}@{}", "long name of a host ".repeat(20), std::process::id());
        let first = Claim::new(&job, "3").unwrap();
        assert!(first.is_some());
        let refused = Claim::new(&job, "3").err().unwrap().to_string();
        let expected = format!("PE 3 is process {} already; ", std::process::id());
        assert!(refused.starts_with(&expected), "{refused}");
        assert!(Claim::new(&job, "4").unwrap().is_some(), "another PE");
        assert!(Claim::new(&format!("{job}1"), "3").unwrap().is_some(), "the same PE of another job");
        drop(first);
        assert!(Claim::new(&job, "3").unwrap().is_some());
    }
}
