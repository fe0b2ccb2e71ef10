//! Payloads: data that nodes exchange in the messages of a barrier.
//!
//! The last member of a node to arrive acts for the node. It collects the contributions of the node's members, and sends them with the
//! words of the barrier to the first member of another node. Data arrive in that member's *mirror*, a buffer that all members of its node
//! read.
//!
//! [`Blocks`] and [`PartialResults`](super::barrier_reduction::PartialResults) travel by the [rounds](Round) of a dissemination.
//! [`Parts`] go straight to their receivers' nodes; if these are all nodes, the messages of parts replace the rounds. A node's
//! [`Signature`] is compared before the next round begins. So the word of a round implies equal signatures on all nodes before it.
//!
//! # Why no message needs an acknowledgement
//!
//! Barriers use two sets of words and buffers in turn. In a barrier a node sends at most one message to another node, which waits for the
//! message's word. A sender in barrier `n` has left barrier `n - 1`, so all nodes have left `n - 2`, the last barrier that used the same
//! set. The messages of `n - 2` have arrived, and members have read them, since they read the data of a barrier before they enter the next
//! one. So at most two messages from one node to another are under way, one for each set, in any order. Within a message the data arrive
//! before the word ([`Transport::put_signal`](shmem_core::transport::Transport::put_signal)).

use core::mem::offset_of;
use core::ops::Range;

use shmem_core::pe::Pe;
use shmem_core::sync::{STATEMENT_WORDS, Statement};
use shmem_core::system_area::{DESK_BYTES, MIRROR_BYTES, ROUNDS, SCRATCH_BYTES, SystemArea, TeamArea};

use super::schedule::Round;
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{Collective, Team};
use crate::members::Layout;

/// Contributions end at multiples of this, so that no number is cut.
pub(super) const GRAIN: usize = 16;

/// Data that travel with the words of a barrier between nodes, handled by the member that acts for a node. By default there are none.
pub(super) trait Payload {
    /// Returns the statement of the node, if statements are compared.
    fn signature(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        None
    }

    /// Returns the distances of the nodes that get a straight message.
    fn distances(&self) -> Range<usize> {
        0..0
    }

    /// Returns the straight message to the node at a distance.
    fn straight(&self, _: &Collective<'_>, _: usize) -> Message {
        Message::EMPTY
    }

