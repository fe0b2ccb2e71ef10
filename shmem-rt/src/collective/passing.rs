//! What nodes bring each other at a meeting.
//!
//! Members of a node read each other's contributions where they lie. Those of other nodes come once for the
//! whole node, to its mirror: room on its first member, where all of its members read them. Whoever comes last
//! on a node acts for it: it puts the contributions of its node together, and sends them with the words of the
//! meeting, so that only first members are written to, and meeting and bringing are one round of messages.
//!
//! [`Blocks`] are for all nodes. In round k of the dissemination a node sends all it has to the node 2^k further
//! on: its own block, and those of the 2^k - 1 nodes before it. So log2(nodes) messages bring everything
//! everywhere; a mirror holds the block of its own node first, then those of the nodes before it.
//!
//! [`Parts`] are for one node each: they go there straight away, one message for each pair of nodes, and are
//! complete before the rounds begin.
//!
//! A statement is for who comes to know it first: each round brings that of the node 2^k before, and whoever acts for a
//! node compares it with its own before it begins the next round. Who has the word of round k therefore knows, by what
//! came in the rounds before on the way to it, that the 2^(k + 1) - 1 nodes before it have stated the same.
//!
//! A mirror is used again by the next meeting but one. Whoever writes it then has passed the meeting in between,
//! to which all have come that read what it held.

use shmem_core::context::{Endpoint, Far};
use shmem_core::pe::Pe;
use shmem_core::segment::SYSTEM;
use shmem_core::sync::{STATEMENT_WORDS, Statement};
use shmem_core::system::{MIRROR_BYTES, ROUNDS, SCRATCH_BYTES, SystemArea, TeamArea};
use shmem_core::transport::{Remote, SignalOp, Until};

use crate::group::Team;

/// Contributions end at multiples of it, so that no number is cut.
pub(super) const GRAIN: usize = 16;

