//! How start-up and collectives grow with a job: messages and bytes by formula, times by a model.
//!
//! The formulas are those of the algorithms, and tests count that they are right (`tests/scale.rs`). Times
//! are something else: [`Cost::time`] puts what was counted and the three numbers of a
//! [`Model`], measured between two PEs, into an equation. Nothing is extrapolated from times of jobs
//! that share cores.

use shmem::World;
pub use shmem::bootstrap::Exchanged;
use shmem::thread::ThreadLevel;
use shmem_core::columns::Columns;
use shmem_core::system::{MIRROR_BYTES, SCRATCH_BYTES};

use super::fabric::model::Model;
use crate::measure::collective::{CollectiveCase, Operation};

/// Contributions end at multiples of it.
const GRAIN: usize = 16;

/// A job: nodes that have the same number of PEs, which have their numbers node by node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of nodes.
    pub nodes: usize,
    /// PEs on each.
    pub per_node: usize,
}

/// A collective, with the bytes of each PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// `barrier_all`.
    Barrier,
    /// `broadcast`: bytes of the root.
    Broadcast(usize),
    /// `sum`: bytes of each member.
    Sum(usize),
    /// `fcollect`: bytes of each member.
    Fcollect(usize),
    /// `alltoall`: bytes for each pair of members.
    Alltoall(usize),
}

impl From<CollectiveCase> for Collective {
    fn from(CollectiveCase { operation, bytes }: CollectiveCase) -> Self {
        match operation {
            Operation::Barrier => Self::Barrier,
            Operation::Broadcast => Self::Broadcast(bytes),
            Operation::Sum => Self::Sum(bytes),
            Operation::Fcollect => Self::Fcollect(bytes),
            Operation::Alltoall => Self::Alltoall(bytes),
        }
    }
}

/// What a collective costs between nodes, all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Messages that follow each other: rounds of the dissemination.
    pub rounds: u64,
    /// Messages in these, and those that go straight to a node.
    pub messages: u64,
    /// Bytes of all, words of the rounds included.
    pub bytes: u64,
    /// Those messages that follow each other in no order, of the node that has most.
    pub unordered: u64,
}

impl Shape {
    /// Number of PEs.
    pub fn pes(self) -> usize {
        self.nodes * self.per_node
    }

    /// Rounds of a dissemination among the nodes.
    pub fn rounds(self) -> usize {
        self.nodes.next_power_of_two().trailing_zeros() as usize
    }

    /// Bytes of a member, and members, that are brought at one meeting.
    fn at_once(self) -> (usize, usize) {
        match self.pes() {
            _ if self.nodes == 1 => (SCRATCH_BYTES, self.pes()),
            pes if pes <= MIRROR_BYTES / GRAIN => {
                (SCRATCH_BYTES.min(MIRROR_BYTES / pes / GRAIN * GRAIN), pes)
            }
            _ => (GRAIN, MIRROR_BYTES / GRAIN),
        }
    }
}

impl Cost {
    /// That of a collective in a job.
    pub fn of(collective: Collective, shape: Shape) -> Self {
        let (pes, others) = (shape.pes(), shape.nodes - 1);
        let (most, at_once) = shape.at_once();
        let pieces = |bytes: usize, most: usize| bytes.div_ceil(most).max(1);
        match collective {
            Collective::Barrier => Self::of_meetings(1, 0, shape),
            Collective::Broadcast(bytes) => {
                Self::of_meetings(pieces(bytes, SCRATCH_BYTES), others * bytes, shape)
            }
            Collective::Sum(bytes) | Collective::Fcollect(bytes) => {
                Self::of_meetings(pieces(bytes, most) * pes.div_ceil(at_once), others * pes * bytes, shape)
            }
            Collective::Alltoall(bytes) => Self::of_parts(bytes, shape),
        }
    }

    /// Meetings that bring so many bytes: a message of each node in each round, with the word of the meeting.
    fn of_meetings(meetings: usize, bytes: usize, shape: Shape) -> Self {
        let rounds = meetings * shape.rounds();
        let messages = rounds * shape.nodes;
        Self {
            rounds: rounds as u64,
            messages: messages as u64,
            bytes: (bytes + 8 * messages) as u64,
            unordered: 0,
        }
    }

    /// Meetings before which parts go straight to the nodes of their receivers: as many distances between
    /// ranks at one meeting as there is room for.
    fn of_parts(part: usize, shape: Shape) -> Self {
        let Shape { nodes, per_node } = shape;
        let pes = shape.pes();
        if nodes == 1 {
            return Self::default();
        }
        let room = SCRATCH_BYTES.min(MIRROR_BYTES / per_node);
        let width = (pes - 1).min(room / GRAIN).max(1);
        let pieces = part.div_ceil((room / width / GRAIN * GRAIN).min(part).max(1)).max(1);
        let steps: Vec<usize> = (1..pes).step_by(width).collect();
        let bytes = (pes * pes - nodes * per_node * per_node) * part;
        // Of one node: it sends to those from so many nodes on to so many.
        let unordered: usize = steps
            .iter()
            .map(|&first| {
                let last = (first + width).min(pes) - 1;
                let (from, to) = (first / per_node, last.div_ceil(per_node));
                (from..=to).filter(|distance| distance % nodes != 0).count().min(nodes - 1)
            })
            .sum();
        let unordered = unordered * pieces;
        let meetings = Self::of_meetings(steps.len() * pieces, bytes, shape);
        Self {
            messages: meetings.messages + (unordered * nodes) as u64,
            unordered: unordered as u64,
            ..meetings
        }
    }