    /// Called before the rounds, when all members of the node have contributed.
    fn prepare(&mut self, _: &Collective<'_>) {}

    fn send(&mut self, _: &Collective<'_>, _: Round) -> Message {
        Message::EMPTY
    }

    /// Called when the message of a round has arrived, with the right word.
    fn receive(&mut self, _: &Collective<'_>, _: Round) {}

    /// Called after the rounds, before the members of the node continue.
    fn finish(&mut self, _: &Collective<'_>) {}
}

pub(super) struct Message {
    /// Address of the data, which stay valid until the operation that sends them returns.
    pub(super) source: *const u8,
    pub(super) bytes: usize,
    /// Offset of the destination from the start of a slot: a buffer of the runtime on the receiving node's first member.
    pub(super) to: usize,
}

impl Message {
    pub(super) const EMPTY: Self = Self { source: core::ptr::null(), bytes: 0, to: 0 };
}

pub(super) struct Nothing;

impl Payload for Nothing {}

/// Payload: the statement of the member that acts for a node.
pub(super) struct Signature<'w> {
    pub(super) words: &'w [u64; STATEMENT_WORDS],
    /// Which of the two sets of buffers.
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

/// Returns the offset of a team's area. All offsets here are from the start of a PE's slot.
pub(super) fn area(team: &Team) -> usize {
    offset_of!(SystemArea, teams) + team.index * size_of::<TeamArea>()
}

/// Returns the offset of the word of a round, which is on a node's first member.
pub(super) fn word_of(team: &Team, half: usize, round: usize) -> usize {
    area(team) + offset_of!(TeamArea, rounds) + (half * ROUNDS + round) * size_of::<u64>()
}

/// Returns the offset of the word of straight messages, which is on a node's first member.
pub(super) fn straight(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, straight) + half * size_of::<u64>()
}

/// Returns the offset of a member's buffer for its contribution, of [`SCRATCH_BYTES`].
pub(super) fn scratch(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, scratch) + half * SCRATCH_BYTES
}

/// Returns the offset of the mirror: [`MIRROR_BYTES`] on a node's first member for data from other nodes.
pub(super) fn mirror(team: &Team, half: usize) -> usize {
    area(team) + offset_of!(TeamArea, mirror) + half * MIRROR_BYTES
}

/// Returns the offset of the desk: [`DESK_BYTES`] on a node's first member, working memory of the member that acts for the node.
pub(super) fn desk(team: &Team) -> usize {
    area(team) + offset_of!(TeamArea, desk)
}

#[inline]
pub(super) fn address_on(collective: &Collective<'_>, member: Pe, offset: usize) -> *mut u8 {
    let address = collective.endpoint.mapped(member, offset);
    address.unwrap_or_else(|| unreachable!("PE {member} is on this node"))
}

/// Returns the address of an offset on the first member of this node.
pub(super) fn address(collective: &Collective<'_>, offset: usize) -> *mut u8 {
    let team = collective.team;
    address_on(collective, team.leader(team.node), offset)
}

/// Whether each node has a single member, which then contributes in the mirror.
pub(super) fn is_alone(team: &Team) -> bool {
    team.size() == team.node_count()
}

/// Upper limit on the bytes that a single member contributes to a barrier.
pub(super) fn room_of_one(members: usize, nodes: usize) -> usize {
    if nodes > 1 && nodes == members { MIRROR_BYTES } else { SCRATCH_BYTES }
}

/// Upper limit on the bytes that each member contributes to a barrier, and the number of members that contribute at once: all, unless
/// they are very many.
pub(super) fn room_of_each(members: usize, nodes: usize) -> (usize, usize) {
    if nodes == 1 {
        return (SCRATCH_BYTES, members);
    }
    match MIRROR_BYTES / members / GRAIN * GRAIN {
        0 => (GRAIN, MIRROR_BYTES / GRAIN),
        each => (each.min(room_of_one(members, nodes)), members),
    }
}

/// Payload: the contributions of all members, sent unchanged to all nodes. A node's contributions are a block. A mirror holds the block of
/// its own node first, then that of the node before, and so on. So the blocks of a round are contiguous at the sender and at the receiver.
pub(super) struct Blocks<'c> {
    half: usize,
    layout: &'c Layout,
    shares: Shares,
    /// The node of the only contributor, if there is one.
    root: usize,
}

/// The bytes that each member contributes, known to all members.
pub(super) enum Shares {
    /// One rank contributes.
    Of {
        rank: usize,
        bytes: usize,
    },
    Equal(usize),
    /// By rank: own bytes, and bytes of lower ranks on the same node; `of_nodes` is by node.
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
    pub(super) fn new(team: &'c Team, meeting: u64, shares: Shares) -> Self {
        let root = if let Shares::Of { rank, .. } = shares { team.node_of(rank) } else { 0 };
        let blocks = Self { half: (meeting % 2) as usize, ..Self::of(team.layout(), shares, root) };
        let all = blocks.back(team.node, team.node_count());
        assert!(all <= MIRROR_BYTES, "contributions of {all} bytes in a mirror of {MIRROR_BYTES}");
        blocks
    }

    pub(super) fn of(layout: &'c Layout, shares: Shares, root: usize) -> Self {
        Self { half: 0, layout, shares, root }
    }

    pub(super) fn sent(&self, node: usize, round: Round) -> usize {
        self.back(node, round.known() + 1) - self.start(node, round)
    }

    /// Returns the offset in a node's mirror of the blocks that the node sends in a round: all, or all but its own.
    fn start(&self, node: usize, round: Round) -> usize {
        if round.with_own { 0 } else { self.back(node, 1) }
    }

    /// Returns the offset of a rank's contribution, on the first member of this node.
    pub(super) fn offset(&self, team: &Team, rank: usize) -> usize {
        let (nodes, from) = (team.node_count(), team.node_of(rank));
        let block = self.back(team.node, (team.node + nodes - from) % nodes);
        let within = match &self.shares {
            Shares::Of { .. } => 0,
            Shares::Equal(bytes) => bytes * self.layout.slot(rank, from),
            Shares::Each { before, .. } => before[rank],
        };
        mirror(team, self.half) + block + within
    }

    pub(super) fn end(&self, team: &Team) -> usize {
        mirror(team, self.half) + MIRROR_BYTES
    }

