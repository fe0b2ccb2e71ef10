//! What collectives cost.

use shmem_core::system::{MIRROR_BYTES, SCRATCH_BYTES};
use shmem_launch::env::{CollectiveWay, CollectiveWays};

use super::collective::Collective;
use super::shape::Shape;
use crate::model::Model;

/// What a collective costs between nodes, all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Messages of which each waits for the one before.
    pub rounds: u64,
    /// All messages.
    pub messages: u64,
    /// Bytes of all, words included.
    pub bytes: u64,
    /// Messages of a node that wait for no other: those that go straight, without the first one of each meeting, and
    /// chunks behind those that `rounds` counts.
    pub unordered: u64,
}

impl Cost {
    /// That of a collective in a job that asks for no ways and knows this of messages, of data that lie wherever the program has
    /// them.
    pub fn of(collective: Collective, shape: Shape, model: &Model) -> Self {
        let way = collective.way(shape, CollectiveWays::default(), false, model);
        Self::of_way(way, collective, false, shape)
    }

    /// That of a collective on symmetric objects, likewise.
    pub fn on_objects(collective: Collective, shape: Shape, model: &Model) -> Self {
        let way = collective.way(shape, CollectiveWays::default(), true, model);
        Self::of_way(way, collective, true, shape)
    }

    /// That of sums of parts of so many bytes, of which each PE has its own (`sum_scatter`, `reduce_scatter`); whether they can be
    /// made in any order.
    pub fn of_parts_of_a_sum(part: usize, exact: bool, shape: Shape, model: &Model) -> Self {
        let all = part * shape.pes();
        match shape.choice(model).combines_for_all(CollectiveWays::default(), part, exact) {
            true if exact => Self::of(Collective::ExactSum(all), shape, model),
            true => Self::of(Collective::Sum(all), shape, model),
            false => Self::of(Collective::Alltoall(part), shape, model),
        }
    }

    /// That of a collective whose data go a way; whether they lie in symmetric objects.
    ///
    /// # Panics
    ///
    /// If there is no such way.
    pub fn of_way(way: CollectiveWay, collective: Collective, symmetric: bool, shape: Shape) -> Self {
        if shape.nodes == 1 {
            return Self::default();
        }
        match way {
            CollectiveWay::Meetings => Self::of_pieces(collective, shape),
            CollectiveWay::Windows => Self::of_streams(collective, symmetric, shape),
            CollectiveWay::Rings | CollectiveWay::Direct => panic!("{} are of one node", way.name()),
        }
    }

    /// That of a collective that goes with the words of meetings.
    fn of_pieces(collective: Collective, shape: Shape) -> Self {
        let (pes, others) = (shape.pes(), shape.nodes - 1);
        let (most, at_once) = shape.at_once();
        let pieces = |bytes: usize, most: usize| bytes.div_ceil(most).max(1);
        match collective {
            Collective::Barrier => Self::of_meetings(1, 0, shape),
            Collective::Broadcast(bytes) => {
                Self::of_meetings(pieces(bytes, shape.room()), others * bytes, shape)
            }
            Collective::Fcollect(bytes) => {
                Self::of_meetings(pieces(bytes, most) * pes.div_ceil(at_once), others * pes * bytes, shape)
            }
            Collective::Sum(bytes) => {
                let window = |node, (distance, _)| shape.cover(&shape.ranks_back(node, distance));
                Self::of_values(bytes, shape.summed_at_once(false, false), window, shape)
            }
            Collective::ExactSum(bytes) => {
                Self::of_values(bytes, shape.summed_at_once(true, false), |_, _| 1, shape)
            }
            Collective::Scan(bytes) => {
                // Nothing goes to a node before the sender, and of nodes behind it.
                let window = |node: usize, (distance, with_own): (usize, bool)| {
                    let (end, known) = (node + usize::from(with_own), distance - usize::from(with_own));
                    let first = node.saturating_sub(known);
                    let ranks = first * shape.per_node..end * shape.per_node;
                    if node + distance < shape.nodes { shape.cover(&[0..0, ranks]) } else { 0 }
                };
                Self::of_values(bytes, shape.summed_at_once(false, true), window, shape)
            }
            Collective::Alltoall(bytes) => Self::of_parts(bytes, shape),
        }
    }

