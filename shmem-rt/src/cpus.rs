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

/// Number of CPUs that any of several PEs may run on, each of which says so by [`encode`].
pub(crate) fn count<'b>(each: impl Iterator<Item = &'b [u8]>) -> usize {
    let lists = each.filter_map(|list| ranges::parse(str::from_utf8(list).ok()?));
    lists.flatten().collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_bound_to_cpus_of_their_own_have_them_all_together() {
        assert_eq!(count([b"0".as_slice(), b"1"].into_iter()), 2);
        assert_eq!(count([b"0-1".as_slice(), b"0-1,10", b""].into_iter()), 3);
        let seen = std::thread::available_parallelism().unwrap().get();
        assert!(count([encode().as_slice()].into_iter()) >= seen);
    }
}
