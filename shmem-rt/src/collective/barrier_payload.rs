//! Payloads: data that nodes exchange in the messages of a barrier.
//!
//! The last member of a node to arrive acts for the node. It collects the contributions of the node's members, and sends them with
//! the words of the barrier to the first member of another node. Data arrive in that first member's receive buffer, a buffer that
//! its node's members read.
//!
//! [`Blocks`] and [`PartialResults`](super::barrier_reduction::PartialResults) travel by the [rounds](Round) of a dissemination.
//! [`Parts`] travel in *straight messages* to their receivers' nodes. If every node receives one, straight messages replace the
//! rounds. With a [`SignaturePayload`], a node begins a round only if the signature that it received in the round before equals
//! its own. So the word of a round implies equal signatures on all nodes whose words the sender has received.
//!
//! # Why no message needs an acknowledgement
//!
//! Barriers use two sets of words and buffers in turn. In a barrier each message has its own part of a buffer and adds to a word,
//! and the receiver waits for all additions. A sender in barrier `n` has left barrier `n - 1`, so all nodes have left `n - 2`, the
//! last barrier that used the same set. The messages of `n - 2` have arrived and been read, because members read the data of a
//! barrier before they enter the next barrier. So the messages under way are of at most two barriers, one for each set, in any
//! order. Within a message the data arrive before the word
//! ([`Transport::put_signal`](shmem_core::transport::Transport::put_signal)).

use core::mem::offset_of;
use core::ops::Range;

use shmem_core::pe::Pe;
use shmem_core::sync::{SIGNATURE_WORDS, SignatureWords};
use shmem_core::system_area::{
    RECEIVE_BUFFER_BYTES, ROUNDS, SCRATCH_BYTES, SystemArea, TeamArea, WORK_BUFFER_BYTES,
};

use super::schedule::Round;
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{Collective, Team};
use crate::members::Layout;

/// Contributions are cut at multiples of this many bytes. The size of every number divides it, so no number is split.
pub(super) const GRAIN: usize = 16;

/// Data that travel with the words of a barrier between nodes. `signature_words` is called by all members, the other
/// methods only by the member that acts for its node.
pub(super) trait Payload {
    /// Returns the call signature of the node, or None if this barrier compares none.
    fn signature_words(&self) -> Option<&[u64; SIGNATURE_WORDS]> {
        None
    }

    /// Returns the distances to the nodes that get a straight message: one that bypasses the dissemination rounds.
    fn distances(&self) -> Range<usize> {
        0..0
    }

    /// Returns the straight message to the node at the given distance.
    fn direct(&self, _: &Collective<'_>, _: usize) -> Message {
        Message::EMPTY
    }

    /// Prepares the data to send. Called before the rounds, when all members of the node have contributed.
    fn prepare(&mut self, _: &Collective<'_>) {}

    fn send(&mut self, _: &Collective<'_>, _: Round) -> Message {
        Message::EMPTY
    }

    /// Processes the message of a round, which has arrived together with the expected word.
    fn receive(&mut self, _: &Collective<'_>, _: Round) {}

    /// Writes the final data of the node. Called after the rounds, before the members of the node continue.
    fn finish(&mut self, _: &Collective<'_>) {}
}

pub(super) struct Message {
    /// Address of the data, valid until the operation that sends the data returns.
    pub(super) source: *const u8,
    pub(super) bytes: usize,
    /// Offset of the destination, a buffer of the runtime, in the slot (symmetric memory) of the receiving node's first member.
    pub(super) to: usize,
}

impl Message {
    pub(super) const EMPTY: Self = Self { source: core::ptr::null(), bytes: 0, to: 0 };
}

pub(super) struct Nothing;

impl Payload for Nothing {}

/// Payload: the call signature of the member that acts for a node.
pub(super) struct SignaturePayload<'w> {
    pub(super) words: &'w [u64; SIGNATURE_WORDS],
    /// Index of the buffer set: 0 or 1.
    pub(super) half: usize,
}

impl Payload for SignaturePayload<'_> {
    fn signature_words(&self) -> Option<&[u64; SIGNATURE_WORDS]> {
        Some(self.words)
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let within = (self.half * ROUNDS + round.number) * size_of::<SignatureWords>();
        let to = area(collective.team) + offset_of!(TeamArea, remote_signatures) + within;
        Message { source: self.words.as_ptr().cast(), bytes: size_of_val(self.words), to }
    }
}

/// Returns the offset of a team's area. All offsets in this file are from the start of a PE's slot, its symmetric memory.
pub(super) fn area(team: &Team) -> usize {
    offset_of!(SystemArea, teams) + team.index * size_of::<TeamArea>()
}

/// Returns the offset of the word that a node's first member receives in a round.
pub(super) fn word_of(team: &Team, half: usize, round: usize) -> usize {
    area(team) + offset_of!(TeamArea, rounds) + (half * ROUNDS + round) * size_of::<u64>()
}

/// Returns the offset of the word to which straight messages add on a node's first member.
pub(super) fn direct(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, direct) + half * size_of::<u64>()
}

