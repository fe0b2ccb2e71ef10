//! Payloads: data that nodes exchange in the messages of a barrier.
//!
//! The last member of a node to arrive acts for the node. It collects the contributions of its members, and sends them with the words of
//! the barrier to the first member of another node. Data arrive in that member's *mirror*, which all members of its node read.
//!
//! [`Blocks`] and [`PartialResults`](super::partial_results::PartialResults) travel by the [rounds](Round) of a dissemination. [`Parts`] go
//! straight to the node that they are for; where they go to all nodes, their messages replace the rounds. The [`Signature`] of a node is
//! compared before the next round begins. So a member that has the word of a round knows that all nodes before it have the same one.
//!
//! # Why no message needs an acknowledgement
//!
//! Barriers use two sets of words and buffers in turn. In a barrier a node sends at most one message to another one, which waits for its
//! word. A sender in barrier `n` has left barrier `n - 1`, so all nodes have left `n - 2`, the last one that used the same set. Its
//! messages have arrived, and members have read them, since they read what a barrier brought before they enter the next one. So at most two
//! messages from one node to another are under way, one for each set, in any order. Within a message the data arrive before the word
//! ([`Transport::put_signal`](shmem_core::transport::Transport::put_signal)).

use core::mem::offset_of;
use core::ops::Range;

use shmem_core::pe::Pe;
use shmem_core::sync::{STATEMENT_WORDS, Statement};
use shmem_core::system::{DESK_BYTES, MIRROR_BYTES, ROUNDS, SCRATCH_BYTES, SystemArea, TeamArea};

use super::buffer::{RecvBuf, SendBuf};
use super::schedule::Round;
use crate::group::{Collective, Team};
use crate::members::Layout;

/// Contributions end at multiples of it, so that no number is cut.
pub(super) const GRAIN: usize = 16;

/// What goes with the words of a barrier between nodes, as seen by whoever acts for one. By itself it is nothing.
pub(super) trait Payload {
    /// What the node has come for, if that is compared word for word.
    fn signature(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        None
    }

    /// How far from the node those are to which something goes straight.
    fn distances(&self) -> Range<usize> {
        0..0
    }

    /// What goes straight to the node at a distance.
    fn straight(&self, _: &Collective<'_>, _: usize) -> Message {
        Message::EMPTY
    }

    /// Before the rounds: all members of the node have contributed.
    fn prepare(&mut self, _: &Collective<'_>) {}

    fn send(&mut self, _: &Collective<'_>, _: Round) -> Message {
        Message::EMPTY
    }

    /// The round's message has come, and its word is what it must be.
    fn receive(&mut self, _: &Collective<'_>, _: Round) {}

    /// Behind the rounds, before the members of the node go on.
    fn finish(&mut self, _: &Collective<'_>) {}
}

pub(super) struct Message {
    /// Where they lie. They stay until the operation that sends them returns.
    pub(super) source: *const u8,
    pub(super) bytes: usize,
    /// Where they go on the node's first member, from the start of its slot: to a room of the runtime that has as many.
    pub(super) to: usize,
}

impl Message {
    pub(super) const EMPTY: Self = Self { source: core::ptr::null(), bytes: 0, to: 0 };
}

/// No payload: members synchronise.
pub(super) struct Nothing;

impl Payload for Nothing {}

/// What whoever acts for a node has come for, word for word.
pub(super) struct Signature<'w> {
    pub(super) words: &'w [u64; STATEMENT_WORDS],
    /// Which of the two sets of rooms.
    pub(super) half: usize,
}

impl Payload for Signature<'_> {
    fn signature(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        Some(self.words)
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let within = (self.half * ROUNDS + round.number) * size_of::<Statement>();
        let to = area(collective.team) + offset_of!(TeamArea, brought) + within;
        Message { source: self.words.as_ptr().cast(), bytes: size_of_val(self.words), to }
    }
}

/// Where the words of a team lie, from the start of a PE's slot. So are all offsets here.
pub(super) fn area(team: &Team) -> usize {
    offset_of!(SystemArea, teams) + team.index() * size_of::<TeamArea>()
}

/// Where a node's first member has the word of a round.
pub(super) fn word_of(team: &Team, half: usize, round: usize) -> usize {
    area(team) + offset_of!(TeamArea, rounds) + (half * ROUNDS + round) * size_of::<u64>()
}

/// Where a node's first member has the word of what comes straight from other nodes.
pub(super) fn straight(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, straight) + half * size_of::<u64>()
}

