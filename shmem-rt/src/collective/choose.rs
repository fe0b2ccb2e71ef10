//! Chooses the way of a collective's data ([`collective`](super) has the four), as a pure function of values that all members know.
//!
//! Every way gives the same result, bit for bit, so the choice affects time alone. On a node it compares lengths with measured thresholds.
//! Between nodes it compares estimated times, from the provider's model numbers. A way that `SHMEM_COLLECTIVE_ALGORITHM` asks for is taken
//! wherever it exists.

use shmem_core::system::CHUNK_BYTES;
use shmem_launch::env::{CollectiveFamily, CollectiveWay as Way, CollectiveWays};

use super::partial_results::values_and_bytes;
use super::payload::{GRAIN, Portion, room_of_each, room_of_one};
use super::schedule::{Cut, Pairwise, Radices, Round};
use crate::group::Team;
use crate::members::most_values;
use crate::model::Model;

/// What the choice depends on of a team, which all of its members know alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TeamShape {
    pub(crate) members: usize,
    /// How many nodes have members.
    pub(crate) nodes: usize,
    /// Whether ranks follow each other node by node.
    pub(crate) in_order: bool,
    /// Whether members on a node need each other's cores.
    pub(crate) shares_cores: bool,
    /// Whether it has windows: the world has, and other teams if they find room.
    pub(crate) has_windows: bool,
    /// What messages between nodes cost.
    pub(crate) model: Model,
}

/// From whom to whom data go, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// From one to all: bytes of the root.
    Broadcast(usize),
    /// From all, combined by the tree, to all: bytes of each member.
    Reduction(usize),
    /// From all, combined in any order, to all: bytes of each member.
    ExactReduction(usize),
    /// From all to all: bytes of each member.
    Fcollect(usize),
    /// From each, a part for each: bytes of a part.
    Alltoall(usize),
}

/// Least bytes for which a direct form is faster than two copies.
const LEAST_DIRECT: usize = 1 << 10;

/// Least bytes that a member gives to others for which there is a ring instead of a meeting for each piece.
const LEAST_OF_RING: usize = 16 << 10;

/// The same of a broadcast where members share cores: each chunk wakes all of them.
const LEAST_OF_SHARED_RING: usize = 512 << 10;

/// From how many members and bytes on slices are faster. What they save is reading and combining; what they cost is that
/// one more chunk is waited for.
const LEAST_SLICED: [(usize, usize); 2] = [(2, 32 << 10), (5, 16 << 10)];

impl Team {
    /// Which way data go, of the members of this team: whether they lie at one place of all members, and what is written is apart from
    /// what others read.
    pub(crate) fn way(&self, pattern: Pattern, symmetric: bool) -> Way {
        TeamShape::of(self).way(self.job.settings.collective_ways, pattern, symmetric)
    }
}

impl TeamShape {
    /// Most members of a direct reduction.
    pub(crate) const MOST_DIRECT: usize = 127;

    pub(crate) fn of(team: &Team) -> Self {
        let (members, nodes) = (team.size(), team.node_count());
        Self {
            members,
            nodes,
            in_order: nodes == 1 || team.layout().is_in_order(),
            shares_cores: !team.job.site.has_cores,
            // A team that has not looked for room yet will do so when windows would be the way.
            has_windows: nodes > 1 && team.has_windows() != Some(false),
            model: team.job.network.model,
        }
    }

    /// Which way data go: the one that is asked for, if there is such a one, or the first that there is, and that pays.
    pub(crate) fn way(self, asked: CollectiveWays, pattern: Pattern, symmetric: bool) -> Way {
        if let Some(way) = asked.of(pattern.family()).filter(|way| self.has(*way, pattern, symmetric)) {
            return way;
        }
        let is_taken = |way: &Way| self.has(*way, pattern, symmetric) && self.pays(*way, pattern, symmetric);
        [Way::Direct, Way::Rings, Way::Windows].into_iter().find(is_taken).unwrap_or(Way::Meetings)
    }

    /// Whether data can go a way, however many there are. Meetings bring all, and of nothing they are what there is to do.
    pub(crate) fn has(self, way: Way, pattern: Pattern, symmetric: bool) -> bool {
        let is_near = self.nodes == 1 && self.members > 1;
        let is_there = match (way, pattern) {
            (Way::Meetings, _) => return true,
            (Way::Rings, _) => is_near,
            (Way::Direct, Pattern::Reduction(_) | Pattern::ExactReduction(_))
                if self.members > Self::MOST_DIRECT =>
            {
                false
            }
            (Way::Direct, _) => is_near && symmetric,
            (Way::Windows, Pattern::Alltoall(_)) if self.members > Pairwise::MOST_RANKS => false,
            (Way::Windows, _) => self.has_windows,
        };
        is_there && pattern.bytes() > 0
    }