/// Returns the offset of a member's contribution buffer, its scratch, of [`SCRATCH_BYTES`].
pub(super) fn scratch(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, scratch) + half * SCRATCH_BYTES
}

/// Returns the offset of the receive buffer: the buffer of [`RECEIVE_BUFFER_BYTES`] on a node's first member that receives data
/// from other nodes.
pub(super) fn receive_buffer(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, receive_buffer) + half * RECEIVE_BUFFER_BYTES
}

/// Returns the offset of the work buffer: working memory of [`WORK_BUFFER_BYTES`] on a node's first member, used by the member that
/// acts for the node.
pub(super) fn work_buffer(team: &Team) -> usize {
    area(team) + offset_of!(TeamArea, work_buffer)
}

#[inline]
pub(super) fn address_on(collective: &Collective<'_>, member: Pe, offset: usize) -> *mut u8 {
    let address = collective.endpoint.mapped(member, offset);
    address.unwrap_or_else(|| unreachable!("PE {member} is on this node"))
}

/// Returns the address of `offset` in the slot of this node's first member.
pub(super) fn address(collective: &Collective<'_>, offset: usize) -> *mut u8 {
    let team = collective.team;
    address_on(collective, team.leader(team.node), offset)
}

/// Whether every node has exactly one member. That member writes its contribution directly to the receive buffer.
pub(super) fn is_alone(team: &Team) -> bool {
    team.size() == team.node_count()
}

/// Returns the maximum bytes per barrier where a single member contributes.
pub(super) fn room_of_one(members: usize, nodes: usize) -> usize {
    if nodes > 1 && nodes == members { RECEIVE_BUFFER_BYTES } else { SCRATCH_BYTES }
}

/// Returns the maximum bytes of each member per barrier, and how many members contribute to one barrier: all, except in very large
/// teams.
pub(super) fn room_of_each(members: usize, nodes: usize) -> (usize, usize) {
    if nodes == 1 {
        return (SCRATCH_BYTES, members);
    }
    match RECEIVE_BUFFER_BYTES / members / GRAIN * GRAIN {
        0 => (GRAIN, RECEIVE_BUFFER_BYTES / GRAIN),
        each => (each.min(room_of_one(members, nodes)), members),
    }
}

/// Payload: the contributions of all members, sent unchanged to all nodes. The contributions of one node form a block. A
/// receive buffer has the block of its own node first, then the block of the node before, and so on. So the blocks sent
/// in a round are contiguous in the sender's buffer and in the receiver's.
pub(super) struct Blocks<'c> {
    half: usize,
    layout: &'c Layout,
    shares: Shares,
    /// The contributing node, if a single rank contributes; otherwise 0.
    root: usize,
}

