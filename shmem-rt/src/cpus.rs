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

/// The machine and the CPUs that the calling process may run on, for other PEs; nothing of what is not known.
pub(crate) fn encode() -> Vec<u8> {
    let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{} {}", machine.trim(), ranges::show(&allowed().unwrap_or_default())).into_bytes()
}

/// The CPUs that a PE says by [`encode`]; none if they are not known.
pub(crate) fn decode(said: &[u8]) -> Vec<usize> {
    split(said).1
}

/// How many CPUs there are for the PEs of the calling one's node, of which there are `on_node`, by what all
/// PEs say. Several nodes may be on one machine (containers, or a job that is told so): then they have its CPUs
/// together. Which machine it is decides about nothing else: only the launcher says who shares memory.
pub(crate) fn of_the_node(said: &[Vec<u8>], me: usize, on_node: usize) -> usize {
    let (machine, mine) = split(&said[me]);
    let there = said.iter().map(|said| split(said)).filter(|(other, _)| *other == machine);
    let there: Vec<Vec<usize>> = there.map(|(_, cpus)| cpus).collect();
    match machine {
        "" => mine.len(),
        _ => count(&there) * on_node / there.len(),
    }
}

fn split(said: &[u8]) -> (&str, Vec<usize>) {
    let (machine, list) = str::from_utf8(said).unwrap_or_default().split_once(' ').unwrap_or_default();
    (machine, ranges::parse(list).unwrap_or_default())
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
        let said = |each: &[&str]| each.iter().map(|said| said.as_bytes().to_vec()).collect::<Vec<_>>();
        assert_eq!(of_the_node(&said(&["a 0", "a 1"]), 0, 2), 2);
        assert_eq!(of_the_node(&said(&["a 0-1", "a 0-1,10", "a "]), 2, 3), 3);
        // Four PEs of two nodes on a machine of two CPUs, and one elsewhere.
        let apart = said(&["a 0-1", "b 0-7", "a 0-1", "a 0-1", "a 0-1"]);
        assert_eq!((of_the_node(&apart, 0, 2), of_the_node(&apart, 1, 1)), (1, 8));
        assert_eq!(of_the_node(&said(&[" 0-1", " 0-3"]), 0, 1), 2, "who knows its machine?");
        let seen = std::thread::available_parallelism().unwrap().get();
        assert!(decode(&encode()).len() >= seen);
    }
}
