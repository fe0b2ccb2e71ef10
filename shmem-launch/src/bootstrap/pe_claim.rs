//! [`Claim`]: one process for each PE.
//!
//! A child of a PE inherits the PE's environment variables, so the launcher's server would mistake the child for the PE. So before
//! a process joins, it binds an abstract Unix socket whose name contains job and PE. No other process of the network namespace can
//! bind the same name. The kernel frees the name when the process ends.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{Pid, getuid};

use super::socket_peer::Peer;
use crate::diagnostics::say;

/// Upper limit on the bytes of the job's name in a socket's name, which has at most 107 bytes. A longer name is cut at its front.
const MOST: usize = 64;

/// The exclusive right to be a PE: while this value lives, no other process has it.
pub(super) struct Claim {
    _socket: OwnedFd,
}

impl Claim {
    /// Claims a PE of a job. Returns `None` if another user, who cannot be the PE, or an unknown process has bound the name.
    ///
    /// Fails if another process of this user has claimed the PE.
    pub(super) fn new(job: &str, pe: &str) -> io::Result<Option<Self>> {
        let tail = &job.as_bytes()[job.len().saturating_sub(MOST)..];
        let head = format!("shmem-pe-{}-{pe:.10}-", getuid().as_raw());
        let address = SocketAddrUnix::new_abstract_name(&[head.as_bytes(), tail].concat())?;
        let socket = socket()?;
        match net::bind(&socket, &address) {
            Ok(()) => {
                // Listen, because a process that finds the name in use connects to learn its owner.
                net::listen(&socket, 1)?;
                Ok(Some(Self { _socket: socket }))
            }
            Err(Errno::ADDRINUSE) => match holder(&address) {
                Some(Peer { user, process }) if user == getuid() => Err(refused(pe, process)),
                // An unknown owner may be another user, so this is no error.
                holder => {
                    say(&format!("shmem: warning: {}", unguarded(pe, holder)));
                    Ok(None)
                }
            },
            Err(error) => Err(error.into()),
        }
    }
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Returns the process that has bound a name, or `None` if it cannot be found out.
fn holder(address: &SocketAddrUnix) -> Option<Peer> {
    // Retry, because the owner binds the name shortly before it listens.
    (0..20).find_map(|_| {
        let socket = socket().ok()?;
        match net::connect(&socket, address) {
            Ok(()) => Peer::of(&socket).ok(),
            Err(_) => {
                std::thread::sleep(Duration::from_millis(10));
                None
            }
        }
    })
}

fn named(process: Option<Pid>) -> String {
    process.map_or_else(|| "another process".to_owned(), |process| format!("process {process}"))
}

fn unguarded(pe: &str, holder: Option<Peer>) -> String {
    let whose = holder.map_or_else(String::new, |holder| format!(" of user {}", holder.user.as_raw()));
    format!(
        "{}{whose} holds the name by which PE {pe} is known to be one process: nobody would refuse a \
         second process that takes itself for PE {pe}; see that no PE starts a copy of the program, and ask that user to \
         end the process",
        named(holder.and_then(|holder| holder.process))
    )
}

fn refused(pe: &str, process: Option<Pid>) -> io::Error {
    let process = named(process);
    let text = format!(
        "PE {pe} is {process} already; a process that a PE starts is no PE; set SHMEM_SINGLETON=1 to run it alone"
    );
    io::Error::new(io::ErrorKind::AlreadyExists, text)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;

    /// Variables of copies of this program: the name that a copy holds until its input ends; the job whose PE 3 a copy claims.
    const HOLDS: &str = "SHMEM_TEST_HOLDS";
    const CLAIMS: &str = "SHMEM_TEST_CLAIMS";

    /// The entry of copies of this program.
    #[test]
    fn copy_with_a_name() {
        if let Ok(job) = std::env::var(CLAIMS) {
            assert!(Claim::new(&job, "3").unwrap().is_none());
        }
        let Ok(name) = std::env::var(HOLDS) else { return };
        let socket = socket().unwrap();
        net::bind(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()).unwrap();
        net::listen(&socket, 1).unwrap();
        println!("it is held");
        let _ = std::io::stdin().read_line(&mut String::new());
    }

    #[test]
    fn a_name_that_another_user_holds_guards_nothing() {
        if !getuid().is_root() {
            return eprintln!("skipped: only root starts processes of other users");
        }
        let job = format!("of another user@{}", std::process::id());
        let name = format!("shmem-pe-{}-3-{job}", getuid().as_raw());
        // Other users may not be able to read the directory of the build.
        let directory = tempfile::tempdir().unwrap();
        let (file, own) = (directory.path().join("holder"), std::env::current_exe().unwrap());
        // `cp` writes the file: children of other tests could inherit a descriptor of this process, and a file that is open for
        // writing cannot be run.
        assert!(Command::new("cp").arg(&own).arg(&file).status().unwrap().success());
        for path in [directory.path(), &file] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let copy = |file: &Path| {
            let mut command = Command::new(file);
            command.args(["copy_with_a_name", "--nocapture", "--test-threads=1"]);
            command
        };
        let mut holder = copy(&file);
        holder.env(HOLDS, &name).uid(65534).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = holder.spawn().unwrap();
        let said = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut said = said.skip_while(|line| !line.contains("it is held"));
        assert!(said.next().is_some(), "the other process holds the name");
        assert!(Claim::new(&job, "3").unwrap().is_none(), "nobody else is the PE");
        let claimant = copy(&own).env(CLAIMS, &job).output().unwrap();
        let err = String::from_utf8_lossy(&claimant.stderr);
        let warning = format!(
            "shmem: warning: process {} of user 65534 holds the name by which PE 3 is known to be one process",
            holder.id()
        );
        assert!(claimant.status.success() && err.matches(&warning).count() == 1, "{err}");
        drop(holder.stdin.take());
        holder.wait().unwrap();
        assert!(Claim::new(&job, "3").unwrap().is_some());
    }

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
        // A child that another test has forked has the socket until it calls `exec`.
        let free = (0..10_000).any(|_| {
            let claim = Claim::new(&job, "3");
            if claim.is_err() {
                std::thread::sleep(Duration::from_millis(1));
            }
            claim.is_ok_and(|claim| claim.is_some())
        });
        assert!(free);
    }
}
