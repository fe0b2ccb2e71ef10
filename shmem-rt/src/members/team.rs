//! All PEs of a job, and the members of a team.

use std::borrow::Cow;
use std::sync::Arc;

use shmem_core::memory::PeList;
use shmem_core::pe::Pe;

use super::nodes::Nodes;
use super::ranks::Ranks;

/// All PEs of a job, by number, and their nodes.
#[derive(Debug)]
pub(crate) struct Directory {
    pes: PeList,
    nodes: Nodes,
}

impl Directory {
    /// Makes the directory of all PEs in the order of their numbers. PEs with equal `hosts` share memory.
    pub(crate) fn new(pes: PeList, hosts: &[u32]) -> Self {
        Self { pes, nodes: Nodes::of_hosts(hosts) }
    }

    #[inline]
    pub(crate) fn pes(&self) -> &[Pe] {
        &self.pes
    }

    fn node_count(&self) -> usize {
        self.nodes.count()
    }

    #[inline]
    fn node_of(&self, number: usize) -> usize {
        self.nodes.find(number, || number)
    }
}

/// The members of a team, by rank and by node.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) directory: Arc<Directory>,
    ranks: Ranks,
    /// The members' nodes. Queries pass the number of a member's node in the job as key.
    nodes: Nodes,
}

impl Members {
    /// Returns all PEs, with their numbers as ranks.
    pub(crate) fn all(directory: Arc<Directory>) -> Self {
        let ranks = Ranks::all(directory.pes().len());
        Self::new(directory, ranks)
    }

    /// Returns the members with the given ranks of `team`, at least one and all different. Their order gives the new ranks.
    pub(crate) fn of(team: &Self, ranks: impl IntoIterator<Item = usize>) -> Self {
        let numbers = ranks.into_iter().map(|rank| team.member(rank).number() as u32).collect();
        Self::new(Arc::clone(&team.directory), Ranks::of(numbers))
    }

    fn new(directory: Arc<Directory>, ranks: Ranks) -> Self {
        let number = |rank| ranks.number(rank).unwrap_or_else(|| unreachable!("it is below their number"));
        let places = (0..ranks.size()).map(|rank| directory.node_of(number(rank)));
        let nodes = Nodes::of_places(places, directory.node_count());
        Self { directory, ranks, nodes }
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.ranks.size()
    }

    #[inline]
    pub(crate) fn get(&self, rank: usize) -> Option<&Pe> {
        self.ranks.number(rank).and_then(|number| self.directory.pes().get(number))
    }

    #[inline]
    #[track_caller]
    pub(crate) fn member(&self, rank: usize) -> Pe {
        match self.get(rank) {
            Some(pe) => *pe,
            None => panic!("no member has rank {rank}: there are {}", self.size()),
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Pe> + Clone {
        (0..self.size()).filter_map(|rank| self.get(rank))
    }

    #[inline]
    pub(crate) fn rank_of(&self, number: usize) -> Option<usize> {
        self.ranks.find(number)
    }

    /// Returns all members by rank, borrowed from the job's list if their numbers are consecutive.
    pub(crate) fn list(&self) -> Cow<'_, [Pe]> {
        match self.ranks.range().and_then(|range| self.directory.pes().get(range)) {
            Some(pes) => Cow::Borrowed(pes),
            None => self.iter().copied().collect(),
        }
    }

    #[inline]
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.count()
    }

    #[inline]
    pub(crate) fn node_of(&self, rank: usize) -> usize {
        self.nodes.find(rank, || self.directory.node_of(self.member(rank).number()))
    }

    #[inline]
    pub(crate) fn first_of(&self, node: usize) -> usize {
        self.nodes.first(node)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    use super::*;

    /// The hosts of PEs: in blocks, in turn, or in any order.
    fn hosts() -> impl Strategy<Value = Vec<u32>> {
        let blocks = vec(1..6_usize, 1..9).prop_map(|sizes| {
            let hosts = sizes.iter().enumerate();
            hosts.flat_map(|(host, size)| std::iter::repeat_n(7 * host as u32, *size)).collect()
        });
        let cyclic =
            (1..9_u32, 1..40_u32).prop_map(|(count, size)| (0..size).map(|k| 90 - k % count).collect());
        prop_oneof![blocks, cyclic, vec(0..5_u32, 1..40)]
    }

    /// Different ranks below `count`: in any order, growing, or in a stride.
    fn ranks(count: usize) -> impl Strategy<Value = Vec<usize>> {
        let growing = subsequence((0..count).collect::<Vec<_>>(), 1..=count);
        let strided = (0..count, 1..=count, any::<bool>()).prop_map(move |(start, step, turned)| {
            let mut ranks: Vec<usize> = (start..count).step_by(step).collect();
            if turned {
                ranks.reverse();
            }
            ranks
        });
        prop_oneof![growing.clone().prop_shuffle(), growing, strided]
    }

    proptest! {
        /// A team of a team, on any hosts, against lists.
        #[test]
        fn members_are_those_of_lists(
            (hosts, first, second) in hosts().prop_flat_map(|hosts| {
                let count = hosts.len();
                (Just(hosts), ranks(count)).prop_flat_map(|(hosts, first)| {
                    let count = first.len();
                    (Just(hosts), Just(first), ranks(count))
                })
            }),
        ) {
            // SAFETY: nothing is issued to them.
            let pes = (0..hosts.len() as u32).map(|number| unsafe { Pe::new(number, Pe::OFF_NODE) }).collect();
            let all = Members::all(Arc::new(Directory::new(PeList::new(pes), &hosts)));
            let one = Members::of(&all, first.iter().copied());
            let two = Members::of(&one, second.iter().copied());
            let of_two: Vec<usize> = second.iter().map(|rank| first[*rank]).collect();
            for (members, list) in [(all, (0..hosts.len()).collect()), (one, first), (two, of_two)] {
                let numbers = |pes: Vec<&Pe>| pes.into_iter().map(|pe| pe.number()).collect::<Vec<_>>();
                prop_assert_eq!(numbers(members.iter().collect()), list.clone());
                prop_assert_eq!(numbers(members.list().iter().collect()), list.clone());
                prop_assert_eq!(members.size(), list.len());
                for number in 0..hosts.len() + 2 {
                    let rank = list.iter().position(|other| *other == number);
                    prop_assert_eq!(members.rank_of(number), rank);
                }
                let mut seen: Vec<u32> = Vec::new();
                for (rank, number) in list.iter().enumerate() {
                    let host = hosts[*number];
                    if !seen.contains(&host) {
                        prop_assert_eq!(members.first_of(seen.len()), rank);
                        seen.push(host);
                    }
                    let node = seen.iter().position(|known| *known == host);
                    prop_assert_eq!(Some(members.node_of(rank)), node);
                }
                prop_assert_eq!(members.node_count(), seen.len());
                prop_assert!((list.len()..list.len() + 2).all(|rank| members.get(rank).is_none()));
            }
        }
    }
}