/// Where each member contributes: [`SCRATCH_BYTES`].
pub(super) fn scratch(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, scratch) + half * SCRATCH_BYTES
}

/// Where a node's first member has what comes from other nodes: [`MIRROR_BYTES`].
pub(super) fn mirror(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, mirror) + half * MIRROR_BYTES
}

/// Where whoever acts for a node works, on its first member: [`DESK_BYTES`].
pub(super) fn desk(team: &Team) -> usize {
    area(team) + offset_of!(TeamArea, desk)
}

/// The address of an offset on a member of this node.
#[inline]
pub(super) fn address_on(collective: &Collective<'_>, member: Pe, offset: usize) -> *mut u8 {
    let address = collective.endpoint.mapped(member, offset);
    address.unwrap_or_else(|| unreachable!("PE {member} is on this node"))
}

/// The address of an offset on the first member of this node.
pub(super) fn address(collective: &Collective<'_>, offset: usize) -> *mut u8 {
    let team = collective.team;
    address_on(collective, team.leader(team.node()), offset)
}

/// Whether each node has one member: then that is the first one, and contributes where others would be brought together.
pub(super) fn is_alone(team: &Team) -> bool {
    team.size() == team.node_count()
}

/// How many bytes one of so many members on so many nodes can contribute at a meeting.
pub(super) fn room_of_one(members: usize, nodes: usize) -> usize {
    if nodes > 1 && nodes == members { MIRROR_BYTES } else { SCRATCH_BYTES }
}

/// How many bytes of each of them fit one step, and of how many members: of all of them, unless there are very many.
pub(super) fn room_of_each(members: usize, nodes: usize) -> (usize, usize) {
    if nodes == 1 {
        return (SCRATCH_BYTES, members);
    }
    match MIRROR_BYTES / members / GRAIN * GRAIN {
        0 => (GRAIN, MIRROR_BYTES / GRAIN),
        each => (each.min(room_of_one(members, nodes)), members),
    }
}

/// Blocks: the contributions of all members, for all nodes, which receive them unchanged. A mirror holds the block of its own node first,
/// then that of the node before it, and so on: so what a round sends lies together, and comes to lie together.
pub(super) struct Blocks<'c> {
    half: usize,
    layout: &'c Layout,
    shares: Shares,
    /// The node of the one that contributes, if no other does.
    root: usize,
}

/// How many bytes each member contributes: the same on all of them.
pub(super) enum Shares {
    /// One does, with that rank, and no other.
    Of {
        rank: usize,
        bytes: usize,
    },
    Equal(usize),
    /// By rank, and, worked out of that, by node, and of lower ranks on the node of each.
    Each {
        bytes: Vec<usize>,
        of_nodes: Vec<usize>,
        before: Vec<usize>,
    },
}

impl Shares {
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

    fn of(&self, rank: usize) -> usize {
        match self {
            Self::Of { rank: root, bytes } => *bytes * usize::from(rank == *root),
            Self::Equal(bytes) => *bytes,
            Self::Each { bytes, .. } => bytes[rank],
        }
    }
}

impl<'c> Blocks<'c> {
    /// For the meeting with a number.
    pub(super) fn new(team: &'c Team, meeting: u64, shares: Shares) -> Self {
        let root = if let Shares::Of { rank, .. } = shares { team.node_of(rank) } else { 0 };
        let blocks = Self { half: (meeting % 2) as usize, ..Self::of(team.layout(), shares, root) };
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
        self.back(node, round.known() + 1) - self.start(node, round)
    }

    /// Where in its mirror a node has what it sends in a round: the own block stands before those that came.
    fn start(&self, node: usize, round: Round) -> usize {
        if round.with_own { 0 } else { self.back(node, 1) }
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
            Shares::Of { bytes, .. } => bytes * usize::from((node + nodes - self.root) % nodes < count),
            Shares::Equal(bytes) => bytes * self.layout.members_back(node, count),
            Shares::Each { of_nodes, .. } => (0..count).map(|k| of_nodes[(node + nodes - k) % nodes]).sum(),
        }
    }
}

