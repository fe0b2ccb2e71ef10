//! Maps the members of a team or of a job to nodes.

use std::collections::HashMap;

/// The nodes of members, numbered from 0 in the order of their first members.
#[derive(Debug)]
pub(super) struct Nodes {
    /// Rank of the first member of each node, ascending.
    firsts: Box<[u32]>,
    spread: Spread,
}

/// The rule that maps a member to its node.
#[derive(Debug)]
enum Spread {
    Blocks,
    /// Rank `r` is on node `r % nodes`.
    Cyclic,
    /// The node of each place, if [`of_places`](Nodes::of_places) made it, or of each rank ([`of_hosts`](Nodes::of_hosts)).
    Mixed(Box<[u32]>),
}

/// Entry of a place (a host, or a node of the job) that has no members.
const NOBODY: u32 = u32::MAX;

impl Nodes {
    /// Finds the nodes of members. Members with equal places (below `count`) share memory. Queries pass a place as key.
    pub(super) fn of_places(places: impl Iterator<Item = usize> + Clone, count: usize) -> Self {
        let mut of = vec![NOBODY; count];
        let (mut firsts, mut is_blocks) = (Vec::new(), true);
        for (rank, place) in places.clone().enumerate() {
            if of[place] == NOBODY {
                of[place] = firsts.len() as u32;
                firsts.push(rank as u32);
            }
            is_blocks &= of[place] as usize == firsts.len() - 1;
        }
        let turn = |rank| rank % firsts.len();
        let spread = if is_blocks {
            Spread::Blocks
        } else if places.enumerate().all(|(rank, place)| of[place] as usize == turn(rank)) {
            Spread::Cyclic
        } else {
            Spread::Mixed(of.into())
        };
        Self { firsts: firsts.into(), spread }
    }

    /// Finds the nodes of members by the host number of each, which may be any number. Queries pass a rank as key.
    pub(super) fn of_hosts(hosts: &[u32]) -> Self {
        let mut seen = HashMap::new();
        let mut places = Vec::with_capacity(hosts.len());
        for host in hosts {
            let next = seen.len() as u32;
            places.push(*seen.entry(*host).or_insert(next));
        }
        let mut nodes = Self::of_places(places.iter().map(|place| *place as usize), seen.len());
        if let Spread::Mixed(of) = &mut nodes.spread {
            *of = places.into();
        }
        nodes
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.firsts.len()
    }

    #[inline]
    pub(super) fn first(&self, node: usize) -> usize {
        self.firsts[node] as usize
    }

    #[inline]
    pub(super) fn find(&self, rank: usize, key: impl FnOnce() -> usize) -> usize {
        match &self.spread {
            Spread::Blocks => self.firsts.partition_point(|first| *first as usize <= rank) - 1,
            Spread::Cyclic => rank % self.firsts.len(),
            Spread::Mixed(of) => of[key()] as usize,
        }
    }
}