/// Number of bytes that each member contributes, known to all members.
pub(super) enum Shares {
    /// A single rank contributes.
    Of {
        rank: usize,
        bytes: usize,
    },
    Equal(usize),
    /// Different lengths. `bytes`: by rank; `before`: bytes of lower ranks on the same node, by rank; `of_nodes`: bytes by node.
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
    pub(super) fn new(team: &'c Team, count: u64, shares: Shares) -> Self {
        let root = if let Shares::Of { rank, .. } = shares { team.node_of(rank) } else { 0 };
        let blocks = Self { half: (count % 2) as usize, ..Self::of(team.layout(), shares, root) };
        let all = blocks.back(team.node, team.node_count());
        assert!(
            all <= RECEIVE_BUFFER_BYTES,
            "contributions of {all} bytes in a receive buffer of {RECEIVE_BUFFER_BYTES}"
        );
        blocks
    }

    pub(super) fn of(layout: &'c Layout, shares: Shares, root: usize) -> Self {
        Self { half: 0, layout, shares, root }
    }

    pub(super) fn sent(&self, node: usize, round: Round) -> usize {
        self.back(node, round.known() + 1) - self.start(node, round)
    }

    /// Returns the offset in a node's receive buffer of the blocks that the node sends in a round: all blocks, or all but its own.
    fn start(&self, node: usize, round: Round) -> usize {
        if round.with_own { 0 } else { self.back(node, 1) }
    }

    /// Returns the offset at which a rank's contribution is stored in the slot of this node's first member.
    pub(super) fn offset(&self, team: &Team, rank: usize) -> usize {
        let (nodes, from) = (team.node_count(), team.node_of(rank));
        let block = self.back(team.node, (team.node + nodes - from) % nodes);
        let within = match &self.shares {
            Shares::Of { .. } => 0,
            Shares::Equal(bytes) => bytes * self.layout.slot(rank, from),
            Shares::Each { before, .. } => before[rank],
        };
        receive_buffer(team, self.half) + block + within
    }

    pub(super) fn end(&self, team: &Team) -> usize {
        receive_buffer(team, self.half) + RECEIVE_BUFFER_BYTES
    }

    /// Returns the total bytes of the blocks of `count` consecutive nodes that end with `node`.
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
            // The only member of the node has written its contribution to the receive buffer.
            return;
        }
        for (rank, member) in self.layout.ranks_on(team.node).zip(team.neighbours()) {
            let bytes = self.shares.of(rank);
            if bytes > 0 {
                let from = address_on(collective, *member, scratch(team, self.half));
                let to = address(collective, self.offset(team, rank));
                assert!(bytes <= SCRATCH_BYTES, "{bytes} bytes in a room of {SCRATCH_BYTES}");
                // SAFETY: `from` has `bytes` bytes (asserted), which the owner contributed, and which it overwrites only after the
                // next barrier. `to` has room for them in the receive buffer (`new`), and only the PE acting for the node writes
                // there.
                unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) };
            }
        }
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let team = collective.team;
        let (node, nodes, receive_buffer) = (team.node, team.node_count(), receive_buffer(team, self.half));
        let to = self.back((node + round.distance) % nodes, round.distance + usize::from(!round.with_own));
        let source = address(collective, receive_buffer + self.start(node, round));
        Message { source, bytes: self.sent(node, round), to: receive_buffer + to }
    }
}

/// Payload: contributions with one receiver each, sent straight to the receiver's node (spread-out alltoall). A message between two
/// nodes has, for each member of the sending node by rank, the parts for all members of the receiving node. In a receive buffer the
/// messages are in the order of distance from their senders: first the message of the node just before.
pub(super) struct Parts<'c> {
    half: usize,
    layout: &'c Layout,
    portion: Portion,
    /// (source, bytes of a part) if each node has a single member, which sends from its source without a copy.
    alone: Option<(SendBuf<'c>, usize)>,
}

/// The part of an alltoall's data that one barrier carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portion {
    /// Receiving nodes: (first distance between nodes, number of distances).
    nodes: (usize, usize),
    /// Receiving members of each node: (index of the first among the node's members in rank order, upper limit on their number).
    slots: (usize, usize),
    /// Range in each part: (first byte, number of bytes).
    pub(super) bytes: (usize, usize),
}

