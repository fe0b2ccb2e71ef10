//! File descriptors, which endpoints and connections of some providers need.
//!
//! A provider makes connections during operations, on both sides, and waits for ever if no descriptor is left. So a unit is opened
//! only if enough descriptors are left for its connections. Other processes can connect, too, and use up all descriptors: the
//! progress thread checks periodically for a free one.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::error::OfiError;

/// The warning that this process has no descriptor left, if true. Uses no descriptor.
pub(super) fn all_in_use(any: BorrowedFd<'_>) -> Option<String> {
    match rustix::io::fcntl_dupfd_cloexec(any, 0) {
        Err(Errno::MFILE) => {}
        _ => return None,
    }
    let limit = getrlimit(Resource::Nofile).current?;
    let sockets = (0..limit.min(MOST_LOOKS) as RawFd).filter(|number| is_socket(*number)).count();
    Some(format!(
        "all {limit} file descriptors of this process are in use, {sockets} of them by sockets: nobody can connect to \
         it any more; where these are more than its job needs, somebody else holds connections to its port: let nobody \
         else reach the ports (docs/fabrics.md says how), or raise the limit of open descriptors (ulimit -n)"
    ))
}

/// Fails if too few descriptors are left for connections of `units` units to `peers` PEs and back, if the system reports that.
pub(super) fn leave_room(units: usize, peers: usize) -> Result<(), OfiError> {
    let (limit, open) = (getrlimit(Resource::Nofile).current, std::fs::read_dir("/proc/self/fd"));
    let (Some(limit), Ok(open)) = (limit, open) else { return Ok(()) };
    // Reading the list uses one itself.
    let open = open.count().saturating_sub(1) as u64;
    let (left, needed) = (limit.saturating_sub(open), 2 * units as u64 * peers as u64);
    if left < needed {
        return Err(OfiError::Unusable(format!(
            "{left} of {limit} file descriptors are left, and connections of {units} units to {peers} PEs and back may need \
             {needed}; raise the limit of open descriptors (ulimit -n)"
        )));
    }
    Ok(())
}

const MOST_LOOKS: u64 = 1 << 16;

fn is_socket(number: RawFd) -> bool {
    // SAFETY: all zeroes are a valid `stat`.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: room for the result; a descriptor that is not open is an error.
    let answer = unsafe { libc::fstat(number, &raw mut stat) };
    answer == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFSOCK
}