    /// Nanoseconds by a model: half a round trip for each round, a round trip for what has no order and must
    /// be there before, the gap between messages, and the bytes that a node sends.
    pub fn time(&self, shape: Shape, model: &Model) -> f64 {
        let unordered =
            if self.unordered > 0 { model.alpha + self.unordered as f64 * model.gap } else { 0.0 };
        self.rounds as f64 * model.alpha / 2.0
            + unordered
            + self.bytes as f64 / shape.nodes as f64 * model.beta
    }
}

/// What a start costs one PE by way of the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Times that all PEs wait for each other: as many for every number of PEs.
    pub rounds: u64,
    /// Values that a PE offers.
    pub values: u64,
    /// Bytes of these.
    pub bytes: u64,
}

impl Start {
    /// That of the calling PE so far, and what it has taken of all.
    pub fn counted<L: ThreadLevel>(world: &World<L>) -> (Self, Exchanged) {
        let counted = world.exchanged();
        let Exchanged { rounds, puts, bytes_put, .. } = counted;
        (Self { rounds, values: puts, bytes: bytes_put }, counted)
    }

    /// What the PE has exchanged in a job of `pes` PEs that offer so many bytes together.
    pub fn exchanged(&self, pes: usize, bytes_of_all: u64) -> Exchanged {
        let Self { rounds, values, bytes } = *self;
        Exchanged {
            rounds,
            puts: values,
            bytes_put: bytes,
            gets: pes as u64 * values,
            bytes_got: bytes_of_all,
        }
    }

    /// Nanoseconds by a model: a launcher that brings values up a binary tree of nodes and all of them down
    /// again, and a PE that takes each.
    pub fn time(&self, shape: Shape, model: &Model) -> f64 {
        let there_and_back = shape.rounds() as f64 * model.alpha;
        self.rounds as f64 * there_and_back + (shape.pes() as u64 * self.bytes) as f64 * model.beta
    }
}

/// Jobs of which the model is asked: 2 PEs to 100,000.
pub const SHAPES: [Shape; 6] = [
    Shape { nodes: 2, per_node: 1 },
    Shape { nodes: 4, per_node: 2 },
    Shape { nodes: 32, per_node: 2 },
    Shape { nodes: 64, per_node: 16 },
    Shape { nodes: 160, per_node: 64 },
    Shape { nodes: 1000, per_node: 100 },
];

/// What is asked for each.
pub const COLLECTIVES: [(&str, Collective); 6] = [
    ("barrier", Collective::Barrier),
    ("broadcast 8 B", Collective::Broadcast(8)),
    ("broadcast 1 MiB", Collective::Broadcast(1 << 20)),
    ("sum 8 B", Collective::Sum(8)),
    ("fcollect 8 B", Collective::Fcollect(8)),
    ("alltoall 8 B", Collective::Alltoall(8)),
];

/// Numbers of PEs, each as if on a node of its own, of which collectives are measured beside the model.
pub const MEASURED: [usize; 3] = [2, 4, 8];

/// What is measured of them.
pub const MEASURED_CASES: [CollectiveCase; 5] = {
    use Operation::{Alltoall, Barrier, Broadcast, Fcollect, Sum};
    const fn of(operation: Operation, bytes: usize) -> CollectiveCase {
        CollectiveCase { operation, bytes }
    }
    [of(Barrier, 0), of(Broadcast, 8), of(Sum, 8), of(Fcollect, 8), of(Alltoall, 8)]
};

/// Costs and predicted times of all collectives in all shapes.
pub fn table(model: &Model) -> String {
    let heads = ["", "nodes x PEs", "rounds", "messages", "bytes", "time by the model"];
    let mut columns = Columns::new(heads, &[1, 2, 3, 4, 5]);
    for (name, collective) in COLLECTIVES {
        for shape in SHAPES {
            let cost = Cost::of(collective, shape);
            columns.push([
                name.to_owned(),
                format!("{} x {}", shape.nodes, shape.per_node),
                cost.rounds.to_string(),
                cost.messages.to_string(),
                cost.bytes.to_string(),
                format!("{:.1} us", cost.time(shape, model) / 1e3),
            ]);
        }
    }
    columns.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_are_alone_send_nothing() {
        for (_, collective) in COLLECTIVES {
            for per_node in [1, 2, 64] {
                assert_eq!(Cost::of(collective, Shape { nodes: 1, per_node }).messages, 0, "{collective:?}");
            }
        }
    }

    #[test]
    fn rounds_are_the_logarithm_of_the_nodes() {
        let rounds = |nodes| Shape { nodes, per_node: 3 }.rounds();
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(rounds), [0, 1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn what_is_predicted_grows_with_the_job() {
        let model = Model { alpha: 20_000.0, gap: 4_000.0, beta: 0.5 };
        for (name, collective) in COLLECTIVES {
            let times = SHAPES.map(|shape| Cost::of(collective, shape).time(shape, &model));
            assert!(times.is_sorted(), "{name}: {times:?}");
        }
        assert_eq!(table(&model).lines().count(), 1 + SHAPES.len() * COLLECTIVES.len());
    }
}
