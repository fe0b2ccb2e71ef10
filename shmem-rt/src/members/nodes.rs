//! On which node members are.

use std::collections::HashMap;

/// The nodes of members in an order. Nodes are numbered from 0 in the order in which they come there.
#[derive(Debug)]
pub(super) struct Nodes {
    /// The rank of the first member of each; they grow.
    firsts: Box<[u32]>,
    spread: Spread,
}

/// How the other members follow the first ones.
#[derive(Debug)]
enum Spread {
    /// Each is on the node of the one before, or the first of another.
    Blocks,
    /// One on each node, then again.
    Cyclic,
    /// The node of each, by what else is known of a member: its key.
    Mixed(Box<[u32]>),
}

/// The node of what nobody is on.
const NOBODY: u32 = u32::MAX;

impl Nodes {
    /// Those of members that are on `places`, of which there are `count`: a number for each, the same for those that share
    /// memory. Where no rule is found, a place is the key.
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

    /// Those of members in the order of `hosts`, whatever numbers these are. Where no rule is found, the rank is the key.
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
