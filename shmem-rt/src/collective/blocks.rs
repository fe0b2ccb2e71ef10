//! Blocks: contributions that all nodes receive unchanged.

use shmem_core::system::{MIRROR_BYTES, SCRATCH_BYTES};

use super::layout::Layout;
use super::payload::{GRAIN, Message, Payload};
use super::rooms::{address, mirror, scratch};
use super::schedule::Round;
use crate::group::{Collective, Team};

/// The contributions of all members, for all nodes. A mirror holds the block of its own node first, then that of the node
/// before it, and so on: so what a round sends lies together, and comes to lie together.
pub(super) struct Blocks<'c> {
    half: usize,
    layout: &'c Layout,
    shares: Shares,
    /// The node of the one that contributes, if no other does.
    root: usize,
}

/// How many bytes each member contributes: the same on all of them.
pub(super) enum Shares {
    /// One does, and no other.
    Of {
        /// The rank of that one.
        rank: usize,
        /// How many.
        bytes: usize,
    },
    /// All do, as many.
    Equal(usize),
    /// By rank, and, worked out of that, by node, and before each on its node.
    Each {
        /// Those of each rank.
        bytes: Vec<usize>,
        /// Those of each node.
        of_nodes: Vec<usize>,
        /// Those of lower ranks on the node of each.
        before: Vec<usize>,
    },
}

impl Shares {
    /// So many of each rank.
    pub(super) fn each(team: &Team, bytes_of: impl Fn(usize) -> usize) -> Self {
        let bytes: Vec<usize> = (0..team.size()).map(bytes_of).collect();
        let mut of_nodes = vec![0; team.node_count()];
        let place = |(rank, bytes): (usize, &usize)| {
            let end = &mut of_nodes[team.node_of(rank)];
            *end += bytes;
            *end - bytes
        };
        let before = bytes.iter().enumerate().map(place).collect();
        Self::Each { bytes, of_nodes, before }
    }
}

impl<'c> Blocks<'c> {
    /// For the meeting with a number.
    pub(super) fn new(team: &'c Team, meeting: u64, shares: Shares) -> Self {
        let root = if let Shares::Of { rank, .. } = shares { team.node_of(rank) } else { 0 };
        let blocks = Self { half: (meeting % 2) as usize, ..Self::of(Layout::of(team), shares, root) };
        let all = blocks.back(team.node(), team.node_count());
        assert!(all <= MIRROR_BYTES, "contributions of {all} bytes in a mirror of {MIRROR_BYTES}");
        blocks
    }

    /// Those of members that lie so among nodes; if one contributes alone, it is on `root`.
    pub(super) fn of(layout: &'c Layout, shares: Shares, root: usize) -> Self {
        Self { half: 0, layout, shares, root }
    }

    /// Bytes that a node sends in a round.
    pub(super) fn sent(&self, node: usize, round: Round) -> usize {
        // The own block stands before those that came.
        let start = if round.with_own { 0 } else { self.back(node, 1) };
        self.back(node, round.known() + 1) - start
    }

    /// Where the contribution of a rank lies, on the first member of this node.
    pub(super) fn offset(&self, team: &Team, rank: usize) -> usize {
        let (nodes, from) = (team.node_count(), team.node_of(rank));
        let block = self.back(team.node(), (team.node() + nodes - from) % nodes);
        let within = match &self.shares {
            Shares::Of { .. } => 0,
            Shares::Equal(bytes) => bytes * self.layout.slot(rank, from),
            Shares::Each { before, .. } => before[rank],
        };
        mirror(team, self.half) + block + within
    }

    /// Where the mirror ends in which all contributions lie.
    pub(super) fn end(&self, team: &Team) -> usize {
        mirror(team, self.half) + MIRROR_BYTES
    }

    /// Bytes of the blocks of a node and those before it, so many together.
    fn back(&self, node: usize, count: usize) -> usize {
        let nodes = self.layout.nodes();
        match &self.shares {
            Shares::Of { bytes, .. } => {
                let is_among = (node + nodes - self.root) % nodes < count;
                if is_among { *bytes } else { 0 }
            }
            Shares::Equal(bytes) => bytes * self.layout.members_back(node, count),
            Shares::Each { of_nodes, .. } => (0..count).map(|k| of_nodes[(node + nodes - k) % nodes]).sum(),
        }
    }

