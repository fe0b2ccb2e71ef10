//! Jobs, as far as formulas need them.

use core::ops::Range;

use shmem_core::system::{DESK_BYTES, MIRROR_BYTES, SCRATCH_BYTES};

use crate::collective::choose;
use crate::model::Model;

/// Contributions end at multiples of it.
const GRAIN: usize = 16;

/// A job: nodes that have the same number of PEs, which have their numbers node by node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of nodes.
    pub nodes: usize,
    /// PEs on each.
    pub per_node: usize,
}

impl Shape {
    /// Number of PEs.
    pub fn pes(self) -> usize {
        self.nodes * self.per_node
    }

    /// What the choice of a way depends on.
    pub(super) fn choice(self, model: &Model) -> choose::Shape {
        let (members, nodes) = (self.pes(), self.nodes);
        choose::Shape {
            members,
            nodes,
            in_order: true,
            shares_cores: false,
            has_windows: nodes > 1,
            model: *model,
        }
    }

    /// Rounds of a census of the nodes.
    pub fn rounds(self) -> usize {
        self.nodes.next_power_of_two().trailing_zeros() as usize
    }

    /// How many nodes further on a message of each round goes: it brings what as many nodes have. Whether the sender is one
    /// of these.
    pub(super) fn census(self) -> impl Iterator<Item = (usize, bool)> {
        let rounds = self.rounds();
        // Rounding up, the bits of the number of other nodes, from the highest.
        (1..=rounds).map(move |round| {
            (self.nodes.div_ceil(1 << (rounds - round)) / 2, (self.nodes - 1) >> (rounds - round) & 1 == 1)
        })
    }

    /// Bytes of one member at a meeting.
    pub(super) fn room(self) -> usize {
        if self.per_node == 1 { MIRROR_BYTES } else { SCRATCH_BYTES }
    }

    /// Bytes of a member, and members, that are brought at one meeting.
    pub(super) fn at_once(self) -> (usize, usize) {
        match self.pes() {
            _ if self.nodes == 1 => (SCRATCH_BYTES, self.pes()),
            pes if pes <= MIRROR_BYTES / GRAIN => (self.room().min(MIRROR_BYTES / pes / GRAIN * GRAIN), pes),
            _ => (GRAIN, MIRROR_BYTES / GRAIN),
        }
    }

    /// The ranks of so many nodes back from one; there may be some at both ends.
    pub(super) fn ranks_back(self, node: usize, count: usize) -> [Range<usize>; 2] {
        let ranks = |nodes: Range<usize>| nodes.start * self.per_node..nodes.end * self.per_node;
        match (node + 1).checked_sub(count) {
            Some(first) => [0..0, ranks(first..node + 1)],
            None => [ranks(0..node + 1), ranks(self.nodes + node + 1 - count..self.nodes)],
        }
    }

    /// How many vertices of the tree over all ranks make up some of them: the largest that lie in them.
    pub(super) fn cover(self, set: &[Range<usize>; 2]) -> usize {
        fn below(set: &[Range<usize>; 2], vertex: Range<usize>, pes: usize) -> usize {
            let ranks = vertex.start..vertex.end.min(pes);
            let is_in = |run: &Range<usize>| run.start <= ranks.start && ranks.end <= run.end;
            let touches = |run: &Range<usize>| run.start < ranks.end && ranks.start < run.end;
            if ranks.is_empty() || !set.iter().any(touches) {
                return 0;
            }
            if set.iter().any(is_in) {
                return 1;
            }
            let middle = vertex.start.midpoint(vertex.end);
            below(set, vertex.start..middle, pes) + below(set, middle..vertex.end, pes)
        }
        below(set, 0..self.pes().next_power_of_two(), self.pes())
    }

    /// Most vertices for so many nodes in a row that room is kept for.
    fn most_values(self, nodes: usize) -> usize {
        let units = (nodes * self.per_node) >> self.per_node.trailing_zeros();
        if units < 4 { units } else { units.min(2 * units.ilog2() as usize + 2) }
    }

    /// Bytes of a member of which sums are brought at one meeting; whether that is a scan.
    pub(super) fn summed_at_once(self, exact: bool, scans: bool) -> usize {
        let values = |nodes: usize| if exact { 1 } else { self.most_values(nodes) };
        let arriving: usize = self.census().map(|(distance, _)| values(distance)).sum();
        let own = if self.per_node == 1 && !scans { 0 } else { values(1) };
        let made = own + if self.rounds() > 1 { 4 } else { 1 } * values(self.nodes - 1);
        let most = (MIRROR_BYTES / arriving).min(DESK_BYTES / made) / GRAIN * GRAIN;
        most.min(if scans { SCRATCH_BYTES } else { self.room() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_the_logarithm_of_the_nodes() {
        let rounds = |nodes| Shape { nodes, per_node: 3 }.rounds();
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(rounds), [0, 1, 2, 2, 3, 3, 4]);
    }
}
