//! Checks and raises the limit on descriptors for a job.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use shmem_core::sync::NodeBarrier;

use super::error::LaunchError;

/// Descriptors that the launcher holds for each PE: socket, both ends of the lifeline, two pidfds, two output pipes, record.
const PER_PE: u64 = 8;

const BESIDE: u64 = 64;

pub(crate) const NO_PES: &str = "0 PEs were asked for; a job has at least one";

/// Raises the launcher's soft limit on descriptors for `pes` PEs. If the limit was raised, returns the old limit, for the PEs.
pub(crate) fn prepare(pes: usize) -> Result<Option<Rlimit>, LaunchError> {
    if pes == 0 {
        return Err(LaunchError::new(NO_PES));
    }
    if pes > NodeBarrier::MAX_PES {
        return Err(LaunchError::new(format!(
            "{pes} PEs were asked for; a node takes at most {}, because its barrier counts in 16 bits; start fewer",
            NodeBarrier::MAX_PES
        )));
    }
    let before = getrlimit(Resource::Nofile);
    let is_raised = make_room(pes as u64 * PER_PE).map_err(|short| {
        LaunchError::new(format!("{pes} PEs were asked for, and the launcher {short}, or start fewer"))
    })?;
    Ok(is_raised.then_some(before))
}

/// Raises the soft limit on descriptors to the hard limit if it is lower than `needed` plus [`BESIDE`]. Returns whether it was
/// raised.
pub(crate) fn make_room(needed: u64) -> Result<bool, String> {
    let limit = getrlimit(Resource::Nofile);
    let needed = needed.saturating_add(BESIDE);
    match (limit.current, limit.maximum) {
        (None, _) => Ok(false),
        (Some(now), _) if now >= needed => Ok(false),
        (_, Some(most)) if most < needed => {
            Err(format!("may have {most} descriptors open and needs {needed}: raise the limit (ulimit -Hn)"))
        }
        _ => {
            // Cannot fail, because a soft limit may always be raised to the hard limit.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
            Ok(true)
        }
    }
}
