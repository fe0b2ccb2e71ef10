//! Chooses how a collective's data travel: by one of four *ways* ([`collective`](super)), as a pure function of values that all
//! members know.
//!
//! Every way gives the same result, bit for bit, so the choice affects time alone. On a node the choice compares lengths with
//! measured thresholds; between nodes it compares times, estimated from the provider's latency, gap and bandwidth ([`Model`]).
//! `SHMEM_COLLECTIVE_ALGORITHM` overrides the choice wherever the requested way exists.

use shmem_core::system_area::CHUNK_BYTES;
use shmem_launch::env::{CollectiveFamily, CollectiveWay as Way, CollectiveWays};

use super::barrier_payload::{GRAIN, Portion, room_of_each, room_of_one};
use super::barrier_reduction::values_and_bytes;
use super::schedule::{Cut, Pairwise, Radices, Round};
use crate::cost_model::Model;
use crate::group::Team;
use crate::members::most_values;

/// The properties of a team on which the choice depends, equal on all members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TeamShape {
    pub(crate) members: usize,
    /// Number of nodes with members.
    pub(crate) nodes: usize,
    /// Whether ranks are consecutive on each node.
    pub(crate) in_order: bool,
    /// Whether nodes have fewer cores than PEs.
    pub(crate) shares_cores: bool,
    /// Whether the team has several nodes, and has [windows](super) (receive buffers for chunks) or may still allocate them.
    pub(crate) has_windows: bool,
    pub(crate) model: Model,
}

/// The communication pattern of a collective, with its number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Broadcast: bytes of the root's data.
    Broadcast(usize),
    /// Reduction in the order of the tree: bytes of each member's operand.
    Reduction(usize),
    /// Reduction in any order: bytes of each member's operand.
    ExactReduction(usize),
    /// Allgather: bytes of each member's data.
    Fcollect(usize),
    /// Alltoall: bytes of the part that each member sends to each member.
    Alltoall(usize),
}

/// Minimum bytes for which the direct way, with one copy, is faster than a way with two copies.
const LEAST_DIRECT: usize = 1 << 10;

/// Minimum bytes per member for which rings are faster than a barrier for each piece.
const LEAST_OF_RING: usize = 16 << 10;

/// Minimum bytes of a broadcast by rings where PEs share cores. It is large because each chunk wakes all members.
const LEAST_OF_SHARED_RING: usize = 512 << 10;

/// (members, bytes) from which a reduce-scatter by rings is faster than a barrier for each piece: each member reads and combines
/// less, but waits for one more chunk.
const LEAST_SLICED: [(usize, usize); 2] = [(2, 32 << 10), (5, 16 << 10)];

impl Team {
    /// Returns how the data travel. `symmetric`: the data are the same symmetric objects on all members.
    pub(crate) fn way(&self, pattern: Pattern, symmetric: bool) -> Way {
        TeamShape::of(self).way(self.job.settings.collective_ways, pattern, symmetric)
    }
}

impl TeamShape {
    /// Maximum number of members in a direct reduction: its stack buffer then has a cache line for every operand and for the
    /// result.
    pub(crate) const MOST_DIRECT: usize = 127;

    pub(crate) fn of(team: &Team) -> Self {
        let (members, nodes) = (team.size(), team.node_count());
        Self {
            members,
            nodes,
            in_order: nodes == 1 || team.layout().is_in_order(),
            shares_cores: !team.job.site.has_cores,
            // A team that has not yet tried to allocate windows tries when this choice needs them.
            has_windows: nodes > 1 && team.has_windows() != Some(false),
            model: team.job.network.model,
        }
    }

    /// Returns the requested way, if it exists. Otherwise returns the first of direct, rings and windows that exists and
    /// [`pays`](Self::pays), or barriers.
    pub(crate) fn way(self, asked: CollectiveWays, pattern: Pattern, symmetric: bool) -> Way {
        if let Some(way) = asked.of(pattern.family()).filter(|way| self.has(*way, pattern, symmetric)) {
            return way;
        }
        let is_taken = |way: &Way| self.has(*way, pattern, symmetric) && self.pays(*way, pattern, symmetric);
        [Way::Direct, Way::Rings, Way::Windows].into_iter().find(is_taken).unwrap_or(Way::Barriers)
    }

