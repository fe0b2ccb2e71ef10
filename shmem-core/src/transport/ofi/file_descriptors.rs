//! File descriptors, which endpoints and connections of some providers need.
//!
//! Such a provider connects during operations, on both sides, and waits for ever if no descriptor is left. So a unit is opened only
//! if enough descriptors are left for its connections. Other processes may connect, too, and use up all descriptors. So the
//! progress thread checks periodically that one is free.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::error::OfiError;

/// Returns a warning if this process has no descriptor left. Duplicates descriptor `any`, for a moment, to find out.
pub(super) fn all_in_use(any: BorrowedFd<'_>) -> Option<String> {
    match rustix::io::fcntl_dupfd_cloexec(any, 0) {
        Err(Errno::MFILE) => {}
        _ => return None,
    }
    let limit = getrlimit(Resource::Nofile).current?;
    Some(format!(
        "all {limit} file descriptors of this process are in use, so nobody can connect to it any more; where these are \
         more than its job needs, somebody else holds connections to its port: let nobody else reach the ports \
         (docs/fabrics.md says how), or raise the limit of open descriptors (ulimit -n)"
    ))
}

/// Fails if it is known that too few descriptors are left for connections of `units` units to `peers` PEs and back.
pub(super) fn leave_room(units: usize, peers: usize) -> Result<(), OfiError> {
    let (limit, open) = (getrlimit(Resource::Nofile).current, std::fs::read_dir("/proc/self/fd"));
    let (Some(limit), Ok(open)) = (limit, open) else { return Ok(()) };
    // Reading the list of open descriptors uses one itself.
    let open = open.count().saturating_sub(1) as u64;
    let (left, needed) = (limit.saturating_sub(open), 2 * units as u64 * peers as u64);
    if left < needed {
        return Err(OfiError(format!(
            "{left} of {limit} file descriptors are left, and connections of {units} units to {peers} PEs and back may need \
             {needed}; raise the limit of open descriptors (ulimit -n)"
        )));
    }
    Ok(())
}
