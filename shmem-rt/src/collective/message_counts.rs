//! Counts the messages and bytes that collectives send between nodes, without running a job. Payloads of barriers are counted node
//! by node. Schedules are executed rank by rank by the [engine](super::engine), with [`Transfers`] that only count.

use super::barrier_payload::{Blocks, Portion, Shares, room_of_each, room_of_one};
use super::barrier_reduction::{PartialResults, most_bytes};
use super::choose::Pattern;
use super::engine::{Progress, Transfers};
use super::reduce_op::Typed;
use super::schedule::{Chunks, HalvingDoubling, Place, Radices, Round, SendStep, TwoTree};
use crate::members::Layout;

/// Assumed size of an item of a reduction, in bytes: a 64-bit number.
const ITEM: usize = 8;

/// Nodes with equally many PEs, whose ranks are consecutive on each node.
pub(crate) struct Nodes {
    layout: Layout,
    per_node: usize,
}

impl Nodes {
    pub(crate) fn new(nodes: usize, per_node: usize) -> Self {
        Self { layout: Layout::new(nodes, nodes * per_node, |rank| rank / per_node), per_node }
    }

    fn sent(&self, of: impl Fn(usize, Round) -> usize) -> usize {
        let nodes = self.layout.nodes();
        Round::all(nodes).map(|round| (0..nodes).map(|node| of(node, round)).sum::<usize>()).sum()
    }

    /// Returns the number of barriers that a pattern or a scan needs, and the total bytes that all nodes send in them.
    pub(crate) fn barriers(&self, pattern: Pattern, is_scan: bool) -> (usize, usize) {
        let (members, nodes) = (self.layout.members_of_all(), self.layout.nodes());
        let blocks = |shares| {
            let blocks = Blocks::of(&self.layout, shares, 0);
            self.sent(|node, round| blocks.sent(node, round))
        };
        let (most, times, sent) = match pattern {
            Pattern::Broadcast(_) => {
                (room_of_one(members, nodes), 1, blocks(Shares::Of { rank: 0, bytes: 1 }))
            }
            Pattern::Reduction(_) | Pattern::ExactReduction(_) => {
                let is_exact = matches!(pattern, Pattern::ExactReduction(_));
                let op = Typed::new(|a: u64, _: u64| a, |sum| sum, is_exact);
                let partial = PartialResults::of(&self.layout, &op, is_scan);
                let sent = self.sent(|node, round| partial.sent(node, round));
                (most_bytes(&self.layout, &op, is_scan), 1, sent)
            }
            Pattern::Fcollect(_) => {
                let (most, at_once) = room_of_each(members, nodes);
                (most, members.div_ceil(at_once), blocks(Shares::Equal(1)))
            }
            Pattern::Alltoall(_) => unreachable!("parts go straight"),
        };
        (pattern.bytes().div_ceil(most).max(1) * times, pattern.bytes() * sent)
    }

    /// Returns, for each barrier of an alltoall, (straight messages that each node sends, total bytes of all nodes).
    pub(crate) fn alltoall(&self, part: usize) -> impl Iterator<Item = (usize, usize)> {
        let nodes = self.layout.nodes();
        Portion::all_of(nodes, self.per_node, part).map(move |portion| {
            let taken = |node: usize| portion.receivers(&self.layout, node) * portion.bytes.1 * self.per_node;
            let distances = portion.distances();
            // At each distance every node receives one message.
            let bytes = distances.len() * (0..nodes).map(taken).sum::<usize>();
            (distances.len(), bytes)
        })
    }
}

#[derive(Default)]
pub(crate) struct Sent {
    pub(crate) chunks: u64,
    pub(crate) credits: u64,
    pub(crate) bytes: u64,
    /// Number of messages on the longest path of a chunk or a value.
    pub(crate) hops: usize,
}

/// Counts the messages of a pattern's schedule. `symmetric`: the data are in symmetric objects.
pub(crate) fn of_schedule(pattern: Pattern, symmetric: bool, nodes: usize, per_node: usize) -> Sent {
    let (ranks, cut) = (nodes * per_node, pattern.cut(nodes * per_node, symmetric));
    let mut counter = Counter { sent: Sent::default(), node: 0, per_node, weight: 1 };
    // In a ring and a pairwise exchange all nodes send alike, so one node is run and counted `nodes` times.
    let (ranks_run, weight) = match pattern {
        Pattern::Fcollect(_) | Pattern::Alltoall(_) => (per_node, nodes),
        _ => (ranks, 1),
    };
    for rank in 0..ranks_run {
        (counter.node, counter.weight) = (rank / per_node, weight as u64);
        let is_over = Progress::of(pattern, (ranks, rank, 0), cut, ITEM).poll(&mut counter);
        assert!(is_over, "a schedule waits though everything has come");
    }
    let node_of = |rank: usize| rank / per_node;
    counter.sent.hops = match pattern {
        Pattern::Broadcast(bytes) => {
            let chunks = Chunks::new(bytes, cut.most, 1);
            let trees = |rank| {
                TwoTree::both(ranks, rank, 0, chunks, cut.slots).into_iter().take(TwoTree::ways(ranks))
            };
            let hops = |tree: TwoTree| tree.hops(|one, other| node_of(one) != node_of(other));
            (0..ranks).flat_map(trees).map(hops).max().unwrap_or_default()
        }
        Pattern::Reduction(bytes) | Pattern::ExactReduction(bytes) => {
            let schedule =
                |rank| HalvingDoubling::new(rank, Radices::of(ranks), bytes, cut.most, ITEM, cut.slots);
            let steps = |rank| schedule(rank).steps_to(|other| node_of(other) != node_of(rank));
            (0..ranks).map(steps).fold(0, |all, steps| all | steps).count_ones() as usize
        }
        Pattern::Fcollect(_) => nodes - 1,
        Pattern::Alltoall(_) => 1,
    };
    counter.sent
}

/// [`Transfers`] that count messages to other nodes; every chunk and credit counts as arrived.
struct Counter {
    sent: Sent,
    /// Node of the rank whose schedule is being run.
    node: usize,
    per_node: usize,
    /// Number of ranks that the rank being run represents.
    weight: u64,
}

impl Transfers for Counter {
    fn arrived(&self, _: usize) -> u64 {
        u64::MAX
    }

    fn credits(&self, _: usize) -> u64 {
        u64::MAX
    }

    fn send(&mut self, step: &SendStep, _: usize) {
        if step.to / self.per_node != self.node {
            self.sent.chunks += self.weight;
            self.sent.bytes += self.weight * step.from.bytes as u64;
        }
    }

    fn give(&mut self, rank: usize, _: usize, _: u64) {
        if rank / self.per_node != self.node {
            self.sent.credits += self.weight;
        }
    }

    fn copy(&mut self, _: usize, _: Place) {}

    fn reduce(&mut self, _: usize, _: usize, _: usize, _: Place) {}
}
