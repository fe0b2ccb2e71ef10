//! Descriptors and processes that a job needs, against the limits of this user.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use shmem_core::sync::NodeBarrier;
use shmem_core::text::counted;

use super::error::LaunchError;

/// Descriptors of the launcher for each PE: socket, lifeline, two handles of processes, two pipes
/// for output, the PE's record.
const PER_PE: u64 = 8;

/// Descriptors for everything else.
const BESIDE: u64 = 64;

/// Processes beside the PEs, as the kernel counts them: the launcher, and its two threads that write.
const OWN: u64 = 3;

/// Makes sure that `pes` can be started, raising the launcher's soft limit on descriptors where the
/// hard one lets it. Gives the limit that was in force if it has: the PEs are to start with it.
pub(crate) fn prepare(pes: usize) -> Result<Option<Rlimit>, LaunchError> {
    let before = getrlimit(Resource::Nofile);
    check(pes, getrlimit(Resource::Nproc).current, before.maximum)?;
    Ok(make_room((pes as u64).saturating_mul(PER_PE)).is_ok_and(|is_raised| is_raised).then_some(before))
}

/// The hard limit on descriptors is too low.
#[derive(Debug, thiserror::Error)]
#[error("may have {allowed} open and needs {needed}: raise the limit (ulimit -Hn)")]
pub(crate) struct TooFew {
    allowed: u64,
    needed: u64,
}

/// Raises the soft limit on descriptors until `needed` more fit; says whether that was necessary.
///
/// # Errors
///
/// If the hard limit does not let it.
pub(crate) fn make_room(needed: u64) -> Result<bool, TooFew> {
    let limit = getrlimit(Resource::Nofile);
    let needed = needed.saturating_add(BESIDE);
    match (limit.current, limit.maximum) {
        (None, _) => Ok(false),
        (Some(now), _) if now >= needed => Ok(false),
        (_, Some(most)) if most < needed => Err(TooFew { allowed: most, needed }),
        _ => {
            // That a soft limit may be raised to the hard one is the definition of the two.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
            Ok(true)
        }
    }
}

fn needed(pes: usize) -> u64 {
    (pes as u64).saturating_mul(PER_PE).saturating_add(BESIDE)
}

fn check(pes: usize, processes: Option<u64>, descriptors: Option<u64>) -> Result<(), LaunchError> {
    let too_many =
        |allowed: u64, limit| LaunchError::TooMany { asked: pes, allowed: allowed as usize, limit };
    if pes == 0 {
        return Err(LaunchError::NoPes);
    }
    // First: no limit that could be raised would help.
    if pes > NodeBarrier::MAX_PES {
        return Err(LaunchError::MoreThanANodeTakes { asked: pes });
    }
    if let Some(limit) = processes.filter(|&limit| limit < pes as u64 + OWN) {
        return Err(too_many(
            limit.saturating_sub(OWN),
            format!("this user may have {} (ulimit -u)", counted(limit as usize, "process")),
        ));
    }
    if let Some(limit) = descriptors.filter(|&limit| limit < needed(pes)) {
        let allowed = limit.saturating_sub(BESIDE) / PER_PE;
        return Err(too_many(
            allowed,
            format!("the launcher may have {limit} open descriptors (ulimit -Hn)"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_said_with_the_limit_and_what_does() {
        assert!(check(4, None, None).is_ok());
        assert!(check(4, Some(7), Some(needed(4))).is_ok());
        let text = |r: Result<(), LaunchError>| r.unwrap_err().to_string();
        assert_eq!(
            text(check(50, Some(49), None)),
            "50 PEs were asked for; this user may have 49 processes (ulimit -u), which allows 46; start fewer, or raise the limit"
        );
        // What other processes of this user leave is known where one is started.
        let source = std::io::Error::from(rustix::io::Errno::AGAIN);
        assert_eq!(
            text(Err(LaunchError::Spawn { pe: 1, source })),
            "the process of PE 1 could not be started: Resource temporarily unavailable (os error 11); raise the limit of this user's \
             processes (ulimit -u), or start fewer"
        );
        assert!(text(check(2, Some(1), None)).contains("this user may have 1 process (ulimit -u)"));
        let (limit, most) = (1024, 120);
        assert!(check(most, None, Some(limit)).is_ok());
        assert_eq!(
            text(check(most + 1, None, Some(limit))),
            "121 PEs were asked for; the launcher may have 1024 open descriptors (ulimit -Hn), which allows 120; start fewer, or raise the limit"
        );
        assert!(check(NodeBarrier::MAX_PES, None, None).is_ok());
        assert_eq!(
            text(check(65536, None, None)),
            "65536 PEs were asked for; a node takes at most 65535, because its barrier counts in 16 bits; start fewer"
        );
    }
}
