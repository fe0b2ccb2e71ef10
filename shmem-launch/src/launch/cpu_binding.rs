//! The CPUs of each PE ([`Bind`]).
//!
//! With [`Bind::Share`], the default of `SHMEM_BIND`, PEs have disjoint shares of the host's CPUs, so a waiting PE never takes CPU
//! time from the PE that it waits for. A share consists of whole NUMA nodes, or of CPUs of one node: whole cores if there are
//! enough. Shares are as equal as that permits.
//!
//! Only CPUs that the launcher may use are assigned, so limits set by `taskset` or a batch system stay in force.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;

use rustix::thread::CpuSet;
use shmem_core::memory::Machine;
use shmem_core::proc_sys::Root;
use shmem_core::topology::Topology;

use crate::cpus;
use crate::env::Bind;

impl Bind {
    /// Returns CPU sets, to which PEs are bound in turn, and a remark for the user. If there are no sets, PEs are not bound.
    pub(crate) fn binding(self, pes: usize) -> io::Result<(Vec<CpuSet>, Option<String>)> {
        // At most the control group's quota of CPU time, which may be below the group's number of CPUs.
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        if self == Self::None || self == Self::Share && (pes == 1 || pes > cores()) {
            return Ok(Default::default());
        }
        // Test whether this system supports binding, by binding this thread to its present CPUs.
        let allowed = cpus::allowed().and_then(|allowed| cpus::bind(&allowed).map(|()| allowed));
        let allowed = match allowed {
            Err(error) if self == Self::Share => {
                let remark = format!("PEs are not bound to CPUs, because this system refuses it: {error}");
                return Ok((Vec::new(), Some(remark)));
            }
            allowed => allowed?,
        };
        let topology = Machine::default().topology();
        let groups = groups(&allowed, &topology);
        let (sets, remark) = match self {
            Self::Numa => {
                let remark = "this system does not say which NUMA nodes it has: --bind numa takes it for one";
                (groups, topology.nodes().is_empty().then(|| remark.to_owned()))
            }
            Self::Share => (by_share(&groups, pes, core), None),
            _ => {
                let all = allowed.len();
                let remark =
                    format!("{pes} PEs share {all} CPUs: with --bind core some CPUs run several PEs");
                let mut sets = by_share(&groups, pes.min(all), core);
                sets.iter_mut().for_each(|set| set.truncate(1));
                (sets, (pes > all).then_some(remark))
            }
        };
        Ok((sets.iter().map(|cpus| cpus::set(cpus)).collect(), remark))
    }
}

/// Returns the CPUs of each PE. `groups` has the CPUs of each NUMA node, and must have at least as many CPUs as there are PEs.
fn by_share(groups: &[Vec<usize>], pes: usize, core: impl Fn(usize) -> usize) -> Vec<Vec<usize>> {
    if pes <= groups.len() {
        return parts(groups, pes);
    }
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let of_group = |(group, pes): (&Vec<usize>, usize)| {
        let mut cores: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        group.iter().for_each(|&cpu| cores.entry(core(cpu)).or_default().push(cpu));
        let cores: Vec<Vec<usize>> = cores.into_values().collect();
        if pes <= cores.len() {
            return parts(&cores, pes);
        }
        parts(&cores.concat().into_iter().map(|cpu| vec![cpu]).collect::<Vec<_>>(), pes)
    };
    groups.iter().zip(shares(&sizes, pes)).flat_map(of_group).collect()
}

/// Joins neighbouring lists, so that `parts` lists remain, each made of equally many lists, or of one more.
fn parts(lists: &[Vec<usize>], parts: usize) -> Vec<Vec<usize>> {
    let start = |part| lists.len() * part / parts;
    (0..parts).map(|part| lists[start(part)..start(part + 1)].concat()).collect()
}

/// Returns the number of a CPU's core: the lowest CPU number of the core's hardware threads.
fn core(cpu: usize) -> usize {
    let siblings = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    Root::default().list(&siblings).and_then(|siblings| siblings.first().copied()).unwrap_or(cpu)
}