impl Portion {
    /// Returns the portions that make up a team's alltoall of parts of `part` bytes, as few as possible.
    pub(super) fn all(team: &Team, part: usize) -> impl Iterator<Item = Self> + use<> {
        let layout = team.layout();
        Self::all_of(layout.nodes(), layout.most, part)
    }

    /// Returns the portions for `nodes` nodes, the largest of which has `most` members.
    pub(super) fn all_of(nodes: usize, most: usize, part: usize) -> impl Iterator<Item = Self> + use<> {
        // Whether a member's contribution and the data that a node receives fit the buffers.
        let fits = |nodes: usize, slots: usize, bytes: usize| {
            let contributed = nodes.saturating_mul(slots).saturating_mul(bytes);
            let arriving = contributed.saturating_mul(most);
            arriving <= RECEIVE_BUFFER_BYTES.min(WORK_BUFFER_BYTES)
                && (most == 1 || contributed <= SCRATCH_BYTES)
        };
        let largest = |most: usize, fits: &dyn Fn(usize) -> bool| {
            let (mut yes, mut no) = (1, most + 1);
            while no - yes > 1 {
                let middle = yes.midpoint(no);
                if fits(middle) { yes = middle } else { no = middle }
            }
            yes
        };
        // Maximises the bytes first, then the receivers, then the nodes. Distance 0 is the own node, whose members read each
        // other's scratch; a single member has nothing to read there.
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

    pub(super) fn receivers(&self, layout: &Layout, node: usize) -> usize {
        layout.members(node).saturating_sub(self.slots.0).min(self.slots.1)
    }

    pub(super) fn distances(&self) -> Range<usize> {
        let (first, width) = self.nodes;
        first.max(1)..(first + width).max(1)
    }

    /// Returns the offset, in a member's contribution, of the part for receiver `receiver` on the node at `distance`.
    fn at(&self, distance: usize, receiver: usize) -> usize {
        ((distance - self.nodes.0) * self.slots.1 + receiver) * self.bytes.1
    }
}

impl<'c> Parts<'c> {
    /// Returns the payload of barrier number `count` for one portion. `source` contains the parts for all ranks.
    pub(super) fn new(team: &'c Team, count: u64, portion: Portion, source: SendBuf<'c>) -> Self {
        let alone = is_alone(team).then(|| (source, source.len() / team.size()));
        Self { half: (count % 2) as usize, layout: team.layout(), portion, alone }
    }

    /// Copies the calling PE's parts of the portion to its scratch, if nodes have several members.
    pub(super) fn contribute(&self, collective: &Collective<'_>, source: SendBuf<'_>) {
        if self.alone.is_some() {
            return;
        }
        let Collective { team, endpoint, .. } = *collective;
        let (part, Portion { nodes: (first, width), slots, bytes: (from, bytes) }) =
            (source.len() / team.size(), self.portion);
        for distance in first..first + width {
            let there = (team.node + distance) % team.node_count();
            let ranks = self.layout.ranks_on(there).skip(slots.0).take(slots.1);
            for (receiver, rank) in ranks.enumerate() {
                let at = self.portion.at(distance, receiver);
                let to = endpoint.mine(scratch(team, self.half) + at);
                assert!(at + bytes <= SCRATCH_BYTES, "{bytes} bytes at {at} in a room of {SCRATCH_BYTES}");
                // SAFETY: `to` has `bytes` bytes (asserted), and any bytes are valid values. No PE reads the scratch
                // now: in any operation, its last readers have since entered the barrier before this one. No other
                // thread of this PE is in a collective of the team (`Team::enter`).
                let room = unsafe { core::slice::from_raw_parts_mut(to, bytes) };
                source.read(rank * part + from, room);
            }
        }
    }

