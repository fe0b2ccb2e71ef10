//! The CPUs that processes may run on.

use std::collections::BTreeSet;
use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shmem_core::cpu_list;
use shmem_core::run_length::EqualRun;

use crate::codec::Message;

/// Returns the CPUs that the calling process may run on.
///
/// # Errors
///
/// If the system call fails.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Binds the calling thread to `cpus`.
///
/// # Errors
///
/// If the thread may run on none of them.
pub fn bind(cpus: &[usize]) -> io::Result<()> {
    Ok(sched_setaffinity(None, &set(cpus))?)
}

pub(crate) fn set(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU).for_each(|&cpu| set.set(cpu));
    set
}

/// The CPUs that a PE may run on, as PEs exchange them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cpus {
    /// The boot ID of the machine, or empty if unknown.
    machine: String,
    /// Numbers of CPUs, or empty if unknown.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub list: Vec<usize>,
}

impl Message for Cpus {}

impl Cpus {
    /// Returns the CPUs of the calling process.
    pub fn here() -> Self {
        let machine = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self { machine: machine.trim().to_owned(), list: allowed().unwrap_or_default() }
    }

    /// Returns the number of CPUs of PE `me`'s node, which has `on_node` PEs. If a machine has several nodes (containers, pretended
    /// hosts), they share its CPUs in proportion to their PEs. Returns 0 if `all` has no entry for the PE.
    pub fn of_the_node(all: &EqualRun<Self>, me: usize, on_node: usize) -> usize {
        let Some(Self { machine, list }) = all.get(me) else { return 0 };
        if machine.is_empty() {
            return list.len();
        }
        let is_there = |other: &&Self| other.machine == *machine;
        let together: BTreeSet<_> =
            all.values().iter().filter(is_there).flat_map(|other| &other.list).collect();
        together.len().saturating_mul(on_node) / all.iter().filter(is_there).count()
    }
}

/// Writes a list as ranges, so that it is short on machines with many CPUs.
fn write<S: Serializer>(list: &[usize], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&cpu_list::show(list))
}

fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<usize>, D::Error> {
    cpu_list::parse(<&str>::deserialize(from)?).ok_or_else(|| D::Error::custom("no list of numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{self, Malformed};

    #[test]
    fn pes_bound_to_cpus_of_their_own_have_them_all_together() {
        let of = |said: &str| {
            let (machine, list) = said.split_once(' ').unwrap();
            Cpus { machine: machine.to_owned(), list: cpu_list::parse(list).unwrap() }
        };
        let said = |each: &[&str]| each.iter().copied().map(of).collect::<EqualRun<_>>();
        assert_eq!(Cpus::of_the_node(&said(&["a 0", "a 1"]), 0, 2), 2);
        assert_eq!(Cpus::of_the_node(&said(&["a 0-1", "a 0-1,10", "a "]), 2, 3), 3);
        // Four PEs of two nodes on a machine of two CPUs, and one elsewhere.
        let apart = said(&["a 0-1", "b 0-7", "a 0-1", "a 0-1", "a 0-1"]);
        assert_eq!((Cpus::of_the_node(&apart, 0, 2), Cpus::of_the_node(&apart, 1, 1)), (1, 8));
        assert_eq!(Cpus::of_the_node(&said(&[" 0-1", " 0-3"]), 0, 1), 2, "who knows its machine?");
        assert_eq!(
            (Cpus::of_the_node(&said(&[]), 0, 0), Cpus::of_the_node(&apart, 5, 1)),
            (0, 0),
            "it tells nothing"
        );
        assert_eq!(Cpus::of_the_node(&apart, 1, usize::MAX), usize::MAX);
        let seen = std::thread::available_parallelism().unwrap().get();
        let here = Cpus::here();
        assert!(here.list.len() >= seen);
        assert_eq!(codec::decode(&codec::encode(&here)), Ok(here));
        assert_eq!(codec::decode::<Cpus>(&codec::encode(&("a", "0-x"))), Err(Malformed));
    }
}
