//! Predicts the cost of collectives in jobs of any size: rounds, messages and bytes by the code of jobs, and time by a [`Model`].
//!
//! The algorithm is chosen as in jobs (`collective/choose.rs`). If a collective is barriers that carry data (payloads), the code of
//! the payloads counts these, node by node. If it is a schedule of transfers, the progress engine runs for each rank, with
//! transfers that only count.

use shmem_launch::env::{CollectiveWay, CollectiveWays};

use crate::collective::choose::{self, Pattern};
use crate::collective::message_counts;

pub use crate::cost_model::Model;

/// A collective, with the bytes of data that each PE contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// `barrier_all`.
    Barrier,
    /// `broadcast`, with the bytes of the root.
    Broadcast(usize),
    /// `sum` of floating-point numbers, or another reduction whose order matters, with the bytes of each member.
    Sum(usize),
    /// `sum` of whole numbers, or another reduction in any order, with the bytes of each member.
    ExactSum(usize),
    /// `sum_inscan` or `sum_exscan`, with the bytes of each member.
    Scan(usize),
    /// `fcollect`, with the bytes of each member.
    Fcollect(usize),
    /// `alltoall`, with the bytes for each pair of members.
    Alltoall(usize),
}

/// The size of a job whose nodes all have the same number of PEs. PEs are numbered node by node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobShape {
    /// Number of nodes.
    pub nodes: usize,
    /// PEs on each node.
    pub per_node: usize,
}

/// The communication between nodes that a collective causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Number of messages that must follow each other: the critical path.
    pub rounds: u64,
    /// Number of messages of all nodes.
    pub messages: u64,
    /// Bytes of all messages, including the words (counters and signals) that go with data.
    pub bytes: u64,
    /// Number of each node's further messages, which need not wait for another message.
    pub unordered: u64,
}

impl JobShape {
    /// Number of PEs.
    pub fn pes(self) -> usize {
        self.nodes * self.per_node
    }

    /// Number of rounds of a dissemination barrier between the nodes.
    pub fn rounds(self) -> usize {
        self.nodes.next_power_of_two().trailing_zeros() as usize
    }

    fn choice(self, model: &Model) -> choose::TeamShape {
        let (members, nodes, model) = (self.pes(), self.nodes, *model);
        choose::TeamShape {
            members,
            nodes,
            in_order: true,
            shares_cores: false,
            has_windows: nodes > 1,
            model,
        }
    }
}

impl Collective {
    /// Returns the communication pattern of the data, or `None` if the collective has only one algorithm.
    fn pattern(self) -> Option<Pattern> {
        match self {
            Self::Barrier | Self::Scan(_) => None,
            Self::Broadcast(bytes) => Some(Pattern::Broadcast(bytes)),
            Self::Sum(bytes) => Some(Pattern::Reduction(bytes)),
            Self::ExactSum(bytes) => Some(Pattern::ExactReduction(bytes)),
            Self::Fcollect(bytes) => Some(Pattern::Fcollect(bytes)),
            Self::Alltoall(bytes) => Some(Pattern::Alltoall(bytes)),
        }
    }

    /// Returns the way (algorithm) that a job chooses. `asked` are the ways in `SHMEM_COLLECTIVE_ALGORITHM`.
    /// `symmetric` says whether the data are in symmetric objects.
    pub fn way(
        self,
        shape: JobShape,
        asked: CollectiveWays,
        symmetric: bool,
        model: &Model,
    ) -> CollectiveWay {
        let way = |pattern| shape.choice(model).way(asked, pattern, symmetric);
        self.pattern().map_or(CollectiveWay::Barriers, way)
    }

    /// Returns all ways (algorithms) that are possible for the collective, including slow ones.
    pub fn ways(self, shape: JobShape, symmetric: bool) -> impl Iterator<Item = CollectiveWay> {
        let pattern = self.pattern();
        let choice = shape.choice(&Model::FREE);
        CollectiveWay::ALL.into_iter().filter(move |way| match pattern {
            Some(pattern) => choice.has(*way, pattern, symmetric),
            None => *way == CollectiveWay::Barriers,
        })
    }
}

impl Cost {
    /// Returns the cost of a collective by a way (an algorithm). `symmetric` says whether the data are in symmetric objects.
    ///
    /// # Panics
    ///
    /// If the way is not possible for the collective.
    pub fn of_way(way: CollectiveWay, collective: Collective, symmetric: bool, shape: JobShape) -> Self {
        if shape.nodes == 1 {
            return Self::default();
        }
        match (way, collective.pattern()) {
            (CollectiveWay::Barriers, _) => Self::with_barriers(collective, shape),
            (CollectiveWay::Windows, Some(pattern)) => {
                let sent = message_counts::of_schedule(pattern, symmetric, shape.nodes, shape.per_node);
                let hops = sent.hops as u64;
                let schedule = Self {
                    rounds: hops,
                    messages: sent.chunks + sent.credits,
                    bytes: sent.bytes + 8 * (sent.chunks + sent.credits),
                    unordered: sent.chunks.div_ceil(shape.nodes as u64).saturating_sub(hops),
                };
                schedule.and(Self::of_barriers(1, 0, shape))
            }
            _ => panic!("{} are no way for {collective:?} of {} nodes", way.name(), shape.nodes),
        }
    }