    /// Whether a way that there is takes no longer than those behind it.
    fn pays(self, way: Way, pattern: Pattern, symmetric: bool) -> bool {
        let others = self.members - 1;
        match (way, pattern) {
            (Way::Meetings, _) => true,
            (Way::Direct, _) => pattern.bytes() >= LEAST_DIRECT,
            (Way::Rings, Pattern::Broadcast(bytes)) if self.shares_cores => bytes >= LEAST_OF_SHARED_RING,
            // Each would be woken by each.
            (Way::Rings, Pattern::Fcollect(_)) if self.shares_cores => false,
            (Way::Rings, Pattern::Broadcast(bytes) | Pattern::Fcollect(bytes)) => bytes >= LEAST_OF_RING,
            (Way::Rings, Pattern::Alltoall(part)) => part.saturating_mul(others) >= LEAST_OF_RING,
            (Way::Rings, Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes)) => {
                LEAST_SLICED.into_iter().any(|(members, least)| self.members >= members && bytes >= least)
            }
            (Way::Windows, _) => {
                self.time_in_windows(pattern, symmetric) < self.time_in_meetings(pattern, symmetric)
            }
        }
    }

    /// Bytes of a ring's chunk for each other member. None, of very many.
    pub(crate) fn room_of_chunk(self) -> usize {
        CHUNK_BYTES / (self.members - 1).max(1) / GRAIN * GRAIN
    }
}

impl Pattern {
    /// A reduction of so many bytes, of numbers that can be combined in any order or not.
    pub(super) fn reduction(bytes: usize, is_exact: bool) -> Self {
        if is_exact { Self::ExactReduction(bytes) } else { Self::Reduction(bytes) }
    }

    /// How data are cut that go through windows of so many members, or past them.
    pub(crate) fn cut(self, members: usize, is_symmetric: bool) -> Cut {
        let is_combined = matches!(self, Self::Reduction(_) | Self::ExactReduction(_));
        // Between two nobody passes anything on, nor in an alltoall. What is combined comes to a window, wherever it goes from there.
        let pass_on = members > 2 && !matches!(self, Self::Alltoall(_));
        Cut::of(self.stream(members), is_symmetric && !is_combined, pass_on)
    }

    /// Bytes that come to a member along one way.
    pub(super) fn stream(self, members: usize) -> usize {
        match self {
            Self::Reduction(bytes) | Self::ExactReduction(bytes) => bytes / Radices::of(members).first(),
            _ => self.bytes(),
        }
    }

    fn family(self) -> CollectiveFamily {
        match self {
            Self::Broadcast(_) => CollectiveFamily::Broadcast,
            Self::Reduction(_) | Self::ExactReduction(_) => CollectiveFamily::Reduce,
            Self::Fcollect(_) => CollectiveFamily::Fcollect,
            Self::Alltoall(_) => CollectiveFamily::Alltoall,
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Broadcast(bytes)
            | Self::Reduction(bytes)
            | Self::ExactReduction(bytes)
            | Self::Fcollect(bytes)
            | Self::Alltoall(bytes) => bytes,
        }
    }
}

// Estimated times. The exact counts of each way are known (`counts` makes them), but computing them takes longer than the collective.
// These are their leading terms: dependent messages, other messages of a node, and bytes of a node, for nodes of equal size. They decide
// between two ways, so an error matters only where both take nearly the same time. A test compares the choice with the one that exact
// counts would make.

/// Nanoseconds in which a core copies a byte beyond its own caches, and bytes that stay in these.
const COPY: f64 = 0.13;
const CACHED: usize = 256 << 10;

/// What a node sends, and waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Load {
    /// Messages one behind the other.
    rounds: usize,
    /// Messages besides, which wait for no other.
    messages: usize,
    bytes: f64,
}

