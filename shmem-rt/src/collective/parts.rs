//! Parts: contributions with one receiver each, sent straight to its node (spread-out alltoall).

use core::ops::Range;

use shmem_core::system::{DESK_BYTES, MIRROR_BYTES, SCRATCH_BYTES};

use super::blocks::is_alone;
use super::buffer::{RecvBuf, SendBuf};
use super::layout::Layout;
use super::payload::Message;
use super::rooms::{address, desk, mirror, scratch};
use crate::group::{Collective, Team};

/// What members have for members of other nodes, for those at certain distances from node to node. One message from
/// each node to each of these brings it: for each member of the sender's, in the order of
/// ranks, parts for all members of the receiver's. A mirror holds that of the node before it first. Where they go to all
/// nodes, these messages are the meeting; otherwise there are the rounds of one besides.
pub(super) struct Parts<'c> {
    half: usize,
    layout: &'c Layout,
    portion: Portion,
    /// What the only member of a node has for all ranks, a stride for each, where it need not contribute first.
    alone: Option<(SendBuf<'c>, usize)>,
}

/// What is brought at one meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portion {
    /// Distances from node to node: the first, and how many.
    pub(super) nodes: (usize, usize),
    /// Of the members of each receiving node, in the order of ranks: the first, and how many, as far as there are any.
    pub(super) slots: (usize, usize),
    /// Bytes of each part: the first, and how many.
    pub(super) bytes: (usize, usize),
}

impl Portion {
    /// Those that parts of so many bytes go in, all of them together.
    pub(super) fn all(team: &Team, part: usize) -> impl Iterator<Item = Self> + use<> {
        let layout = Layout::of(team);
        Self::all_of(layout.nodes(), layout.most(), part)
    }

    /// Those of a team with so many nodes, of which the largest has so many members.
    pub(super) fn all_of(nodes: usize, most: usize, part: usize) -> impl Iterator<Item = Self> + use<> {
        // Bytes that a member contributes, and that come to a node, for `nodes` distances and `slots` receivers of each.
        let fits = |nodes: usize, slots: usize, bytes: usize| {
            let contributed = nodes.saturating_mul(slots).saturating_mul(bytes);
            let arriving = contributed.saturating_mul(most);
            arriving <= MIRROR_BYTES.min(DESK_BYTES) && (most == 1 || contributed <= SCRATCH_BYTES)
        };
        let largest = |most: usize, fits: &dyn Fn(usize) -> bool| {
            let (mut yes, mut no) = (1, most + 1);
            while no - yes > 1 {
                let middle = yes.midpoint(no);
                if fits(middle) { yes = middle } else { no = middle }
            }
            yes
        };
        // As many bytes as there can be, of these as many receivers, of these as many nodes. Of members of one node,
        // which read each other's contributions, there is something at distance 0.
        let first = usize::from(most == 1);
        let bytes = largest(part.max(1), &|bytes| fits(1, 1, bytes));
        let slots = largest(most, &|slots| fits(1, slots, bytes));
        let width = if slots < most { 1 } else { largest(nodes - first, &|nodes| fits(nodes, slots, bytes)) };
        (first..nodes).step_by(width).flat_map(move |node| {
            (0..most).step_by(slots).flat_map(move |slot| {
                let pieces = (0..part.max(1)).step_by(bytes);
                pieces.map(move |from| Self {
                    nodes: (node, width.min(nodes - node)),
                    slots: (slot, slots),
                    bytes: (from, bytes.min(part - from.min(part))),
                })
            })
        })
    }

    /// Bytes that a member contributes for each other node.
    fn room(&self) -> usize {
        self.slots.1 * self.bytes.1
    }

    /// How many members of a node receive something.
    pub(super) fn receivers(&self, layout: &Layout, node: usize) -> usize {
        layout.members(node).saturating_sub(self.slots.0).min(self.slots.1)
    }

    /// The distances of other nodes.
    pub(super) fn distances(&self) -> Range<usize> {
        let (first, width) = self.nodes;
        first.max(1)..(first + width).max(1)
    }
}

impl<'c> Parts<'c> {
    /// A portion for the meeting with a number, of what the calling PE has for all ranks, if it is alone on its node.
    pub(super) fn new(team: &'c Team, meeting: u64, portion: Portion, source: SendBuf<'c>) -> Self {
        let alone = is_alone(team).then(|| (source, source.len() / team.size()));
        Self { half: (meeting % 2) as usize, layout: Layout::of(team), portion, alone }
    }

    /// Contributes what there is of the portion, `source` being parts for all ranks, where several members of a node do.
    pub(super) fn contribute(&self, collective: &Collective<'_>, source: SendBuf<'_>) {
        if self.alone.is_some() {
            return;
        }
        let Collective { team, endpoint, .. } = *collective;
        let (part, Portion { bytes: (from, bytes), .. }) = (source.len() / team.size(), self.portion);
        for (rank, at) in self.receivers(team) {
            let to = endpoint.mine(scratch(team, self.half) + at);
            assert!(at + bytes <= SCRATCH_BYTES, "{bytes} bytes at {at} in a room of {SCRATCH_BYTES}");
            // SAFETY: the room has that many bytes, as just checked, of which any are a value, and nobody reads it now: its last readers
            // have since met this PE, at the barrier before this one, whatever each has come for. No other thread of this PE is in a
            // collective of the team (`Team::enter`).
            let room = unsafe { core::slice::from_raw_parts_mut(to, bytes) };
            source.read(rank * part + from, room);
        }
    }

    /// How far from a node those are to which it sends.
    pub(super) fn distances(&self) -> Range<usize> {
        self.portion.distances()
    }