    /// Meetings that bring so many bytes: a message of each node in each round, with the word of the meeting.
    pub(super) fn of_meetings(meetings: usize, bytes: usize, shape: Shape) -> Self {
        let rounds = meetings * shape.rounds();
        let messages = rounds * shape.nodes;
        Self {
            rounds: rounds as u64,
            messages: messages as u64,
            bytes: (bytes + 8 * messages) as u64,
            unordered: 0,
        }
    }

    /// Meetings at which each node sends in each round as many values of so many bytes as is said for it.
    fn of_values(
        bytes: usize,
        most: usize,
        values: impl Fn(usize, (usize, bool)) -> usize,
        shape: Shape,
    ) -> Self {
        let of_round = |round| (0..shape.nodes).map(|node| values(node, round)).sum::<usize>();
        let all: usize = shape.census().map(of_round).sum();
        Self::of_meetings(bytes.div_ceil(most).max(1), all * bytes, shape)
    }

    /// Meetings of messages that go straight to the nodes of their receivers, with parts for some distances from node to node,
    /// some of the members there and some of the bytes, as there is room. Where they do not go to all nodes, there are
    /// rounds besides.
    fn of_parts(part: usize, shape: Shape) -> Self {
        let Shape { nodes, per_node } = shape;
        let room = if per_node == 1 { MIRROR_BYTES } else { SCRATCH_BYTES.min(MIRROR_BYTES / per_node) };
        let bytes = part.clamp(1, room);
        let slots = (room / bytes).min(per_node);
        let first = usize::from(per_node == 1);
        let width = if slots < per_node { 1 } else { (room / slots / bytes).min(nodes - first) };
        let times = part.div_ceil(bytes).max(1) * per_node.div_ceil(slots);
        let pairs = shape.pes() * (shape.pes() - per_node);
        let mut cost = Self { bytes: (pairs * part) as u64, ..Self::default() };
        for start in (first..nodes).step_by(width) {
            let sent = (start + width).min(nodes) - start.max(1);
            let meeting = match sent == nodes - 1 {
                true => Self { rounds: 1, ..Self::default() },
                false => Self::of_meetings(1, 0, shape),
            };
            let messages = meeting.messages + (sent * nodes) as u64;
            cost.rounds += times as u64 * meeting.rounds;
            cost.messages += times as u64 * messages;
            cost.bytes += times as u64 * 8 * messages;
            cost.unordered += times as u64 * if meeting.messages == 0 { sent - 1 } else { sent } as u64;
        }
        cost
    }

    /// Nanoseconds by a model: half a round trip for each round, the gap between messages for those that wait for no other,
    /// and the bytes that a node sends.
    pub fn time(&self, shape: Shape, model: &Model) -> f64 {
        self.rounds as f64 * model.alpha / 2.0
            + self.unordered as f64 * model.gap
            + self.bytes as f64 / shape.nodes as f64 * model.beta
    }
}

#[cfg(test)]
mod tests {
    use shmem_core::transport::ofi::strided::Row;

    use super::*;

    #[test]
    fn parts_of_a_sum_take_as_many_rounds_as_the_documents_say() {
        let model = Model::from(Row::TCP);
        let shapes = [(2, 1), (32, 2), (64, 16), (160, 64), (1000, 100)];
        let rounds =
            |(nodes, per_node)| Cost::of_parts_of_a_sum(8, false, Shape { nodes, per_node }, &model).rounds;
        assert_eq!(shapes.map(rounds), [1, 5, 42, 656, 24]);
    }

    #[test]
    fn nodes_that_are_alone_send_nothing() {
        use Collective::{Alltoall, Barrier, Broadcast, ExactSum, Fcollect, Scan, Sum};
        for collective in
            [Barrier, Broadcast(1 << 20), Sum(8), ExactSum(8), Scan(8), Fcollect(8), Alltoall(8)]
        {
            for per_node in [1, 2, 64] {
                assert_eq!(
                    Cost::of(collective, Shape { nodes: 1, per_node }, &Model::FREE).messages,
                    0,
                    "{collective:?}"
                );
            }
        }
    }
}