    /// Puts the contribution of a member of this node into its block.
    fn put(&self, collective: &Collective<'_>, rank: usize, bytes: usize) {
        let Collective { team, endpoint, .. } = *collective;
        let from = endpoint.mapped(team.member(rank), scratch(team, self.half));
        let from = from.unwrap_or_else(|| unreachable!("it is on this node"));
        let to = address(team, endpoint, self.offset(team, rank));
        assert!(bytes <= SCRATCH_BYTES, "{bytes} bytes in a room of {SCRATCH_BYTES}");
        // SAFETY: `new` found room for all; the owner has contributed as many bytes, and writes there
        // again after the next meeting. Only who acts for the node writes its block.
        unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) };
    }
}

impl Payload for Blocks<'_> {
    fn prepare(&mut self, collective: &Collective<'_>) {
        let team = collective.team;
        if is_alone(team) {
            // It has contributed there already.
            return;
        }
        let here = self.layout.ranks_on(team.node());
        match &self.shares {
            Shares::Of { rank, bytes } if self.root == team.node() => {
                self.put(collective, *rank, *bytes);
            }
            Shares::Of { .. } => {}
            Shares::Equal(bytes) => here.for_each(|rank| self.put(collective, rank, *bytes)),
            Shares::Each { bytes, .. } => here.for_each(|rank| self.put(collective, rank, bytes[rank])),
        }
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let Collective { team, endpoint, .. } = *collective;
        let (node, nodes) = (team.node(), team.node_count());
        let start = if round.with_own { 0 } else { self.back(node, 1) };
        let (bytes, mirror) = (self.sent(node, round), mirror(team, self.half));
        let to = self.back((node + round.distance) % nodes, round.distance + usize::from(!round.with_own));
        Message { source: address(team, endpoint, mirror + start), bytes, to: mirror + to }
    }
}

/// Whether each node has one member: then that is the first one, and contributes where others would be brought together.
pub(super) fn is_alone(team: &Team) -> bool {
    team.size() == team.node_count()
}

/// How many bytes one member can contribute at a meeting.
pub(super) fn room_of_one(team: &Team) -> usize {
    room_of_the_root(team.size(), team.node_count())
}

/// The same of so many members on so many nodes.
pub(super) fn room_of_the_root(members: usize, nodes: usize) -> usize {
    if nodes > 1 && nodes == members { MIRROR_BYTES } else { SCRATCH_BYTES }
}

/// How many bytes of each member fit one step, and how many members: all of them, unless there are very many.
pub(super) fn room_of_each(team: &Team) -> (usize, usize) {
    room_of_all(team.size(), team.node_count())
}

/// The same of so many members on so many nodes.
pub(super) fn room_of_all(members: usize, nodes: usize) -> (usize, usize) {
    let most = if nodes == members { MIRROR_BYTES } else { SCRATCH_BYTES };
    if nodes == 1 {
        (SCRATCH_BYTES, members)
    } else if members <= MIRROR_BYTES / GRAIN {
        (most.min(MIRROR_BYTES / members / GRAIN * GRAIN), members)
    } else {
        (GRAIN, MIRROR_BYTES / GRAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_the_mirror_however_many_members_there_are() {
        for members in [2, 3, 64, 2047, 2048, 2049, 4096, 4097, 100_000, 1 << 31] {
            for nodes in [2, members] {
                let (bytes, at_once) = room_of_all(members, nodes);
                assert!(bytes >= GRAIN && bytes.is_multiple_of(GRAIN) && at_once <= members, "{members}");
                assert!(nodes == members || bytes <= SCRATCH_BYTES, "{members}");
                assert!(bytes * at_once <= MIRROR_BYTES, "{members}");
                // The most that is to be had: a grain more of each would not fit, or a member more.
                let is_full = bytes == SCRATCH_BYTES || (bytes + GRAIN) * at_once > MIRROR_BYTES;
                assert!(is_full && (at_once == members || bytes * (at_once + 1) > MIRROR_BYTES), "{members}");
            }
        }
        assert_eq!(room_of_all(5000, 1), (SCRATCH_BYTES, 5000), "memory of one node is read where it lies");
    }
}
