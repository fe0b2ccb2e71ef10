//! A core for each PE, where there are enough.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Keeps the calling process on one of the cores it may use, by its number in the job, unless the
/// job has more PEs than that. Gives the number of these cores.
///
/// It is for PEs that have joined their job: how PEs wait is decided by the cores they had then.
///
/// # Errors
///
/// If the system does not say which cores the process may use, or refuses one of them.
pub fn take(pe: usize, pes: usize) -> std::io::Result<usize> {
    let cores = allowed()?;
    if pes <= cores.len() {
        let mut one = CpuSet::new();
        one.set(cores[pe]);
        sched_setaffinity(None, &one)?;
    }
    Ok(cores.len())
}

/// The cores that the calling process may run on.
///
/// # Errors
///
/// If the system does not say.
pub fn allowed() -> std::io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}
