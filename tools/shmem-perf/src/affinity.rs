//! A core for each PE, where there are enough.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Keeps the calling process on one of the cores it may use, by its number in the job, unless the
/// job has more PEs than that. Gives the number of these cores.
///
/// It is for PEs that have joined their job: how PEs wait is decided by the cores they had then.
pub(crate) fn take(pe: usize, pes: usize) -> std::io::Result<usize> {
    let cores = allowed()?;
    if pes <= cores.len() {
        keep_on(&cores[pe..=pe])?;
    }
    Ok(cores.len())
}

/// Keeps the calling thread on some of the cores.
pub(crate) fn keep_on(cores: &[usize]) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    Ok(sched_setaffinity(None, &set)?)
}

/// The cores that the calling process may run on.
pub(crate) fn allowed() -> std::io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}