    /// Returns the bytes of the blocks of `count` nodes, the last of which is `node`.
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
            // The only member used the mirror.
            return;
        }
        for (rank, member) in self.layout.ranks_on(team.node).zip(team.neighbours()) {
            let bytes = self.shares.of(rank);
            if bytes > 0 {
                let from = address_on(collective, *member, scratch(team, self.half));
                let to = address(collective, self.offset(team, rank));
                assert!(bytes <= SCRATCH_BYTES, "{bytes} bytes in a room of {SCRATCH_BYTES}");
                // SAFETY: `new` checked the room; the owner contributed `bytes` bytes, and writes there again after the next
                // barrier. Only the PE acting for the node writes its block.
                unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) };
            }
        }
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let team = collective.team;
        let (node, nodes, mirror) = (team.node, team.node_count(), mirror(team, self.half));
        let to = self.back((node + round.distance) % nodes, round.distance + usize::from(!round.with_own));
        let source = address(collective, mirror + self.start(node, round));
        Message { source, bytes: self.sent(node, round), to: mirror + to }
    }
}

/// Payload: contributions with one receiver each, sent straight to the receiver's node (spread-out alltoall). A message between two
/// nodes has, for each member of the sending node by rank, the parts for all members of the receiving node. A mirror has messages
/// by distance of their senders: first that of the node just before this one.
pub(super) struct Parts<'c> {
    half: usize,
    layout: &'c Layout,
    portion: Portion,
    /// (source, bytes of a part) of a node's only member, which sends from its source.
    alone: Option<(SendBuf<'c>, usize)>,
}

/// The data of one barrier of an alltoall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portion {
    /// (first distance between nodes, number of distances)
    nodes: (usize, usize),
    /// (first receiving member of a node in rank order, most receivers)
    slots: (usize, usize),
    /// (first byte, number of bytes) of each part
    pub(super) bytes: (usize, usize),
}

impl Portion {
    /// Returns the portions of a team's alltoall, as few as possible.
    pub(super) fn all(team: &Team, part: usize) -> impl Iterator<Item = Self> + use<> {
        let layout = team.layout();
        Self::all_of(layout.nodes(), layout.most, part)
    }

    /// Returns the portions for `nodes` nodes, the largest of which has `most` members.
    pub(super) fn all_of(nodes: usize, most: usize, part: usize) -> impl Iterator<Item = Self> + use<> {
        // Whether the buffers hold what a member contributes, and what a node receives.
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
        // Maximises bytes, then receivers, then nodes. Distance 0 is for members of one node, which read each other's
        // contributions.
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

    /// Returns the offset in a member's contribution of the part for a receiver on the node at a distance.
    fn at(&self, distance: usize, receiver: usize) -> usize {
        ((distance - self.nodes.0) * self.slots.1 + receiver) * self.bytes.1
    }
}

impl<'c> Parts<'c> {
    /// Returns a portion for the barrier with number `meeting`. `source` has the parts for all ranks.
    pub(super) fn new(team: &'c Team, meeting: u64, portion: Portion, source: SendBuf<'c>) -> Self {
        let alone = is_alone(team).then(|| (source, source.len() / team.size()));
        Self { half: (meeting % 2) as usize, layout: team.layout(), portion, alone }
    }

    /// Copies the calling PE's parts of the portion to its scratch, where nodes have several members.
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
                // SAFETY: the buffer has that many bytes, as just checked, of which any are a value. No PE reads it now: its last
                // readers have since entered the barrier before this one, in whatever operation. No other thread of this PE is in a
                // collective of the team (`Team::enter`).
                let room = unsafe { core::slice::from_raw_parts_mut(to, bytes) };
                source.read(rank * part + from, room);
            }
        }
    }

    /// Copies the received parts of the portion, after the barrier, to their places in `into`.
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
                        address(collective, mirror(team, self.half) + at)
                    }
                };
                // SAFETY: `bytes` bytes arrived with the barrier, or were contributed before it. The next ones arrive there two
                // barriers later.
                into.write(rank * part + from, unsafe { core::slice::from_raw_parts(place, bytes) });
            }
        }
    }

    fn taken(&self, node: usize) -> usize {
        self.portion.receivers(self.layout, node)
    }

    /// Returns the offset in a node's mirror of the message from the node `distance` before it.
    fn offset(&self, node: usize, distance: usize) -> usize {
        let (nodes, first) = (self.layout.nodes(), self.portion.nodes.0.max(1));
        // Members of the nodes at distances from `first` to before `distance`.
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
        let there = (team.node + distance) % team.node_count();
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
            // SAFETY: the owner has contributed `each` bytes, and writes there again after the next barrier. The desk has room for
            // them, as just checked, and only the PE acting for the node uses it.
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