    /// Whether a way exists for a pattern. [`Way::Barriers`] exists for any data, and is the only way for 0 bytes.
    pub(crate) fn has(self, way: Way, pattern: Pattern, symmetric: bool) -> bool {
        let is_near = self.nodes == 1 && self.members > 1;
        let is_there = match (way, pattern) {
            (Way::Barriers, _) => return true,
            (Way::Rings, Pattern::Broadcast(_) | Pattern::Fcollect(_)) => is_near,
            (Way::Rings, _) => is_near && self.room_of_chunk() > 0,
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

    /// Whether an existing way is faster than the ways that [`way`](Self::way) tries after it.
    fn pays(self, way: Way, pattern: Pattern, symmetric: bool) -> bool {
        let others = self.members - 1;
        match (way, pattern) {
            (Way::Barriers, _) => true,
            (Way::Direct, _) => pattern.bytes() >= LEAST_DIRECT,
            (Way::Rings, Pattern::Broadcast(bytes)) if self.shares_cores => bytes >= LEAST_OF_SHARED_RING,
            // Slower than barriers, because each member would wake every other member.
            (Way::Rings, Pattern::Fcollect(_)) if self.shares_cores => false,
            (Way::Rings, Pattern::Broadcast(bytes) | Pattern::Fcollect(bytes)) => bytes >= LEAST_OF_RING,
            (Way::Rings, Pattern::Alltoall(part)) => part.saturating_mul(others) >= LEAST_OF_RING,
            (Way::Rings, Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes)) => {
                LEAST_SLICED.into_iter().any(|(members, least)| self.members >= members && bytes >= least)
            }
            (Way::Windows, _) => {
                self.time_in_windows(pattern, symmetric) < self.time_in_barriers(pattern, symmetric)
            }
        }
    }

    /// Returns how many bytes of a ring's chunk each other member gets; 0 in very large teams.
    pub(crate) fn room_of_chunk(self) -> usize {
        CHUNK_BYTES / (self.members - 1).max(1) / GRAIN * GRAIN
    }
}

impl Pattern {
    pub(super) fn reduction(bytes: usize, is_exact: bool) -> Self {
        if is_exact { Self::ExactReduction(bytes) } else { Self::Reduction(bytes) }
    }

    /// Returns how data are cut into chunks for windows or, if the data are symmetric, for the destination object.
    pub(crate) fn cut(self, members: usize, is_symmetric: bool) -> Cut {
        let is_combined = matches!(self, Self::Reduction(_) | Self::ExactReduction(_));
        // With two members, and in an alltoall, no receiver forwards data. Operands of reductions always arrive in windows.
        let pass_on = members > 2 && !matches!(self, Self::Alltoall(_));
        Cut::of(self.stream(members), is_symmetric && !is_combined, pass_on)
    }