impl TeamShape {
    /// Nanoseconds, with the words of meetings.
    pub(super) fn time_in_meetings(self, pattern: Pattern, symmetric: bool) -> f64 {
        let load = match pattern {
            Pattern::Broadcast(bytes) => {
                self.met(bytes.div_ceil(self.room()), bytes as f64 * self.share_of_others())
            }
            Pattern::ExactReduction(bytes) => self.added_up(bytes, true),
            Pattern::Reduction(bytes) if self.in_order => self.added_up(bytes, false),
            Pattern::Fcollect(bytes) | Pattern::Reduction(bytes) => self.gathered(bytes),
            Pattern::Alltoall(part) => self.parted(part),
        };
        let copies = match pattern {
            // Of an object, there and back.
            Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes) if symmetric => {
                2.0 * bytes.saturating_sub(CACHED) as f64
            }
            _ => 0.0,
        };
        self.time(load) + copies * COPY
    }

    /// Nanoseconds, by windows, or past them.
    pub(super) fn time_in_windows(self, pattern: Pattern, symmetric: bool) -> f64 {
        let (members, others, nodes) = (self.members, self.members - 1, self.nodes);
        let chunks = |bytes: usize| bytes.div_ceil(pattern.cut(members, symmetric).most);
        let load = match pattern {
            Pattern::Broadcast(bytes) => {
                // Of the edges of two trees some are inside of nodes.
                let far = if self.each() == 1 || nodes == 2 { 1 } else { 2 };
                let hops = nodes.ilog2() as usize + 1;
                let messages = (far * chunks(bytes)).saturating_sub(hops);
                Load { rounds: hops, messages, bytes: far as f64 * bytes as f64 * self.share_of_others() }
            }
            Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes) => self.dealt(bytes),
            Pattern::Fcollect(bytes) => {
                let (hops, chunks) = (nodes - 1, others * chunks(bytes));
                Load { rounds: hops, messages: chunks - hops, bytes: others as f64 * bytes as f64 }
            }
            Pattern::Alltoall(part) => {
                let parts = self.parts_of_a_node();
                let messages = (parts * chunks(part)).saturating_sub(1);
                Load { rounds: 1, messages, bytes: parts as f64 * part as f64 }
            }
        };
        self.time(Load { rounds: self.rounds() + load.rounds, ..load })
    }

    fn time(self, Load { rounds, messages, bytes }: Load) -> f64 {
        let model = self.model;
        rounds as f64 * model.alpha / 2.0 + messages as f64 * model.gap + bytes * model.beta
    }

    fn met(self, meetings: usize, bytes: f64) -> Load {
        Load { rounds: meetings * self.rounds(), messages: 0, bytes }
    }

    /// A sum: one value stands for all that come in a round, or their cover.
    fn added_up(self, bytes: usize, exact: bool) -> Load {
        let values = |nodes: usize| if exact { 1 } else { most_values(nodes, self.each()) };
        let (arriving, most) = values_and_bytes(self.nodes, self.each() > 1, values);
        // Room is for the most that there may be; some two thirds of that is sent.
        let sent = if exact { arriving as f64 } else { arriving as f64 / 1.5 };
        self.met(bytes.div_ceil(most.max(1)), sent * bytes as f64)
    }

    fn gathered(self, bytes: usize) -> Load {
        let (most, at_once) = room_of_each(self.members, self.nodes);
        let meetings = bytes.div_ceil(most) * self.members.div_ceil(at_once);
        self.met(meetings, (self.members - self.each()) as f64 * bytes as f64)
    }

    /// Parts for the members of other nodes, which go straight, and in meetings where they are for some nodes at a time.
    fn parted(self, part: usize) -> Load {
        let mut load = Load { bytes: self.parts_of_a_node() as f64 * part as f64, ..Load::default() };
        for portion in Portion::all_of(self.nodes, self.each(), part) {
            let messages = portion.distances().len();
            // Messages to all other nodes are the meeting.
            let is_meeting = messages + 1 == self.nodes;
            load.rounds += if is_meeting { 1 } else { self.rounds() };
            load.messages += messages - usize::from(is_meeting);
        }
        load
    }

    /// A reduction by levels: those of the members of a node are stores.
    fn dealt(self, bytes: usize) -> Load {
        let radices = Radices::of(self.members);
        let most = Pattern::Reduction(bytes).cut(self.members, false).most / GRAIN * GRAIN;
        let blocks = bytes.div_ceil(most * radices.first());
        let (mut joined, mut far) = (1, Load::default());
        for radix in radices.each() {
            joined *= radix;
            if joined > self.each() {
                far.rounds += 2;
                far.messages += 2 * (radix - 1) * self.each();
            }
        }
        let messages = (blocks * far.messages).saturating_sub(far.rounds);
        Load { rounds: far.rounds, messages, bytes: 2.0 * bytes as f64 * self.share_of_others() }
    }

    /// How much of what all have other nodes have.
    fn share_of_others(self) -> f64 {
        (self.nodes - 1) as f64 / self.nodes as f64
    }

    /// Parts of an alltoall that leave a node.
    fn parts_of_a_node(self) -> usize {
        self.each() * (self.members - self.each())
    }

    fn rounds(self) -> usize {
        Round::all(self.nodes).count()
    }

    /// Members of a node.
    fn each(self) -> usize {
        self.members.div_ceil(self.nodes)
    }

    /// Bytes of one member at a meeting.
    fn room(self) -> usize {
        room_of_one(self.members, self.nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(members: usize, nodes: usize) -> TeamShape {
        let model = Model { alpha: 17_000.0, gap: 8_000.0, beta: 0.25 };
        TeamShape { members, nodes, in_order: true, shares_cores: false, has_windows: nodes > 1, model }
    }

    #[test]
    fn each_way_is_taken_where_it_is_said_to_be() {
        const PRIVATE: bool = false;
        const SYMMETRIC: bool = true;
        use Pattern::{Alltoall, Broadcast, Fcollect, Reduction};
        use Way::{Direct, Meetings, Rings, Windows};
        let shared = TeamShape { shares_cores: true, ..of(16, 1) };
        let costly = TeamShape { model: Model { gap: 80_000.0, ..of(4, 4).model }, ..of(64, 64) };
        let without_windows = TeamShape { has_windows: false, ..of(4, 2) };
        for (shape, symmetric, pattern, way) in [
            // From so many bytes on, rings.
            (of(2, 1), PRIVATE, Broadcast(16 << 10), Rings),
            (of(2, 1), PRIVATE, Broadcast((16 << 10) - 1), Meetings),
            (of(2, 1), PRIVATE, Reduction(32 << 10), Rings),
            (of(2, 1), PRIVATE, Reduction((32 << 10) - 1), Meetings),
            (of(5, 1), PRIVATE, Reduction(16 << 10), Rings),
            (of(5, 1), PRIVATE, Reduction((16 << 10) - 1), Meetings),
            (of(3, 1), PRIVATE, Fcollect(16 << 10), Rings),
            (of(3, 1), PRIVATE, Fcollect((16 << 10) - 1), Meetings),
            (of(3, 1), PRIVATE, Alltoall(8 << 10), Rings),
            (of(3, 1), PRIVATE, Alltoall((8 << 10) - 1), Meetings),
            (of(1, 1), PRIVATE, Reduction(1 << 30), Meetings),
            (of(16, 1), PRIVATE, Reduction(8), Meetings),
            (of(1000, 1), PRIVATE, Reduction(1 << 20), Rings),
            // Who shares cores is woken by a meeting, and not by each other one.
            (shared, PRIVATE, Broadcast(64 << 10), Meetings),
            (shared, PRIVATE, Broadcast(1 << 20), Rings),
            (shared, PRIVATE, Fcollect(1 << 20), Meetings),
            (shared, PRIVATE, Reduction(1 << 20), Rings),
            // Where messages cost more, meetings; and where there are no windows, one goes nowhere, or each other has a word.
            (of(64, 64), PRIVATE, Reduction(16 << 10), Windows),
            (costly, PRIVATE, Reduction(16 << 10), Meetings),
            (without_windows, PRIVATE, Broadcast(1 << 20), Meetings),
            (of(1, 1), PRIVATE, Reduction(1 << 20), Meetings),
            (of(7, 7), PRIVATE, Reduction(1 << 20), Windows),
            (of(11, 11), PRIVATE, Reduction(1 << 20), Windows),
            (of(1025, 1025), PRIVATE, Alltoall(1 << 20), Windows),
            (of(1026, 1026), PRIVATE, Alltoall(1 << 20), Meetings),
            (of(2, 2), PRIVATE, Reduction(512 << 10), Meetings),
            (of(2, 2), PRIVATE, Reduction(1 << 20), Windows),
            // What lies at one place is reached there.
            (of(2, 1), SYMMETRIC, Reduction(1 << 10), Direct),
            (of(2, 1), SYMMETRIC, Reduction(1023), Meetings),
            (of(1, 1), SYMMETRIC, Broadcast(1 << 20), Meetings),
            (of(127, 1), SYMMETRIC, Reduction(1 << 20), Direct),
            (of(128, 1), SYMMETRIC, Reduction(1 << 20), Rings),
            (of(128, 1), SYMMETRIC, Fcollect(1 << 20), Direct),
            // Meetings would copy it from the object and back, which takes long where it fits no cache.
            (of(2, 2), SYMMETRIC, Broadcast(1 << 20), Windows),
            (of(2, 2), SYMMETRIC, Reduction(512 << 10), Windows),
            (of(2, 2), SYMMETRIC, Reduction(64 << 10), Meetings),
        ] {
            let found = shape.way(CollectiveWays::default(), pattern, symmetric);
            assert_eq!(found, way, "{pattern:?}, {symmetric}, of {shape:?}");
        }
        // What is asked for is taken where there is such a way, and for a family alone.
        let asked: CollectiveWays = "fcollect:rings,reduce:direct".parse().unwrap();
        let taken = |shape: TeamShape, pattern, symmetric| shape.way(asked, pattern, symmetric);
        assert_eq!(taken(shared, Fcollect(8), PRIVATE), Rings);
        assert_eq!([PRIVATE, SYMMETRIC].map(|form| taken(of(4, 1), Reduction(8), form)), [Meetings, Direct]);
        let otherwise = [(of(2, 2), Fcollect(8)), (of(4, 1), Fcollect(0)), (of(4, 1), Alltoall(8))];
        assert_eq!(otherwise.map(|(shape, pattern)| taken(shape, pattern, PRIVATE)), [Meetings; 3]);
    }
}