    /// Copies the received parts of the portion to `into`. Called after the barrier.
    pub(super) fn read(&self, collective: &Collective<'_>, into: &mut RecvBuf<'_>) {
        let team = collective.team;
        let Portion { nodes: (first, width), slots: (slot, _), bytes: (from, bytes) } = self.portion;
        let (part, nodes, taken) = (into.len() / team.size(), team.node_count(), self.taken(team.node));
        let mine = self.layout.slot(team.rank(), team.node);
        let Some(which) = mine.checked_sub(slot).filter(|which| *which < taken) else { return };
        for distance in first..first + width {
            let there = (team.node + nodes - distance) % nodes;
            for (sender, rank) in self.layout.ranks_on(there).enumerate() {
                let place = match distance {
                    0 => address_on(collective, team.member(rank), scratch(team, self.half) + which * bytes),
                    _ => {
                        let at = self.offset(team.node, distance) + (sender * taken + which) * bytes;
                        address(collective, receive_buffer(team, self.half) + at)
                    }
                };
                // SAFETY: the `bytes` bytes at `place` arrived with the barrier, or were contributed before it. They stay until two
                // barriers later.
                into.write(rank * part + from, unsafe { core::slice::from_raw_parts(place, bytes) });
            }
        }
    }

    fn taken(&self, node: usize) -> usize {
        self.portion.receivers(self.layout, node)
    }

    /// Returns the offset, in the receive buffer of `node`, of the message from the node that is `distance` before.
    fn offset(&self, node: usize, distance: usize) -> usize {
        let (nodes, first) = (self.layout.nodes(), self.portion.nodes.0.max(1));
        // Number of members of the nodes at distances `first..distance`.
        let members = self.layout.members_back((node + nodes - first) % nodes, distance - first);
        members * self.taken(node) * self.portion.bytes.1
    }
}

impl Payload for Parts<'_> {
    fn distances(&self) -> Range<usize> {
        self.portion.distances()
    }

    fn direct(&self, collective: &Collective<'_>, distance: usize) -> Message {
        let team = collective.team;
        let there = (team.node + distance) % team.node_count();
        let (taken, (from, bytes)) = (self.taken(there), self.portion.bytes);
        if taken == 0 || bytes == 0 {
            return Message::EMPTY;
        }
        let to = receive_buffer(team, self.half) + self.offset(there, distance);
        if let Some((source, part)) = self.alone {
            // With one member each, nodes are numbered in the order of ranks.
            debug_assert!(team.node_of(there) == there, "each node has one member");
            return Message { source: source.at(there * part + from, bytes), bytes, to };
        }
        let (each, near) = (taken * bytes, team.neighbours());
        assert!(near.len() * each <= WORK_BUFFER_BYTES, "{} parts of {each} bytes", near.len());
        for (k, member) in near.iter().enumerate() {
            let from =
                address_on(collective, *member, scratch(team, self.half) + self.portion.at(distance, 0));
            let into = address(collective, work_buffer(team) + k * each);
            // SAFETY: `from` has `each` bytes, which its owner contributed, and which it overwrites only after the next barrier.
            // `into` has `each` bytes in the work buffer (asserted), the working memory of the PE acting for the node.
            unsafe { core::ptr::copy_nonoverlapping(from, into, each) };
        }
        Message { source: address(collective, work_buffer(team)), bytes: near.len() * each, to }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_the_receive_buffer_however_many_members_there_are() {
        for members in [2, 3, 64, 2047, 2048, 2049, 4096, 4097, 100_000, 1 << 31] {
            for nodes in [2, members] {
                let (bytes, at_once) = room_of_each(members, nodes);
                assert!(bytes >= GRAIN && bytes.is_multiple_of(GRAIN) && at_once <= members, "{members}");
                assert!(
                    bytes <= room_of_one(members, nodes) && bytes * at_once <= RECEIVE_BUFFER_BYTES,
                    "{members}"
                );
                // The most that is to be had: a grain more of each would not fit, or a member more.
                let is_full = bytes == SCRATCH_BYTES || (bytes + GRAIN) * at_once > RECEIVE_BUFFER_BYTES;
                assert!(
                    is_full && (at_once == members || bytes * (at_once + 1) > RECEIVE_BUFFER_BYTES),
                    "{members}"
                );
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
                    assert!(width * slots * length * most <= RECEIVE_BUFFER_BYTES, "{portion:?}");
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