/// What nodes bring each other at a meeting.
#[derive(Clone, Copy)]
pub(super) enum Passing<'p> {
    /// Nothing: they meet.
    Nothing,
    /// What whoever acts for a node has come for.
    Statement(&'p [u64; STATEMENT_WORDS]),
    /// What each has for all.
    Blocks(&'p Blocks),
    /// What each has for each.
    Parts(&'p Parts),
}

impl Passing<'_> {
    /// Before the rounds, for whoever acts for a node: all of its members have contributed.
    pub(super) fn prepare(self, team: &Team, endpoint: &Endpoint, far: &Far) {
        match self {
            Self::Nothing | Self::Statement(_) => {}
            Self::Blocks(blocks) => blocks.put_together(team, endpoint),
            Self::Parts(parts) => parts.send(team, endpoint, far),
        }
    }

    /// Sends the word of a round, a step further, to the node `distance` further on, with what there is for it.
    pub(super) fn send(self, team: &Team, endpoint: &Endpoint, far: &Far, round: Round, step: u64) {
        let Round { half, number, distance, to: leader } = round;
        let mirror = |half| mirror(team, half);
        let mine = |offset| address(team, endpoint, offset).cast_const();
        let (source, to, bytes) = match self {
            Self::Blocks(Blocks { half, sizes, .. }) => {
                let nodes = sizes.len();
                let before =
                    |node, count| (0..count).map(|k| sizes[(node + nodes - k) % nodes]).sum::<usize>();
                let bytes = before(team.node(), distance.min(nodes - distance));
                (
                    mine(mirror(*half)),
                    mirror(*half) + before((team.node() + distance) % nodes, distance),
                    bytes,
                )
            }
            Self::Statement(words) => {
                (words.as_ptr().cast(), brought(team, half, number), size_of_val(words))
            }
            Self::Nothing | Self::Parts(_) => (mine(0), 0, 0),
        };
        let word = Remote { pe: leader, segment: SYSTEM, offset: word_of(team, half, number) };
        let to = Remote { offset: to, ..word };
        // SAFETY: `word` is an aligned `AtomicU64` of the system area of every PE. A statement has as many bytes as
        // the room for it there. The blocks lie in the mirrors: all of them together fit (`Blocks::new`), and
        // nobody writes to ours meanwhile: what is still to come goes behind those that are sent.
        unsafe {
            far.transport.put_signal(
                far.channel,
                to,
                source,
                bytes,
                word,
                SignalOp::Add(step),
                Until::Return,
            );
        }
    }
}

/// A round of the dissemination.
#[derive(Clone, Copy)]
pub(super) struct Round {
    /// Which of the two sets of words, and of rooms for statements, the meeting uses.
    pub(super) half: usize,
    /// Its number, from 0.
    pub(super) number: usize,
    /// How many nodes further on is the one that is sent to.
    pub(super) distance: usize,
    /// The first member of that node.
    pub(super) to: Pe,
}

/// The contributions of all members, for all nodes.
pub(super) struct Blocks {
    /// Which of the two mirrors.
    half: usize,
    /// Bytes of each node's block.
    sizes: Vec<usize>,
    /// Bytes that each member contributes.
    bytes: Vec<usize>,
    /// Where each member's lie in the mirror of our node.
    offsets: Vec<usize>,
}

impl Blocks {
    /// Of `bytes_of` bytes of each rank, for the meeting with a number.
    pub(super) fn new(team: &Team, meeting: u64, bytes_of: impl Fn(usize) -> usize) -> Self {
        let nodes = team.leaders().len();
        let bytes: Vec<usize> = (0..team.size()).map(bytes_of).collect();
        let mut sizes = vec![0; nodes];
        let mut offsets: Vec<usize> = Vec::with_capacity(bytes.len());
        for (node, bytes) in team.nodes().iter().zip(&bytes) {
            offsets.push(sizes[*node]);
            sizes[*node] += bytes;
        }
        let mut starts = vec![0; nodes];
        let mut end = 0;
        for k in 0..nodes {
            let node = (team.node() + nodes - k) % nodes;
            starts[node] = end;
            end += sizes[node];
        }
        assert!(end <= MIRROR_BYTES, "contributions of {end} bytes in a mirror of {MIRROR_BYTES}");
        offsets.iter_mut().zip(team.nodes()).for_each(|(offset, node)| *offset += starts[*node]);
        Self { half: (meeting % 2) as usize, sizes, bytes, offsets }
    }

    /// Where the contribution of a rank lies, on the first member of this node.
    pub(super) fn offset(&self, team: &Team, rank: usize) -> usize {
        mirror(team, self.half) + self.offsets[rank]
    }

    fn put_together(&self, team: &Team, endpoint: &Endpoint) {
        for (rank, pe) in team.members().iter().enumerate() {
            if let Some(from) = endpoint.mapped(*pe, scratch(team, self.half)) {
                let to = address(team, endpoint, self.offset(team, rank));
                // SAFETY: `new` found room for all; the owner has contributed as many bytes, and writes there
                // again after the next meeting. Only who acts for the node writes its block.
                unsafe { core::ptr::copy_nonoverlapping(from, to, self.bytes[rank]) };
            }
        }
    }
}

/// What members contribute to members of other nodes: for those at certain distances, as many bytes each.
pub(super) struct Parts {
    half: usize,
    /// The distance between ranks of which a part is the first, and how many follow.
    first: usize,
    width: usize,
    /// Bytes of a part.
    bytes: usize,
}

/// A part on its way to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    node: usize,
    from: usize,
    to: usize,
    /// Which of the sender's parts it is.
    slot: usize,
}

impl Parts {
    /// Parts for members from `first` ranks on, `width` of them, for the meeting with a number.
    pub(super) fn new(team: &Team, meeting: u64, first: usize, width: usize, bytes: usize) -> Self {
        let room = width * bytes * most_on_a_node(team);
        assert!(room <= MIRROR_BYTES, "parts of {room} bytes in a mirror of {MIRROR_BYTES}");
        Self { half: (meeting % 2) as usize, first, width, bytes }
    }

