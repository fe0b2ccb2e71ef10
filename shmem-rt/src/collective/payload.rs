//! Payloads: data that nodes exchange in the messages of a barrier.
//!
//! Members of a node read each other's contributions in place. A contribution from another node arrives once for the whole node: in its
//! mirror, a buffer on its first member, which all of its members read. The last member to arrive acts for its node. It gathers what
//! its members contribute, and sends it with the words of the barrier. So only first members receive messages, and one round of messages
//! carries synchronisation and data.
//!
//! Data for all nodes go by the [rounds](Round) of a dissemination: [`Blocks`](super::blocks::Blocks) unchanged, and
//! [`PartialResults`](super::partial_results::PartialResults) of reductions as [covers](super::cover) of the ranks combined so far. Data for one
//! node each ([`Parts`](super::parts::Parts)) go straight there, and their messages replace the rounds.
//!
//! Each round brings the signature of one node before. The member that acts for a node compares it with its own before it begins the
//! next round. So a member that has the word of a round knows that all nodes it has heard of, directly or through others, have the same
//! signature.
//!
//! # Why nobody waits for acknowledgements
//!
//! There are two sets of words and buffers, which barriers use in turn. In a barrier a node sends another at most one message, and the
//! receiver waits for its word. So a member that has left a barrier has received all messages of that barrier, and knows that all nodes
//! have entered it.
//!
//! Take a sender in barrier `n`. It has left `n - 1`, so all nodes have entered that and left `n - 2`, the last one that used the same set.
//! Its messages have arrived, and members have read them, because they read what a barrier brought before they enter the next one. At
//! most two messages from one node to another are under way, one in each set, and their order does not matter. Within a message the data
//! arrive before the word ([`Transport::put_signal`](shmem_core::transport::Transport::put_signal)).

use core::ops::Range;

use shmem_core::context::Endpoint;
use shmem_core::sync::{STATEMENT_WORDS, Statement};
use shmem_core::system::{DESK_BYTES, MIRROR_BYTES, ROUNDS, SCRATCH_BYTES, SystemArea, TeamArea};

use super::buffer::{RecvBuf, SendBuf};
use super::layout::Layout;
use super::schedule::Round;
use crate::group::{Collective, Team};

/// Contributions end at multiples of it, so that no number is cut.
pub(super) const GRAIN: usize = 16;

/// What goes with the words of the rounds.
pub(super) trait Payload {
    /// What whoever acts for a node has come for, if that is compared word for word.
    fn signature(&self) -> Option<&[u64; STATEMENT_WORDS]> {
        None
    }

    /// Before the rounds, for whoever acts for a node: all of its members have contributed.
    fn prepare(&mut self, collective: &Collective<'_>) {
        _ = collective;
    }

    /// What is sent in a round.
    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message;

    /// The round's message has come, and its word is what it must be.
    fn receive(&mut self, collective: &Collective<'_>, round: Round) {
        _ = (collective, round);
    }

    /// Behind the rounds, before the members of the node go on.
    fn finish(&mut self, collective: &Collective<'_>) {
        _ = collective;
    }
}

/// Bytes for another node.
pub(super) struct Message {
    /// Where they lie. They stay until the operation that sends them returns.
    pub(super) source: *const u8,
    /// How many there are.
    pub(super) bytes: usize,
    /// Where they go on the node's first member, from the start of its slot: to a room of the runtime that has as many.
    pub(super) to: usize,
}

impl Message {
    /// No bytes.
    pub(super) const EMPTY: Self = Self { source: core::ptr::null(), bytes: 0, to: 0 };
}

/// No payload: members synchronise.
pub(super) struct Nothing;

impl Payload for Nothing {
    fn send(&mut self, _: &Collective<'_>, _: Round) -> Message {
        Message::EMPTY
    }
}

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
        let to = signature(collective.team, self.half, round.number);
        Message { source: self.words.as_ptr().cast(), bytes: size_of_val(self.words), to }
    }
}

/// Where the words of a team lie, from the start of a PE's slot. So are all offsets here.
pub(super) fn area(team: &Team) -> usize {
    core::mem::offset_of!(SystemArea, teams) + team.index() * size_of::<TeamArea>()
}

/// Where a node's first member has the word of a round.
pub(super) fn word_of(team: &Team, half: usize, round: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, rounds) + (half * ROUNDS + round) * size_of::<u64>()
}

/// Where a node's first member has the word of what comes straight from other nodes.
pub(super) fn straight(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, straight) + half * size_of::<u64>()
}

/// Where a node's first member has another node's signature, which a round brings.
pub(super) fn signature(team: &Team, half: usize, round: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, brought) + (half * ROUNDS + round) * size_of::<Statement>()
}

/// Where each member contributes: [`SCRATCH_BYTES`].
pub(super) fn scratch(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, scratch) + half * SCRATCH_BYTES
}

/// Where a node's first member has what comes from other nodes: [`MIRROR_BYTES`].
pub(super) fn mirror(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, mirror) + half * MIRROR_BYTES
}

/// Where whoever acts for a node works, on its first member: [`DESK_BYTES`](shmem_core::system::DESK_BYTES).
pub(super) fn desk(team: &Team) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, desk)
}

/// The address of an offset on the first member of this node.
pub(super) fn address(team: &Team, endpoint: &Endpoint, offset: usize) -> *mut u8 {
    let leader = team.leader(team.node());
    endpoint.mapped(leader, offset).unwrap_or_else(|| unreachable!("a neighbour is on this node"))
}

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