impl Payload for Blocks<'_> {
    fn prepare(&mut self, collective: &Collective<'_>) {
        let team = collective.team;
        if is_alone(team) {
            // It has contributed there already.
            return;
        }
        for (rank, member) in self.layout.ranks_on(team.node()).zip(team.neighbours()) {
            let bytes = self.shares.of(rank);
            if bytes > 0 {
                let from = address_on(collective, *member, scratch(team, self.half));
                let to = address(collective, self.offset(team, rank));
                assert!(bytes <= SCRATCH_BYTES, "{bytes} bytes in a room of {SCRATCH_BYTES}");
                // SAFETY: `new` found room for all; the owner has contributed as many bytes, and writes there
                // again after the next meeting. Only who acts for the node writes its block.
                unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) };
            }
        }
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let team = collective.team;
        let (node, nodes, mirror) = (team.node(), team.node_count(), mirror(team, self.half));
        let to = self.back((node + round.distance) % nodes, round.distance + usize::from(!round.with_own));
        let source = address(collective, mirror + self.start(node, round));
        Message { source, bytes: self.sent(node, round), to: mirror + to }
    }
}

/// Parts: contributions with one receiver each, sent straight to its node (spread-out alltoall). One message from each node to each of
/// those at certain distances brings, for each member of the sender's, in the order of ranks, parts for all members of the receiver's.
/// A mirror holds that of the node before it first.
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
    nodes: (usize, usize),
    /// Of the members of each receiving node, in the order of ranks: the first, and how many, as far as there are any.
    slots: (usize, usize),
    /// Of each part: the first byte, and how many.
    pub(super) bytes: (usize, usize),
}

impl Portion {
    /// Those of the parts of members of a team, as few as there can be.
    pub(super) fn all(team: &Team, part: usize) -> impl Iterator<Item = Self> + use<> {
        let layout = team.layout();
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

    /// How many members of a node receive something.
    pub(super) fn receivers(&self, layout: &Layout, node: usize) -> usize {
        layout.members(node).saturating_sub(self.slots.0).min(self.slots.1)
    }

    pub(super) fn distances(&self) -> Range<usize> {
        let (first, width) = self.nodes;
        first.max(1)..(first + width).max(1)
    }

    /// Where in its room a member contributes for a receiver of the node at a distance.
    fn at(&self, distance: usize, receiver: usize) -> usize {
        ((distance - self.nodes.0) * self.slots.1 + receiver) * self.bytes.1
    }
}

impl<'c> Parts<'c> {
    /// A portion for the meeting with a number, of what the calling PE has for all ranks, if it is alone on its node.
    pub(super) fn new(team: &'c Team, meeting: u64, portion: Portion, source: SendBuf<'c>) -> Self {
        let alone = is_alone(team).then(|| (source, source.len() / team.size()));
        Self { half: (meeting % 2) as usize, layout: team.layout(), portion, alone }
    }

    /// Contributes what there is of the portion, `source` being parts for all ranks, where several members of a node do.
    pub(super) fn contribute(&self, collective: &Collective<'_>, source: SendBuf<'_>) {
        if self.alone.is_some() {
            return;
        }
        let Collective { team, endpoint, .. } = *collective;
        let (part, Portion { nodes: (first, width), slots, bytes: (from, bytes) }) =
            (source.len() / team.size(), self.portion);
        for distance in first..first + width {
            let there = (team.node() + distance) % team.node_count();
            let ranks = self.layout.ranks_on(there).skip(slots.0).take(slots.1);
            for (receiver, rank) in ranks.enumerate() {
                let at = self.portion.at(distance, receiver);
                let to = endpoint.mine(scratch(team, self.half) + at);
                assert!(at + bytes <= SCRATCH_BYTES, "{bytes} bytes at {at} in a room of {SCRATCH_BYTES}");
                // SAFETY: the room has that many bytes, as just checked, of which any are a value, and nobody reads it now: its last
                // readers have since met this PE, at the barrier before this one, whatever each has come for. No other thread of this
                // PE is in a collective of the team (`Team::enter`).
                let room = unsafe { core::slice::from_raw_parts_mut(to, bytes) };
                source.read(rank * part + from, room);
            }
        }
    }