    fn with_barriers(collective: Collective, shape: JobShape) -> Self {
        let nodes = message_counts::Nodes::new(shape.nodes, shape.per_node);
        let (barriers, bytes) = match (collective, collective.pattern()) {
            (Collective::Alltoall(bytes), _) => {
                let each =
                    nodes.alltoall(bytes).map(|(straight, bytes)| Self::of_parts(straight, bytes, shape));
                return each.fold(Self::default(), Self::and);
            }
            (Collective::Scan(bytes), _) => nodes.barriers(Pattern::Reduction(bytes), true),
            (_, Some(pattern)) => nodes.barriers(pattern, false),
            (_, None) => (1, 0),
        };
        Self::of_barriers(barriers, bytes, shape)
    }

    /// Returns the cost of barriers that carry `bytes` bytes of payload. In each round, each node sends a message with one word.
    fn of_barriers(barriers: usize, bytes: usize, shape: JobShape) -> Self {
        let rounds = barriers * shape.rounds();
        let messages = rounds * shape.nodes;
        let [rounds, messages, bytes] = [rounds, messages, bytes + 8 * messages].map(|count| count as u64);
        Self { rounds, messages, bytes, unordered: 0 }
    }

    /// Returns the cost of an exchange: `straight` messages of each node and, unless these reach all nodes, a barrier.
    fn of_parts(straight: usize, bytes: usize, shape: JobShape) -> Self {
        let (messages, is_barrier) = (straight * shape.nodes, straight + 1 == shape.nodes);
        let first = usize::from(is_barrier);
        let [rounds, unordered] = [first, straight - first].map(|count| count as u64);
        let [messages, bytes] = [messages, bytes + 8 * messages].map(|count| count as u64);
        let barrier = if is_barrier { Self::default() } else { Self::of_barriers(1, 0, shape) };
        Self { rounds, messages, bytes, unordered }.and(barrier)
    }

    fn and(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            unordered: self.unordered + other.unordered,
        }
    }

    /// Returns predicted nanoseconds: half a round trip per round, a gap per further message, and the time of a node's bytes.
    pub fn time(&self, shape: JobShape, model: &Model) -> f64 {
        self.rounds as f64 * model.alpha / 2.0
            + self.unordered as f64 * model.gap
            + self.bytes as f64 / shape.nodes as f64 * model.beta
    }
}

#[cfg(test)]
mod tests {
    use shmem_core::transport::ofi::strided::row_of;

    use super::*;

    /// The choice uses only the leading terms of these counts.
    #[test]
    fn what_is_taken_is_nearly_the_fastest_way() {
        use Collective::{Alltoall, Broadcast, ExactSum, Fcollect, Sum};
        let (mut slow, mut all) = (Vec::new(), 0);
        let shapes = [(2, 1), (3, 1), (16, 1), (33, 1), (2, 2), (2, 4), (4, 4), (3, 7), (8, 8)];
        for (nodes, per_node) in shapes {
            let shape = JobShape { nodes, per_node };
            for family in [Broadcast, Sum, ExactSum, Fcollect, Alltoall] {
                for bytes in [8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 512 << 10, 2 << 20] {
                    let collective: Collective = family(bytes);
                    let cost = |way| (way, Cost::of_way(way, collective, false, shape));
                    let costs: Vec<_> = collective.ways(shape, false).map(cost).collect();
                    for provider in ["tcp;ofi_rxm", "sockets", "verbs;ofi_rxm", "cxi"] {
                        let model = Model::from(row_of(provider));
                        let taken = collective.way(shape, CollectiveWays::default(), false, &model);
                        let times = costs.iter().map(|(way, cost)| (*way == taken, cost.time(shape, &model)));
                        let times: Vec<_> = times.collect();
                        let best = times.iter().fold(f64::INFINITY, |best, (_, time)| best.min(*time));
                        let taken = times.iter().find(|(is_taken, _)| *is_taken).unwrap().1;
                        all += 1;
                        if taken > 1.2 * best {
                            slow.push((taken / best, format!("{provider}: {collective:?} of {shape:?}")));
                        }
                    }
                }
            }
        }
        slow.sort_by(|a, b| b.0.total_cmp(&a.0));
        assert!(slow.len() * 50 < all && slow.iter().all(|(ratio, _)| *ratio < 1.8), "of {all}: {slow:#?}");
    }
}
