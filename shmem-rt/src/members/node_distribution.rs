//! How the ranks of a team are distributed among its nodes.

use core::ops::Range;

/// The ranks of a team by node. Computed once for each team, for collectives.
#[derive(Debug)]
pub(crate) struct Layout {
    /// For each node, the number of members on the nodes before it. The last entry is the number of all members.
    before: Box<[u32]>,
    /// Ranks sorted by node; None if the ranks are in that order anyway.
    order: Option<Box<[u32]>>,
    /// Number of members on the largest node.
    pub(crate) most: usize,
    /// Largest power of two that divides the first rank of every node, if ranks are sorted by node. So a subtree of the reduction
    /// tree with this many leaves has them on one node.
    unit: usize,
}

impl Layout {
    pub(crate) fn new(nodes: usize, ranks: usize, node_of: impl Fn(usize) -> usize) -> Self {
        let mut before = vec![0_u32; nodes + 1];
        (0..ranks).for_each(|rank| before[node_of(rank) + 1] += 1);
        let most = before.iter().copied().max().unwrap_or_default() as usize;
        (0..nodes).for_each(|node| before[node + 1] += before[node]);
        let bits = before[..nodes].iter().fold(0, |bits, first| bits | first);
        let unit = if bits == 0 { ranks.next_power_of_two() } else { 1 << bits.trailing_zeros() };
        let order = (!(0..ranks).is_sorted_by_key(&node_of)).then(|| {
            let mut order: Box<[u32]> = (0..ranks as u32).collect();
            order.sort_by_key(|rank| node_of(*rank as usize));
            order
        });
        Self { before: before.into(), order, most, unit }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.before.len() - 1
    }

    pub(crate) fn members_of_all(&self) -> usize {
        self.before[self.nodes()] as usize
    }

    pub(crate) fn members(&self, node: usize) -> usize {
        (self.before[node + 1] - self.before[node]) as usize
    }

    /// Returns the number of members on `count` nodes: `node` and the nodes before it, counted cyclically.
    pub(crate) fn members_back(&self, node: usize, count: usize) -> usize {
        let [first, second] = self.ranks_back(node, count);
        first.len() + second.len()
    }

    /// Returns the number of lower ranks on `node`, the node of `rank`.
    pub(crate) fn slot(&self, rank: usize, node: usize) -> usize {
        match &self.order {
            Some(order) => order[self.ranks(node)].partition_point(|lower| (*lower as usize) < rank),
            None => rank - self.before[node] as usize,
        }
    }

    /// Whether ranks are sorted by node.
    pub(crate) fn is_in_order(&self) -> bool {
        self.order.is_none()
    }

    /// Returns the ranks of a node in ascending order.
    pub(crate) fn ranks_on(&self, node: usize) -> impl Iterator<Item = usize> {
        self.ranks(node).map(|place| match &self.order {
            Some(order) => order[place] as usize,
            None => place,
        })
    }

    /// Returns positions in the list of ranks sorted by node: those of the `count` nodes that end with `node`, counted cyclically.
    /// There are two ascending runs. If the nodes wrap around, the first run begins at position 0; otherwise it is empty.
    pub(crate) fn ranks_back(&self, node: usize, count: usize) -> [Range<usize>; 2] {
        debug_assert!(count <= self.nodes(), "{count} of {} nodes", self.nodes());
        let end = self.before[node + 1] as usize;
        match (node + 1).checked_sub(count) {
            Some(first) => [0..0, self.before[first] as usize..end],
            None => {
                let nodes = self.nodes();
                let (first, all) =
                    (self.before[nodes + node + 1 - count] as usize, self.before[nodes] as usize);
                // All nodes together form one run.
                if first == end { [0..0, 0..all] } else { [0..end, first..all] }
            }
        }
    }

    /// Returns the positions of a node's ranks in the list of ranks sorted by node. These are the ranks if `is_in_order`.
    pub(crate) fn ranks(&self, node: usize) -> Range<usize> {
        self.before[node] as usize..self.before[node + 1] as usize
    }

    /// Returns an upper limit on the number of partial results of a reduction over `nodes` consecutive nodes, for ranks sorted by
    /// node.
    pub(crate) fn most_values(&self, nodes: usize) -> usize {
        most_vertices((nodes * self.most).div_ceil(self.unit))
    }
}

/// Returns an upper limit on the number of partial results of a reduction over `nodes` consecutive nodes with `each` ranks.
pub(crate) fn most_values(nodes: usize, each: usize) -> usize {
    most_vertices((nodes * each) >> each.trailing_zeros())
}

/// Returns how many vertices of the reduction tree suffice to have any `leaves` consecutive leaves under them, and no others.
fn most_vertices(leaves: usize) -> usize {
    match leaves {
        0..=3 => leaves,
        _ => leaves.min(2 * leaves.ilog2() as usize + 2),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_values_are_enough_for_nodes_that_are_powers_of_two() {
        let of = |nodes, each| Layout::new(nodes, nodes * each, |rank| rank / each);
        assert_eq!([1, 2, 3].map(|nodes| of(1000, 64).most_values(nodes)), [1, 2, 3]);
        assert_eq!(of(2, 1).most_values(1), 1);
        assert_eq!(of(2, 7).most_values(1), 6);
    }

    proptest! {
        #[test]
        fn what_is_asked_is_what_a_walk_finds(
            sizes in proptest::collection::vec(1_usize..9, 1..20), shuffled: bool, seed: u64,
        ) {
            let mut of: Vec<usize> =
                sizes.iter().enumerate().flat_map(|(node, size)| vec![node; *size]).collect();
            if shuffled {
                let mut random = seed | 1;
                for k in (1..of.len()).rev() {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    of.swap(k, (random >> 33) as usize % (k + 1));
                }
            }
            let (nodes, ranks) = (sizes.len(), of.len());
            let layout = Layout::new(nodes, ranks, |rank| of[rank]);
            prop_assert_eq!(layout.is_in_order(), of.is_sorted());
            prop_assert_eq!(layout.most, *sizes.iter().max().unwrap());
            for rank in 0..ranks {
                let lower = of[..rank].iter().filter(|node| **node == of[rank]).count();
                prop_assert_eq!(layout.slot(rank, of[rank]), lower);
            }
            for (node, size) in sizes.iter().enumerate() {
                prop_assert_eq!(layout.members(node), *size);
                let here: Vec<usize> = (0..ranks).filter(|rank| of[*rank] == node).collect();
                prop_assert_eq!(layout.ranks_on(node).collect::<Vec<_>>(), here);
                for count in 0..=nodes {
                    let inside = |of: usize| (node + nodes - of) % nodes < count;
                    let members = of.iter().filter(|of| inside(**of)).count();
                    prop_assert_eq!(layout.members_back(node, count), members);
                    if layout.is_in_order() {
                        let runs = layout.ranks_back(node, count);
                        prop_assert!(runs[0].is_empty() || runs[0].end < runs[1].start);
                        for (rank, of) in of.iter().enumerate() {
                            prop_assert_eq!(runs.iter().any(|run| run.contains(&rank)), inside(*of));
                        }
                    }
                }
            }
        }
    }
}