/// Distributes PEs over groups of CPUs as evenly as possible, with at most one PE for each CPU. Returns each group's number of PEs.
fn shares(sizes: &[usize], pes: usize) -> Vec<usize> {
    let mut shares = vec![0; sizes.len()];
    for _ in 0..pes {
        let with_room = (0..sizes.len()).filter(|&group| shares[group] < sizes[group]);
        if let Some(group) = with_room.min_by_key(|&group| shares[group]) {
            shares[group] += 1;
        }
    }
    shares
}

/// Returns the allowed CPUs by NUMA node. CPUs whose node is unknown come last.
fn groups(allowed: &[usize], topology: &Topology) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut left = allowed.to_vec();
    for node in topology.nodes() {
        let (here, elsewhere): (Vec<_>, Vec<_>) = left.into_iter().partition(|cpu| node.cpus.contains(cpu));
        left = elsewhere;
        if !here.is_empty() {
            groups.entry(node.number).or_default().extend(here);
        }
    }
    groups.into_values().chain((!left.is_empty()).then_some(left)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shmem_core::topology::NumaNode;

    use super::*;

    #[test]
    fn shares_are_apart_take_whole_cores_and_are_next_to_one_memory() {
        // Four cores of two threads; as many threads without siblings; and four nodes of two.
        let (threads, four) =
            (vec![(0..8).collect::<Vec<_>>()], vec![vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]]);
        let of_core: fn(usize) -> usize = |cpu| cpu % 4;
        for (groups, core, pes, sets) in [
            (&threads, of_core, 2, vec![vec![0, 4, 1, 5], vec![2, 6, 3, 7]]),
            (&threads, of_core, 3, vec![vec![0, 4], vec![1, 5], vec![2, 6, 3, 7]]),
            (&threads, of_core, 8, [0, 4, 1, 5, 2, 6, 3, 7].map(|cpu| vec![cpu]).to_vec()),
            (&threads, |cpu| cpu, 3, vec![vec![0, 1], vec![2, 3, 4], vec![5, 6, 7]]),
            (&four, |cpu| cpu, 2, vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]]),
            (&four, |cpu| cpu, 3, vec![vec![0, 1], vec![2, 3], vec![4, 5, 6, 7]]),
            (&four, |cpu| cpu, 4, four.clone()),
            (&four, |cpu| cpu, 5, vec![vec![0], vec![1], vec![2, 3], vec![4, 5], vec![6, 7]]),
        ] {
            assert_eq!(by_share(groups, pes, core), sets);
        }
    }

    #[test]
    fn cpus_are_cut_to_the_allowed_ones() {
        let node =
            |number, cpus: std::ops::Range<usize>| NumaNode { cpus: cpus.collect(), ..NumaNode::new(number) };
        let machine = Topology::of(vec![node(0, 0..4), node(1, 4..8), node(2, 0..0)], Vec::new(), None);
        assert_eq!(groups(&[2, 3, 4], &machine), [vec![2, 3], vec![4]]);
        assert_eq!(groups(&[5, 6], &machine), [[5, 6]]);
        assert_eq!(groups(&[2, 9], &machine), [[2], [9]], "a CPU of no node");
        assert_eq!(groups(&[2], &Topology::default()), [[2]]);
    }

    proptest! {
        #[test]
        fn every_cpu_is_in_one_share(sizes in proptest::collection::vec(1..9usize, 1..6), pes: prop::sample::Index, threads in 1..3usize) {
            let all: usize = sizes.iter().sum();
            let mut cpus = 0..all;
            let groups: Vec<Vec<usize>> = sizes.iter().map(|&size| cpus.by_ref().take(size).collect()).collect();
            let pes = pes.index(all) + 1;
            let sets = by_share(&groups, pes, |cpu| cpu / threads);
            prop_assert_eq!(sets.len(), pes);
            prop_assert!(sets.iter().all(|set| !set.is_empty()));
            let mut used = sets.concat();
            used.sort_unstable();
            prop_assert_eq!(used, (0..all).collect::<Vec<_>>());
        }
    }
}
