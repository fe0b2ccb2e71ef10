//! File descriptors, of which some providers make endpoints and connections.
//!
//! Whoever opens endpoints until there are none left is told so. But a connection is made in the middle of an
//! operation, on either side, by a provider that then waits for ever. So a unit is opened only where enough are left for
//! all connections that it and those before it may need.

use rustix::process::{Resource, getrlimit};

use super::error::OfiError;

/// Those of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptors {
    limit: u64,
    open: u64,
}

impl Descriptors {
    /// `None`: there is no limit, or the system does not say.
    pub(super) fn of_this_process() -> Option<Self> {
        let limit = getrlimit(Resource::Nofile).current?;
        // The list is read through one more.
        let open = std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1) as u64;
        Some(Self { limit, open })
    }

    /// Whether there are enough for connections of `units` units to `peers` PEs and back.
    ///
    /// # Errors
    ///
    /// If there are not.
    pub(super) fn leave_room(self, units: usize, peers: usize) -> Result<(), OfiError> {
        let Self { limit, open } = self;
        let (left, needed) = (limit.saturating_sub(open), 2 * units as u64 * peers as u64);
        if left < needed {
            return Err(OfiError::Descriptors { units, peers, left, needed, limit });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_may_connect_to_each_peer_and_each_peer_back() {
        let descriptors = Descriptors { limit: 100, open: 40 };
        assert_eq!(descriptors.leave_room(3, 10), Ok(()));
        let refused = descriptors.leave_room(4, 10).unwrap_err().to_string();
        assert!(refused.contains("60 of 100") && refused.contains("80"), "{refused}");
        assert!(Descriptors { limit: 10, open: 40 }.leave_room(1, 1).is_err());
    }

    #[test]
    fn this_process_has_some() {
        let before = Descriptors::of_this_process().unwrap();
        let _files = [(); 20].map(|()| std::fs::File::open("/dev/null").unwrap());
        let after = Descriptors::of_this_process().unwrap();
        // Other tests open and close theirs.
        assert!(after.open >= 20 && after.open < after.limit && after.limit == before.limit, "{after:?}");
    }
}
