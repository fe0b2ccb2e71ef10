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

/// The CPUs that a PE may run on, as it tells the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cpus {
    /// The machine; empty: not known.
    machine: String,
    /// Their numbers; none: not known.
    pub(crate) list: Vec<usize>,
}

impl Cpus {
    /// Those of the calling process.
    pub(crate) fn here() -> Self {
        let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self { machine: machine.trim().to_owned(), list: allowed().unwrap_or_default() }
    }

    /// For other PEs.
    pub(crate) fn encode(&self) -> Vec<u8> {
        format!("{} {}", self.machine, ranges::show(&self.list)).into_bytes()
    }

    /// What [`encode`](Self::encode) made; nothing is known of anything else.
    pub(crate) fn decode(said: &[u8]) -> Self {
        let (machine, list) = str::from_utf8(said).unwrap_or_default().split_once(' ').unwrap_or_default();
        Self { machine: machine.to_owned(), list: ranges::parse(list).unwrap_or_default() }
    }

    /// How many there are for the PEs of the calling one's node, of which there are `on_node`, by what `all` PEs
    /// tell. Several nodes may be on one machine (containers, or a job that is told so): then they have its CPUs
    /// together. Which machine it is decides about nothing else: only the launcher says who shares memory.
    pub(crate) fn of_the_node(all: &[Self], me: usize, on_node: usize) -> usize {
        let Self { machine, list } = &all[me];
        if machine.is_empty() {
            return list.len();
        }
        let there: Vec<_> = all.iter().filter(|other| other.machine == *machine).collect();
        let together: BTreeSet<_> = there.iter().flat_map(|other| &other.list).collect();
        together.len() * on_node / there.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_bound_to_cpus_of_their_own_have_them_all_together() {
        let said = |each: &[&str]| each.iter().map(|said| Cpus::decode(said.as_bytes())).collect::<Vec<_>>();
        assert_eq!(Cpus::of_the_node(&said(&["a 0", "a 1"]), 0, 2), 2);
        assert_eq!(Cpus::of_the_node(&said(&["a 0-1", "a 0-1,10", "a "]), 2, 3), 3);
        // Four PEs of two nodes on a machine of two CPUs, and one elsewhere.
        let apart = said(&["a 0-1", "b 0-7", "a 0-1", "a 0-1", "a 0-1"]);
        assert_eq!((Cpus::of_the_node(&apart, 0, 2), Cpus::of_the_node(&apart, 1, 1)), (1, 8));
        assert_eq!(Cpus::of_the_node(&said(&[" 0-1", " 0-3"]), 0, 1), 2, "who knows its machine?");
        let seen = std::thread::available_parallelism().unwrap().get();
        let here = Cpus::here();
        assert!(here.list.len() >= seen);
        assert_eq!(Cpus::decode(&here.encode()), here);
        assert_eq!(Cpus::decode(b"garbled"), Cpus::default());
    }
}