    /// Reads the parts of other nodes that are for the calling PE, after the meeting, each to where `at` says for
    /// the sender's rank.
    pub(super) fn read(
        &self,
        team: &Team,
        endpoint: &Endpoint,
        into: &mut [u8],
        at: impl Fn(usize) -> usize,
    ) {
        let coming = self.for_node(team, team.node()).into_iter().enumerate();
        for (k, part) in coming.filter(|(_, part)| part.to == team.rank()) {
            let from = address(team, endpoint, mirror(team, self.half) + k * self.bytes);
            let into = &mut into[at(part.from)..][..self.bytes];
            // SAFETY: the part has come before the meeting, and what comes there next comes after the meeting
            // of the next step; `into` has as many bytes.
            unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), self.bytes) };
        }
    }

    /// The parts that come to a node from others, in the order in which its mirror holds them.
    fn for_node(&self, team: &Team, node: usize) -> Vec<Part> {
        let (members, nodes) = (team.size(), team.nodes());
        let here = (0..members).filter(|rank| nodes[*rank] == node);
        let part = |to: usize, slot: usize| {
            let from = (to + members - (self.first + slot)) % members;
            Part { node: nodes[from], from, to, slot }
        };
        let mut parts: Vec<Part> =
            here.flat_map(|to| (0..self.width).map(move |slot| part(to, slot))).collect();
        parts.retain(|part| part.node != node);
        parts.sort_by_key(|part| part.node);
        parts
    }

    fn send(&self, team: &Team, endpoint: &Endpoint, far: &Far) {
        let nodes = team.leaders().len();
        for distance in 1..nodes {
            let node = (team.node() + distance) % nodes;
            let coming = self.for_node(team, node);
            let Some(first) = coming.iter().position(|part| part.node == team.node()) else { continue };
            let ours: Vec<&Part> = coming.iter().filter(|part| part.node == team.node()).collect();
            let mut block = vec![0; ours.len() * self.bytes];
            for (part, into) in ours.iter().zip(block.chunks_exact_mut(self.bytes.max(1))) {
                let from = endpoint.mapped(team.members()[part.from], scratch(team, self.half));
                let from = from.unwrap_or_else(|| unreachable!("it is on this node"));
                let from = from.wrapping_add(part.slot * self.bytes);
                // SAFETY: the owner has contributed its parts there, and writes there again after the next
                // meeting; `into` is memory of our own.
                unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), self.bytes) };
            }
            let offset = mirror(team, self.half) + first * self.bytes;
            let to = Remote { pe: team.leaders()[node], segment: SYSTEM, offset };
            // SAFETY: the block is readable, and the mirror has room for all that comes (`new`).
            unsafe { far.transport.put(far.channel, to, block.as_ptr(), block.len(), Until::Return) };
        }
        far.transport.quiet(far.channel);
    }
}

/// Members of the node that has most.
pub(super) fn most_on_a_node(team: &Team) -> usize {
    let mut members = vec![0; team.leaders().len()];
    team.nodes().iter().for_each(|node| members[*node] += 1);
    members.into_iter().max().unwrap_or_default()
}

/// How many bytes of each member fit one step, and how many members: all of them, unless there are very many.
pub(super) fn room_of_each(team: &Team) -> (usize, usize) {
    room(team.size(), team.leaders().len())
}

fn room(members: usize, nodes: usize) -> (usize, usize) {
    if nodes == 1 {
        (SCRATCH_BYTES, members)
    } else if members <= MIRROR_BYTES / GRAIN {
        (SCRATCH_BYTES.min(MIRROR_BYTES / members / GRAIN * GRAIN), members)
    } else {
        (GRAIN, MIRROR_BYTES / GRAIN)
    }
}

fn area(team: &Team) -> usize {
    core::mem::offset_of!(SystemArea, teams) + team.index() * size_of::<TeamArea>()
}

/// Where a node's first member has the word of a round, from the start of its slot.
fn word_of(team: &Team, half: usize, round: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, rounds) + (half * ROUNDS + round) * size_of::<u64>()
}

/// Where a node's first member has what a round brings of another node's purpose, from the start of its slot.
fn brought(team: &Team, half: usize, round: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, brought) + (half * ROUNDS + round) * size_of::<Statement>()
}

/// Where each member contributes, from the start of its slot.
pub(super) fn scratch(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, scratch) + half * SCRATCH_BYTES
}

/// Where a node's first member holds what comes, from the start of its slot.
fn mirror(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, mirror) + half * MIRROR_BYTES
}

/// An address on the first member of this node.
fn address(team: &Team, endpoint: &Endpoint, offset: usize) -> *mut u8 {
    let leader = team.leaders()[team.node()];
    endpoint.mapped(leader, offset).unwrap_or_else(|| unreachable!("a neighbour is on this node"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_fits_the_mirror_however_many_members_there_are() {
        for members in [2, 3, 64, 2047, 2048, 2049, 4096, 100_000, 1 << 31] {
            let (bytes, at_once) = room(members, 2);
            assert!(bytes >= GRAIN && bytes.is_multiple_of(GRAIN) && at_once <= members, "{members}");
            assert!(bytes <= SCRATCH_BYTES && bytes * at_once <= MIRROR_BYTES, "{members}");
            // The most that is to be had: a grain more of each would not fit, or a member more.
            let is_full = bytes == SCRATCH_BYTES || (bytes + GRAIN) * at_once > MIRROR_BYTES;
            assert!(is_full && (at_once == members || bytes * (at_once + 1) > MIRROR_BYTES), "{members}");
        }
        assert_eq!(room(5000, 1), (SCRATCH_BYTES, 5000), "memory of one node is read where it lies");
    }
}
