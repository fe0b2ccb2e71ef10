//! Estimates how long a collective's data take between nodes.
//!
//! The exact counts of each way are known (`scale` makes them, and tests compare), but computing them takes longer than the collective.
//! These are their leading terms: dependent messages, other messages of a node, and bytes of a node, for nodes of equal size. They
//! decide between two [ways](super::choose), so an error matters only where both take nearly the same time. A test compares the choice with
//! the one that exact counts would make.

use shmem_core::system::{DESK_BYTES, MIRROR_BYTES, SCRATCH_BYTES};

use super::choose::{Form, Pattern, Shape};
use super::layout::most_values;
use super::payload::GRAIN;
use super::schedule::{Cut, Radices, Round};

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

impl Shape {
    /// Nanoseconds, with the words of meetings.
    pub(super) fn time_in_meetings(self, pattern: Pattern, form: Form) -> f64 {
        let load = match pattern {
            Pattern::Broadcast(bytes) => {
                self.met(bytes.div_ceil(self.room()), bytes as f64 * self.share_of_others())
            }
            Pattern::ExactReduction(bytes) => self.added_up(bytes, true),
            Pattern::Reduction(bytes) if self.in_order => self.added_up(bytes, false),
            Pattern::Fcollect(bytes) | Pattern::Reduction(bytes) => self.gathered(bytes),
            Pattern::Alltoall(part) => self.parted(part),
        };
        let copies = match (pattern, form) {
            // Of an object, there and back.
            (Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes), Form::Symmetric) => {
                2.0 * bytes.saturating_sub(CACHED) as f64
            }
            _ => 0.0,
        };
        self.time(load) + copies * COPY
    }

    /// Nanoseconds, by windows, or past them.
    pub(super) fn time_in_windows(self, pattern: Pattern, form: Form) -> f64 {
        let (members, others, nodes) = (self.members, self.members - 1, self.nodes);
        let chunks = |bytes: usize| bytes.div_ceil(pattern.cut(members, form == Form::Symmetric).most);
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
                Load {
                    rounds: 1,
                    messages: (parts * chunks(part)).saturating_sub(1),
                    bytes: parts as f64 * part as f64,
                }
            }
        };
        self.time(Load { rounds: self.rounds() + load.rounds, ..load })
    }

    fn time(self, Load { rounds, messages, bytes }: Load) -> f64 {
        let model = self.model;
        rounds as f64 * model.alpha / 2.0 + messages as f64 * model.gap + bytes * model.beta
    }

    /// So many meetings, in which a node sends so many bytes.
    fn met(self, meetings: usize, bytes: f64) -> Load {
        Load { rounds: meetings * self.rounds(), messages: 0, bytes }
    }

    /// A sum: one value stands for all that come in a round, or their cover.
    fn added_up(self, bytes: usize, exact: bool) -> Load {
        let values = |nodes: usize| if exact { 1 } else { most_values(nodes, self.each()) };
        let arriving: usize = Round::all(self.nodes).map(|round| values(round.distance)).sum();
        let own = if self.each() == 1 { 0 } else { values(1) };
        let made = own + if self.rounds() > 1 { 4 } else { 1 } * values(self.nodes - 1);
        let most = (MIRROR_BYTES / arriving).min(DESK_BYTES / made) / GRAIN * GRAIN;
        // Room is for the most that there may be; some two thirds of that is sent.
        let sent = if exact { arriving as f64 } else { arriving as f64 / 1.5 };
        self.met(bytes.div_ceil(most.min(self.room()).max(1)), sent * bytes as f64)
    }

    /// What all have to all.
    fn gathered(self, bytes: usize) -> Load {
        let (most, at_once) = match MIRROR_BYTES / self.members / GRAIN * GRAIN {
            0 => (GRAIN, MIRROR_BYTES / GRAIN),
            most => (most.min(self.room()), self.members),
        };
        let meetings = bytes.div_ceil(most) * self.members.div_ceil(at_once);
        self.met(meetings, (self.members - self.each()) as f64 * bytes as f64)
    }

    /// Parts for the members of other nodes, which go straight, and in meetings where they are for some nodes at a time.
    fn parted(self, part: usize) -> Load {
        let (each, nodes) = (self.each(), self.nodes);
        let room = if each == 1 { MIRROR_BYTES } else { SCRATCH_BYTES.min(MIRROR_BYTES / each) };
        let piece = part.clamp(1, room);
        let slots = (room / piece).clamp(1, each);
        let others = nodes - usize::from(each == 1);
        let width = if slots < each { 1 } else { (room / slots / piece).clamp(1, others) };
        let times = part.div_ceil(piece) * each.div_ceil(slots);
        let turns = others.div_ceil(width);
        let (rounds, messages) = if turns == 1 { (1, nodes - 2) } else { (turns * self.rounds(), nodes - 1) };
        let bytes = self.parts_of_a_node() as f64 * part as f64;
        Load { rounds: times * rounds, messages: times * messages, bytes }
    }

    /// A reduction by levels: those of the members of a node are stores.
    fn dealt(self, bytes: usize) -> Load {
        let radices = Radices::of(self.members);
        let first = radices.each().first().copied().unwrap_or(1);
        let blocks =
            bytes.div_ceil(Cut::in_windows(bytes / first, self.members > 2).most / GRAIN * GRAIN * first);
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

    /// Rounds of a meeting.
    fn rounds(self) -> usize {
        Round::all(self.nodes).count()
    }

    /// Members of a node.
    fn each(self) -> usize {
        self.members.div_ceil(self.nodes)
    }

    /// Bytes of a member at a meeting.
    fn room(self) -> usize {
        if self.each() == 1 { MIRROR_BYTES } else { SCRATCH_BYTES }
    }
}