    /// Returns the number of bytes that are cut into chunks: in a reduction the slice of each operand that one member
    /// combines in the first exchange, otherwise all bytes of the pattern.
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

// Estimated times use only the leading terms of the exact counts (`message_counts`), whose computation would take longer than the
// collective. An error matters only where two ways take nearly the same time.

/// Nanoseconds to copy one byte where the data exceed a core's caches, which have `CACHED` bytes.
const COPY: f64 = 0.13;
const CACHED: usize = 256 << 10;

/// The messages and bytes that one node sends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Load {
    /// Number of messages on the critical path: each waits for the one before.
    rounds: usize,
    /// Number of messages off the critical path.
    messages: usize,
    bytes: f64,
}

impl TeamShape {
    /// Returns the estimated nanoseconds if data travel in the messages of barriers ([`Way::Barriers`]).
    pub(super) fn time_in_barriers(self, pattern: Pattern, symmetric: bool) -> f64 {
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
            // A symmetric object is copied to private memory and back.
            Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes) if symmetric => {
                2.0 * bytes.saturating_sub(CACHED) as f64
            }
            _ => 0.0,
        };
        self.time(load) + copies * COPY
    }

    /// Returns the estimated nanoseconds if data travel through windows, or directly into symmetric objects ([`Way::Windows`]).
    pub(super) fn time_in_windows(self, pattern: Pattern, symmetric: bool) -> f64 {
        let (members, others, nodes) = (self.members, self.members - 1, self.nodes);
        let chunks = |bytes: usize| bytes.div_ceil(pattern.cut(members, symmetric).most);
        let load = match pattern {
            Pattern::Broadcast(bytes) => {
                // Number of copies of a chunk that one node sends. Edges of both trees may leave a node with several members.
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

    fn met(self, barriers: usize, bytes: f64) -> Load {
        Load { rounds: barriers * self.rounds(), messages: 0, bytes }
    }

    /// Returns the load of a reduction by partial results.
    fn added_up(self, bytes: usize, exact: bool) -> Load {
        let values = |nodes: usize| if exact { 1 } else { most_values(nodes, self.each()) };
        let (arriving, most) = values_and_bytes(self.nodes, self.each() > 1, values);
        // Buffers have space for the largest cover (partial results of a set of ranks); an average cover has about two thirds of
        // its values.
        let sent = if exact { arriving as f64 } else { arriving as f64 / 1.5 };
        self.met(bytes.div_ceil(most.max(1)), sent * bytes as f64)
    }

    fn gathered(self, bytes: usize) -> Load {
        let (most, at_once) = room_of_each(self.members, self.nodes);
        let barriers = bytes.div_ceil(most) * self.members.div_ceil(at_once);
        self.met(barriers, (self.members - self.each()) as f64 * bytes as f64)
    }

    /// Returns the load of an alltoall by straight messages, with a barrier for each portion.
    fn parted(self, part: usize) -> Load {
        let mut load = Load { bytes: self.parts_of_a_node() as f64 * part as f64, ..Load::default() };
        for portion in Portion::all_of(self.nodes, self.each(), part) {
            let messages = portion.distances().len();
            // Straight messages to all other nodes replace the dissemination rounds.
            let is_barrier = messages + 1 == self.nodes;
            load.rounds += if is_barrier { 1 } else { self.rounds() };
            load.messages += messages - usize::from(is_barrier);
        }
        load
    }

    /// Returns the load of recursive halving and doubling. Levels inside a node send no messages.
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

    fn share_of_others(self) -> f64 {
        (self.nodes - 1) as f64 / self.nodes as f64
    }

    fn parts_of_a_node(self) -> usize {
        self.each() * (self.members - self.each())
    }

    fn rounds(self) -> usize {
        Round::all(self.nodes).count()
    }

    /// Returns the number of members per node, rounded up.
    fn each(self) -> usize {
        self.members.div_ceil(self.nodes)
    }

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
        use Way::{Barriers, Direct, Rings, Windows};
        let shared = TeamShape { shares_cores: true, ..of(16, 1) };
        let costly = TeamShape { model: Model { gap: 80_000.0, ..of(4, 4).model }, ..of(64, 64) };
        let without_windows = TeamShape { has_windows: false, ..of(4, 2) };
        for (shape, symmetric, pattern, way) in [
            // From so many bytes on, rings.
            (of(2, 1), PRIVATE, Broadcast(16 << 10), Rings),
            (of(2, 1), PRIVATE, Broadcast((16 << 10) - 1), Barriers),
            (of(5, 1), PRIVATE, Reduction(16 << 10), Rings),
            (of(5, 1), PRIVATE, Reduction((16 << 10) - 1), Barriers),
            (of(1000, 1), PRIVATE, Reduction(1 << 20), Rings),
            // Where PEs share cores, barriers, because in rings each member would wake every other member.
            (shared, PRIVATE, Broadcast(64 << 10), Barriers),
            (shared, PRIVATE, Broadcast(1 << 20), Rings),
            // Barriers where messages cost more, without windows, for one member, and for more ranks than credit counters.
            (of(64, 64), PRIVATE, Reduction(16 << 10), Windows),
            (costly, PRIVATE, Reduction(16 << 10), Barriers),
            (without_windows, PRIVATE, Broadcast(1 << 20), Barriers),
            (of(1, 1), PRIVATE, Reduction(1 << 20), Barriers),
            (of(7, 7), PRIVATE, Reduction(1 << 20), Windows),
            (of(1025, 1025), PRIVATE, Alltoall(1 << 20), Windows),
            (of(1026, 1026), PRIVATE, Alltoall(1 << 20), Barriers),
            (of(2, 2), PRIVATE, Reduction(512 << 10), Barriers),
            (of(2, 2), PRIVATE, Reduction(1 << 20), Windows),
            // What lies at one place is reached there.
            (of(2, 1), SYMMETRIC, Reduction(1 << 10), Direct),
            (of(2, 1), SYMMETRIC, Reduction(1023), Barriers),
            (of(1, 1), SYMMETRIC, Broadcast(1 << 20), Barriers),
            (of(127, 1), SYMMETRIC, Reduction(1 << 20), Direct),
            (of(128, 1), SYMMETRIC, Reduction(1 << 20), Rings),
            (of(128, 1), SYMMETRIC, Fcollect(1 << 20), Direct),
            // Barriers would copy it from the object and back, which takes long where it fits no cache.
            (of(2, 2), SYMMETRIC, Reduction(512 << 10), Windows),
            (of(2, 2), SYMMETRIC, Reduction(64 << 10), Barriers),
        ] {
            let found = shape.way(CollectiveWays::default(), pattern, symmetric);
            assert_eq!(found, way, "{pattern:?}, {symmetric}, of {shape:?}");
        }
        // What is asked for is taken where there is such a way, and for a family alone.
        let asked: CollectiveWays = "fcollect:rings,reduce:direct".parse().unwrap();
        let taken = |shape: TeamShape, pattern, symmetric| shape.way(asked, pattern, symmetric);
        assert_eq!(taken(shared, Fcollect(8), PRIVATE), Rings);
        assert_eq!([PRIVATE, SYMMETRIC].map(|form| taken(of(4, 1), Reduction(8), form)), [Barriers, Direct]);
        let otherwise = [(of(2, 2), Fcollect(8)), (of(4, 1), Fcollect(0)), (of(4, 1), Alltoall(8))];
        assert_eq!(otherwise.map(|(shape, pattern)| taken(shape, pattern, PRIVATE)), [Barriers; 3]);
    }
}