    /// Reads what there is for the calling PE, after the meeting: each to where it belongs in parts of all ranks.
    pub(super) fn read(&self, collective: &Collective<'_>, into: &mut RecvBuf<'_>) {
        let team = collective.team;
        let Portion { nodes: (first, width), slots: (slot, _), bytes: (from, bytes) } = self.portion;
        let (part, nodes, taken) = (into.len() / team.size(), team.node_count(), self.taken(team.node()));
        let mine = self.layout.slot(team.rank(), team.node());
        let Some(which) = mine.checked_sub(slot).filter(|which| *which < taken) else { return };
        for distance in first..first + width {
            let there = (team.node() + nodes - distance) % nodes;
            for (sender, rank) in self.layout.ranks_on(there).enumerate() {
                let place = match distance {
                    0 => address_on(collective, team.member(rank), scratch(team, self.half) + which * bytes),
                    _ => {
                        let at = self.offset(team.node(), distance) + (sender * taken + which) * bytes;
                        address(collective, mirror(team, self.half) + at)
                    }
                };
                // SAFETY: so many bytes have come with the barrier, or were contributed before it, and what comes there next comes at the
                // next barrier but one.
                into.write(rank * part + from, unsafe { core::slice::from_raw_parts(place, bytes) });
            }
        }
    }

    fn taken(&self, node: usize) -> usize {
        self.portion.receivers(self.layout, node)
    }

    /// Where in a node's mirror what comes from so far before it lies.
    fn offset(&self, node: usize, distance: usize) -> usize {
        let (nodes, first) = (self.layout.nodes(), self.portion.nodes.0.max(1));
        // Members of the nodes from `first` before it on to the one before that.
        let members = self.layout.members_back((node + nodes - first) % nodes, distance - first);
        members * self.taken(node) * self.portion.bytes.1
    }
}

impl Payload for Parts<'_> {
    fn distances(&self) -> Range<usize> {
        self.portion.distances()
    }

    fn straight(&self, collective: &Collective<'_>, distance: usize) -> Message {
        let team = collective.team;
        let there = (team.node() + distance) % team.node_count();
        let (taken, (from, bytes)) = (self.taken(there), self.portion.bytes);
        if taken == 0 || bytes == 0 {
            return Message::EMPTY;
        }
        let to = mirror(team, self.half) + self.offset(there, distance);
        if let Some((source, part)) = self.alone {
            // Nodes are in the order of their first ranks.
            debug_assert!(team.node_of(there) == there, "each node has one member");
            return Message { source: source.at(there * part + from, bytes), bytes, to };
        }
        let (each, near) = (taken * bytes, team.neighbours());
        assert!(near.len() * each <= DESK_BYTES, "{} parts of {each} bytes", near.len());
        for (k, member) in near.iter().enumerate() {
            let from =
                address_on(collective, *member, scratch(team, self.half) + self.portion.at(distance, 0));
            let into = address(collective, desk(team) + k * each);
            // SAFETY: the owner has contributed as many bytes there, and writes there again after the next meeting; the
            // desk has room for them, as just checked, and only who acts for the node works at it.
            unsafe { core::ptr::copy_nonoverlapping(from, into, each) };
        }
        Message { source: address(collective, desk(team)), bytes: near.len() * each, to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_the_mirror_however_many_members_there_are() {
        for members in [2, 3, 64, 2047, 2048, 2049, 4096, 4097, 100_000, 1 << 31] {
            for nodes in [2, members] {
                let (bytes, at_once) = room_of_each(members, nodes);
                assert!(bytes >= GRAIN && bytes.is_multiple_of(GRAIN) && at_once <= members, "{members}");
                assert!(bytes <= room_of_one(members, nodes) && bytes * at_once <= MIRROR_BYTES, "{members}");
                // The most that is to be had: a grain more of each would not fit, or a member more.
                let is_full = bytes == SCRATCH_BYTES || (bytes + GRAIN) * at_once > MIRROR_BYTES;
                assert!(is_full && (at_once == members || bytes * (at_once + 1) > MIRROR_BYTES), "{members}");
            }
        }
        assert_eq!(room_of_each(5000, 1), (SCRATCH_BYTES, 5000), "memory of one node is read where it lies");
    }

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
