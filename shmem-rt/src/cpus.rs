//! The CPUs that processes may run on.

use std::collections::BTreeSet;
use std::io;

#[cfg(feature = "rayon")]
use rustix::thread::sched_setaffinity;
use rustix::thread::{CpuSet, sched_getaffinity};
use shmem_core::ranges;

/// The CPUs that the calling process may run on.
///
/// # Errors
///
/// If the system does not say.
pub(crate) fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Keeps the calling thread on these CPUs.
///
/// # Errors
///
/// If the system does not let it run on any of them.
#[cfg(feature = "rayon")]
pub(crate) fn bind(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU).for_each(|&cpu| set.set(cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// The CPUs that the calling process may run on, for other PEs; nothing if they are not known.
pub(crate) fn encode() -> Vec<u8> {
    ranges::show(&allowed().unwrap_or_default()).into_bytes()
}

/// The CPUs that a PE says by [`encode`]; none if they are not known.
pub(crate) fn decode(said: &[u8]) -> Vec<usize> {
    str::from_utf8(said).ok().and_then(ranges::parse).unwrap_or_default()
}

/// Number of CPUs that any of several PEs may run on.
pub(crate) fn count(each: &[Vec<usize>]) -> usize {
    each.iter().flatten().collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_bound_to_cpus_of_their_own_have_them_all_together() {
        let count =
            |each: &[&str]| count(&each.iter().map(|said| decode(said.as_bytes())).collect::<Vec<_>>());
        assert_eq!(count(&["0", "1"]), 2);
        assert_eq!(count(&["0-1", "0-1,10", ""]), 3);
        let seen = std::thread::available_parallelism().unwrap().get();
        assert!(decode(&encode()).len() >= seen);
    }
}