    /// What goes so many nodes further on, for whoever acts for the node: all of its members have contributed.
    pub(super) fn message(&self, collective: &Collective<'_>, distance: usize) -> Message {
        let Collective { team, endpoint, .. } = *collective;
        let (nodes, portion) = (team.node_count(), &self.portion);
        let there = (team.node() + distance) % nodes;
        let taken = self.taken(there);
        if taken == 0 || portion.bytes.1 == 0 {
            return Message::EMPTY;
        }
        let to = mirror(team, self.half) + self.offset(there, distance);
        if let Some((source, part)) = self.alone {
            let rank = self.only_rank(team, there);
            let bytes = portion.bytes.1;
            return Message { source: source.at(rank * part + portion.bytes.0, bytes), bytes, to };
        }
        let at = (distance - portion.nodes.0) * portion.room();
        let (each, near) = (taken * portion.bytes.1, team.neighbours());
        assert!(near.len() * each <= DESK_BYTES, "{} parts of {each} bytes", near.len());
        for (k, member) in near.iter().enumerate() {
            let from = endpoint.mapped(*member, scratch(team, self.half) + at);
            let from = from.unwrap_or_else(|| unreachable!("it is on this node"));
            let into = address(team, endpoint, desk(team) + k * each);
            // SAFETY: the owner has contributed as many bytes there, and writes there again after the next meeting; the
            // desk has room for them, as just checked, and only who acts for the node works at it.
            unsafe { core::ptr::copy_nonoverlapping(from, into, each) };
        }
        Message { source: address(team, endpoint, desk(team)), bytes: near.len() * each, to }
    }

    /// Reads what there is for the calling PE, after the meeting: each to where it belongs in parts of all ranks.
    pub(super) fn read(&self, collective: &Collective<'_>, into: &mut RecvBuf<'_>) {
        let Collective { team, endpoint, .. } = *collective;
        let Portion { nodes: (first, width), slots: (slot, _), bytes: (from, bytes) } = self.portion;
        let (part, nodes) = (into.len() / team.size(), team.node_count());
        let mine = self.layout.slot(team.rank(), team.node());
        let Some(which) = mine.checked_sub(slot).filter(|which| *which < self.taken(team.node())) else {
            return;
        };
        let taken = self.taken(team.node());
        for distance in first..first + width {
            let there = (team.node() + nodes - distance) % nodes;
            for rank in self.layout.ranks_on(there) {
                let place = match distance {
                    0 => endpoint.mapped(team.member(rank), scratch(team, self.half) + which * bytes),
                    _ => {
                        let block = self.offset(team.node(), distance);
                        let at = block + (self.layout.slot(rank, there) * taken + which) * bytes;
                        Some(address(team, endpoint, mirror(team, self.half) + at).cast_const().cast_mut())
                    }
                };
                let place = place.unwrap_or_else(|| unreachable!("it is on this node"));
                // SAFETY: so many bytes have come with the barrier, or were contributed before it, and what comes there next comes at the
                // next barrier but one.
                into.write(rank * part + from, unsafe { core::slice::from_raw_parts(place, bytes) });
            }
        }
    }

    /// How many members of a node receive something.
    fn taken(&self, node: usize) -> usize {
        self.portion.receivers(self.layout, node)
    }

    /// Where in a node's mirror what comes from so far before it lies.
    fn offset(&self, node: usize, distance: usize) -> usize {
        let nodes = self.layout.nodes();
        let first = self.portion.nodes.0.max(1);
        let between = distance - first;
        // Members of the nodes from `first` before it on to the one before that.
        let members = self.layout.members_back((node + nodes - first) % nodes, between);
        members * self.taken(node) * self.portion.bytes.1
    }

    /// The rank of the only member of a node.
    fn only_rank(&self, team: &Team, node: usize) -> usize {
        // Nodes are in the order of their first ranks.
        debug_assert!(team.node_of(node) == node, "each node has one member");
        node
    }

    /// The ranks that parts are contributed for, and where.
    fn receivers(&self, team: &Team) -> impl Iterator<Item = (usize, usize)> {
        let Portion { nodes: (first, width), slots: (slot, _), bytes: (_, bytes) } = self.portion;
        let (nodes, room) = (team.node_count(), self.portion.room());
        (first..first + width).flat_map(move |distance| {
            let there = (team.node() + distance) % nodes;
            let ranks = self.layout.ranks_on(there).skip(slot).take(self.taken(there));
            ranks.enumerate().map(move |(k, rank)| (rank, (distance - first) * room + k * bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_are_all_there_is_and_fit() {
        for (nodes, most) in [(2, 1), (2, 2), (3, 1), (5, 3), (64, 16), (1000, 100), (2, 384), (2, 65_535)] {
            for part in [0, 1, 8, 100, 16 << 10, 64 << 10, 300_000] {
                if nodes * most * part > 1 << 30 {
                    continue;
                }
                let mut bytes = 0;
                for portion in Portion::all_of(nodes, most, part) {
                    let Portion { nodes: (node, width), slots: (slot, slots), bytes: (from, length) } =
                        portion;
                    assert!(node + width <= nodes && from + length <= part.max(1), "{portion:?}");
                    assert!(width * slots * length * most <= MIRROR_BYTES, "{portion:?}");
                    assert!(most == 1 || width * slots * length <= SCRATCH_BYTES, "{portion:?}");
                    bytes += width * slots.min(most - slot) * length;
                }
                assert_eq!(bytes, (nodes - usize::from(most == 1)) * most * part, "{nodes} x {most}, {part}");
            }
        }
        assert_eq!(Portion::all_of(4, 2, 8).count(), 1);
        assert_eq!(Portion::all_of(2, 1, 64 << 10).count(), 1);
    }
}
