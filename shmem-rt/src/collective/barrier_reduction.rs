//! Short reductions and scans between nodes: partial results travel by the dissemination rounds of the barrier.
//!
//! After each round a node has the partial results of up to twice as many nodes as before: one value for each vertex of
//! the [`Cover`] of these nodes' ranks, the subtrees that make up this set. So operands are combined in the order of the
//! [tree](super::reduction_order), each exactly once. For an exact operation (one whose result is the same in any
//! order), except in a scan, a single value replaces the cover. A value has the same offset on all nodes, so the sender
//! knows the receiver's offset. On a node's first member, received values are stored in the receive buffer, and combined
//! values in the work buffer ([`barrier_payload`](super::barrier_payload)).

use core::ops::Range;
use core::slice::from_ref;

use shmem_core::pe::Pe;
use shmem_core::system_area::{RECEIVE_BUFFER_BYTES, SCRATCH_BYTES, WORK_BUFFER_BYTES};

use super::barrier_payload::{
    GRAIN, Message, Payload, address, address_on, is_alone, receive_buffer, scratch, work_buffer,
};
use super::reduce_op::ReduceOp;
use super::reduction_order::{Operands, Vertex, fold, fold_vertices};
use super::schedule::Round;
use crate::group::{CallSignature, Collective, Team};
use crate::members::Layout;

/// Payload: the partial results for one piece of the data. They combine all members or, in a scan, the members on lower nodes.
pub(super) struct PartialResults<'p> {
    layout: &'p Layout,
    half: usize,
    /// Bytes of one value, equal to the bytes of a contribution.
    bytes: usize,
    op: &'p dyn ReduceOp,
    is_scan: bool,
    /// Whether one value represents any set of nodes: the operation is exact, and this is no scan.
    is_exact: bool,
    /// Contribution of a node's only member, replaced by the result. None if nodes have several members: these contribute in
    /// scratch.
    alone: Option<&'p mut [u8]>,
    /// Offset of the other nodes' combined values; None before the first arrival. Offsets are in the slot of the node's first
    /// member.
    others: Option<usize>,
}

impl Collective<'_> {
    /// Reduces one piece in one barrier. `scan`: None combines all members, `Some(ranks)` the first `ranks` ranks.
    pub(super) fn combine_between_nodes(
        &self,
        signature: &CallSignature<'_>,
        scan: Option<usize>,
        piece: &mut [u8],
        op: &dyn ReduceOp,
    ) {
        let (team, half) = (self.team, (self.next_barrier() % 2) as usize);
        let (bytes, is_scan) = (piece.len(), scan.is_some());
        assert!(bytes <= most_bytes(team.layout(), op, is_scan), "pieces of {bytes} bytes are too long");
        let mut partial = PartialResults { half, bytes, ..PartialResults::of(team.layout(), op, is_scan) };
        if !is_scan && is_alone(team) {
            partial.alone = Some(piece);
            return self.barrier_with(signature, &mut partial);
        }
        let to = self.endpoint.mine(scratch(team, half));
        // SAFETY: `to` has `bytes` bytes (`most_bytes`). No PE reads this scratch now: in any operation, its last readers have
        // since entered the barrier before this one. No other thread of this PE is in a collective of the team (`Team::enter`).
        unsafe { core::ptr::copy_nonoverlapping(piece.as_ptr(), to, bytes) };
        self.barrier_with(signature, &mut partial);
        match scan {
            // SAFETY: the PE that acted for the node wrote the values. No PE overwrites them before this PE's next barrier.
            None => piece.copy_from_slice(unsafe { partial.values(self, partial.made(team, 0), 1) }),
            Some(0) => piece.fill(0),
            Some(ranks) => partial.combine_up_to(self, ranks, piece),
        }
    }
}

/// Returns the maximum bytes of a value, a multiple of [`GRAIN`]. For a scan or an operation that is not exact, 0 if ranks are not
/// in order by node: a cover would then have nearly as many values as there are members.
pub(super) fn most_bytes(layout: &Layout, op: &dyn ReduceOp, is_scan: bool) -> usize {
    let is_exact = op.is_exact() && !is_scan;
    if !is_exact && !layout.is_in_order() {
        return 0;
    }
    let has_own = is_scan || layout.members_of_all() > layout.nodes();
    let values = |nodes| if is_exact { 1 } else { layout.most_values(nodes) };
    values_and_bytes(layout.nodes(), has_own, values).1
}

/// Returns the maximum number of values that a node receives, and the maximum bytes of each. `has_own`: the work buffer also stores
/// values of the own node. `values` maps a number of nodes to their number of values.
pub(super) fn values_and_bytes(
    nodes: usize,
    has_own: bool,
    values: impl Fn(usize) -> usize,
) -> (usize, usize) {
    let arriving: usize = Round::all(nodes).map(|round| values(round.distance)).sum();
    let rooms = if nodes > 2 { 4 } else { 1 };
    let made = if has_own { values(1) } else { 0 } + rooms * values(nodes - 1);
    let most = (RECEIVE_BUFFER_BYTES / arriving).min(WORK_BUFFER_BYTES / made) / GRAIN * GRAIN;
    (arriving, most.min(if has_own { SCRATCH_BYTES } else { RECEIVE_BUFFER_BYTES }))
}

impl<'p> PartialResults<'p> {
    /// Returns partial results with values of one byte; the caller may change `bytes`.
    pub(super) fn of(layout: &'p Layout, op: &'p dyn ReduceOp, is_scan: bool) -> Self {
        let is_exact = op.is_exact() && !is_scan;
        Self { layout, half: 0, bytes: 1, op, is_scan, is_exact, alone: None, others: None }
    }

    /// Returns the number of values that a node sends in a round.
    pub(super) fn sent(&self, node: usize, round: Round) -> usize {
        match (round.known(), round.with_own) {
            // The receiver is a lower node, whose scan excludes our values.
            _ if self.is_scan && node + round.distance >= self.layout.nodes() => 0,
            (known, true) => self.count(node + 1, known + 1),
            (known, false) => self.count(node, known),
        }
    }

    /// Returns the ranks of the `count` nodes before node `end`, modulo the number of nodes. A scan stops at node 0 instead.
    fn ranks(&self, end: usize, count: usize) -> [Range<usize>; 2] {
        let nodes = self.layout.nodes();
        match (self.is_scan, end) {
            (true, 0) => [0..0, 0..0],
            (true, end) => self.layout.ranks_back(end - 1, count.min(end)),
            (false, end) => self.layout.ranks_back((end + nodes - 1) % nodes, count),
        }
    }

    fn count(&self, end: usize, count: usize) -> usize {
        let all = self.layout.members_of_all();
        if self.is_exact { 1 } else { Cover::of(&self.ranks(end, count), all).len() }
    }

    fn most(&self, nodes: usize) -> usize {
        if self.is_exact { 1 } else { self.layout.most_values(nodes) }
    }

    fn room(&self, values: usize) -> usize {
        (values * self.bytes).next_multiple_of(GRAIN)
    }

    fn arriving(&self, team: &Team, round: Round) -> usize {
        let before = Round::all(self.layout.nodes()).take(round.number);
        receive_buffer(team, self.half)
            + before.map(|round| self.room(self.most(round.distance))).sum::<usize>()
    }

    /// Returns the offset of buffer `which` in the work buffer. Each such buffer can store combined values of all other
    /// nodes. The node's members read the result in buffer 0.
    fn made(&self, team: &Team, which: usize) -> usize {
        let own = if self.alone.is_none() { self.room(self.most(1)) } else { 0 };
        work_buffer(team) + own + which * self.room(self.most(self.layout.nodes() - 1))
    }

    /// Returns `values` values at offset `place` in the slot of the node's first member.
    ///
    /// # Safety
    ///
    /// The values must have been written, and no PE may write there while the result is used.
    unsafe fn values<'v>(&self, collective: &Collective<'v>, place: usize, values: usize) -> &'v [u8] {
        let start = address(collective, place);
        // SAFETY: `start` is in a buffer of this node's first member, with space for `values` values (`most_bytes`). The caller
        // promises that they are written and unchanged; any bytes are valid numbers. The endpoint's borrow keeps the buffer mapped.
        unsafe { core::slice::from_raw_parts(start, values * self.bytes) }
    }

    /// Returns a buffer for `values` values at offset `place` in the slot of the node's first member.
    ///
    /// # Safety
    ///
    /// Nobody else may read or write there while the result is used.
    unsafe fn room_at<'v>(&self, collective: &Collective<'v>, place: usize, values: usize) -> &'v mut [u8] {
        let start = address(collective, place);
        // SAFETY: `start` is in a buffer of this node's first member, with space for `values` values (`most_bytes`). The caller
        // promises exclusive use; any bytes are valid numbers. The endpoint's borrow keeps the buffer mapped.
        unsafe { core::slice::from_raw_parts_mut(start, values * self.bytes) }
    }

    /// Returns the contribution of a member of this node.
    ///
    /// # Safety
    ///
    /// The member must be on this node, and must have contributed to this barrier.
    unsafe fn contribution<'v>(&self, collective: &Collective<'v>, member: Pe) -> &'v [u8] {
        let from = address_on(collective, member, scratch(collective.team, self.half));
        // SAFETY: the scratch has `self.bytes` bytes (`most_bytes`). Its owner overwrites them only after the next barrier, which
        // the owner cannot leave before this PE enters it.
        unsafe { core::slice::from_raw_parts(from, self.bytes) }
    }

    fn own<'s>(&'s self, collective: &Collective<'s>) -> &'s [u8] {
        if let Some(mine) = &self.alone {
            return mine;
        }
        let team = collective.team;
        // SAFETY: `prepare` wrote the values at the start of the work buffer, and no PE overwrites them before the next barrier.
        unsafe { self.values(collective, work_buffer(team), self.count(team.node + 1, 1)) }
    }

    /// Returns the combined values of the `nodes` nodes before this node.
    fn others<'s>(&self, collective: &Collective<'s>, nodes: usize) -> &'s [u8] {
        let (team, Some(place)) = (collective.team, self.others) else { return &[] };
        // SAFETY: the values at `place` arrived in a round, or the last `join` wrote them. The next `join` writes to another
        // buffer.
        unsafe { self.values(collective, place, self.count(team.node, nodes)) }
    }

    /// Combines the values of `later` nodes before node `end` with the values of the `earlier` nodes before them. Writes the result
    /// to offset `place`, and returns its number of values.
    fn join(
        &self,
        collective: &Collective<'_>,
        (end, later, laters): (usize, usize, &[u8]),
        (earlier, earliers): (usize, &[u8]),
        place: usize,
    ) -> usize {
        let (team, nodes) = (collective.team, self.layout.nodes());
        let count = self.count(end, later + earlier);
        // SAFETY: only the PE that acts for the node uses the work buffer, its working memory. The operands are not in the buffer
        // at `place`.
        let into = unsafe { self.room_at(collective, place, count) };
        if self.is_exact {
            self.op.combine(into, Some(earliers), laters);
            return count;
        }
        let between = if self.is_scan { end.saturating_sub(later) } else { (end + nodes - later) % nodes };
        let runs = [self.ranks(end, later + earlier), self.ranks(end, later), self.ranks(between, earlier)];
        let [both, later, earlier] = runs.each_ref().map(|runs| Cover::of(runs, team.size()));
        both.join((earlier, earliers), (later, laters), into, self.op);
        count
    }

    /// Combines the operands of the first `ranks` ranks: all ranks of lower nodes, then some or none of this node. Called after the
    /// barrier of a scan.
    fn combine_up_to(&self, collective: &Collective<'_>, ranks: usize, into: &mut [u8]) {
        let team = collective.team;
        let first = self.layout.ranks(team.node).start;
        let before = 0..first;
        let before = Cover::of(from_ref(&before), team.size());
        let known = before.len();
        // SAFETY: the PE that acted for the node wrote the values. No PE overwrites them before this PE's next barrier.
        let values = unsafe { self.values(collective, self.made(team, 0), known) };
        let operand = |number: usize| match number.checked_sub(known) {
            None => &values[number * self.bytes..][..self.bytes],
            // SAFETY: the member is on this node, and all members of the node have contributed to this barrier.
            Some(here) => unsafe { self.contribution(collective, team.member(first + here)) },
        };
        let given = before.vertices().chain((first..ranks).map(Vertex::rank)).enumerate();
        // The result combines the first `ranks` ranks in a tree of their own, which is the whole tree, cut at `ranks`.
        let all = 0..ranks;
        Cover::of(from_ref(&all), ranks).fold(given.map(|(k, vertex)| (vertex, k)), &operand, into, self.op);
    }
}

impl Payload for PartialResults<'_> {
    fn prepare(&mut self, collective: &Collective<'_>) {
        if self.alone.is_some() {
            return;
        }
        let team = collective.team;
        // SAFETY: only the PE acting for the node uses the work buffer, its working memory. Contributions are stored elsewhere.
        let own = unsafe { self.room_at(collective, work_buffer(team), self.count(team.node + 1, 1)) };
        let near = team.neighbours();
        // SAFETY: the member is on this node, and all members of the node have contributed to this barrier.
        let contribution = |k: usize| unsafe { self.contribution(collective, near[k]) };
        if self.is_exact {
            return fold(near.len(), Operands::InPlace(&contribution), own, self.op);
        }
        let ranks = self.layout.ranks(team.node);
        let given = ranks.clone().map(Vertex::rank).enumerate().map(|(k, vertex)| (vertex, k));
        Cover::of(from_ref(&ranks), team.size()).fold(given, &contribution, own, self.op);
    }

    fn send(&mut self, collective: &Collective<'_>, round: Round) -> Message {
        let (team, node) = (collective.team, collective.team.node);
        if self.sent(node, round) == 0 {
            return Message::EMPTY;
        }
        let values = match (round.known(), round.with_own) {
            (0, _) => self.own(collective),
            (known, false) => self.others(collective, known),
            (known, true) => {
                let place = self.made(team, 1);
                let others = (known, self.others(collective, known));
                let count = self.join(collective, (node + 1, 1, self.own(collective)), others, place);
                // SAFETY: `join` just wrote the values, and they are sent before the next `join` overwrites them.
                unsafe { self.values(collective, place, count) }
            }
        };
        Message { source: values.as_ptr(), bytes: values.len(), to: self.arriving(team, round) }
    }

    fn receive(&mut self, collective: &Collective<'_>, round: Round) {
        let (team, node, nodes) = (collective.team, collective.team.node, collective.team.node_count());
        if self.is_scan && node < round.distance {
            // The sender would be a higher node, which sends no values in a scan.
            return;
        }
        let (known, arrived) = (round.known(), self.arriving(team, round));
        if known == 0 {
            self.others = Some(arrived);
            return;
        }
        let count = self.count((node + nodes - known) % nodes, round.distance);
        // SAFETY: the values at `arrived` came with this round, and are overwritten two barriers later at the earliest.
        let came = unsafe { self.values(collective, arrived, count) };
        let joined = self.made(team, 2 + round.number % 2);
        self.join(collective, (node, known, self.others(collective, known)), (round.distance, came), joined);
        self.others = Some(joined);
    }

    fn finish(&mut self, collective: &Collective<'_>) {
        let (team, node) = (collective.team, collective.team.node);
        let (others, result) = (self.layout.nodes() - 1, self.made(team, 0));
        let came = self.others(collective, others);
        if self.is_scan {
            // SAFETY: only the PE acting for the node uses the work buffer, its working memory. `came` is not in buffer 0 of the
            // work buffer.
            let into = unsafe { self.room_at(collective, result, came.len() / self.bytes.max(1)) };
            return into.copy_from_slice(came);
        }
        if let Some(mine) = &mut self.alone
            && (self.op.is_exact() || team.size() == 2)
            && node == 0
        {
            // Node 0 has rank 0, so its own value is the left operand.
            return self.op.combine(mine, None, came);
        }
        self.join(collective, (node + 1, 1, self.own(collective)), (others, came), result);
        if let Some(mine) = &mut self.alone {
            let start = address(collective, result).cast_const();
            // SAFETY: the result buffer has `bytes` bytes (`most_bytes`), which `join` just wrote on this PE, which acts for the
            // node.
            mine.copy_from_slice(unsafe { core::slice::from_raw_parts(start, self.bytes) });
        }
    }
}

/// The cover of a set of ranks: the largest [vertices](Vertex) inside the set, in the order of ranks. Their union is the set. The
/// values of the covers of two disjoint sets determine the values of the cover of their union. The bits do not depend on the order
/// of joining, because every intermediate value is the value of a vertex.
///
/// The cover of `c > 1` consecutive ranks has at most `2 log2(c)` vertices. The cover of `2^k` ranks has one vertex if the first
/// rank is a multiple of `2^k`. The values of a cover are stored contiguously.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cover<'r> {
    runs: &'r [Range<usize>],
    ranks: usize,
}

impl<'r> Cover<'r> {
    /// Returns the cover of the ranks in `runs`, in a tree of `ranks` ranks. Runs are ascending, with gaps between them.
    pub(super) fn of(runs: &'r [Range<usize>], ranks: usize) -> Self {
        Self { runs, ranks }
    }

    pub(super) fn len(self) -> usize {
        self.vertices().count()
    }

    pub(super) fn vertices(self) -> impl Iterator<Item = Vertex> + Clone + use<'r> {
        self.runs.iter().flat_map(move |run| {
            let mut run = run.clone();
            core::iter::from_fn(move || {
                let vertex = (!run.is_empty()).then(|| Vertex::largest_in(run.clone(), self.ranks))?;
                run.start = vertex.ranks().end;
                Some(vertex)
            })
        })
    }

    /// Returns the vertices, numbered as operands: `first`, `first + 2`, and so on. In a [`join`](Self::join) one cover
    /// has the even numbers, the other the odd ones.
    fn numbered(self, first: usize) -> impl Iterator<Item = (Vertex, usize)> + Clone + use<'r> {
        self.vertices().enumerate().map(move |(k, vertex)| (vertex, 2 * k + first))
    }

    /// Writes the cover's values to `into`, computed from the values of other vertices. `given` yields those vertices in the order
    /// of ranks, each with the number of its operand.
    pub(super) fn fold<'v>(
        self,
        given: impl Iterator<Item = (Vertex, usize)> + Clone,
        operand: &dyn Fn(usize) -> &'v [u8],
        into: &mut [u8],
        op: &dyn ReduceOp,
    ) {
        fold_vertices(self.vertices(), given, Operands::InPlace(operand), into, op);
    }

    /// Writes the values of this cover to `into`, computed from the values of the two disjoint covers whose union it is.
    pub(super) fn join(
        self,
        (one, ones): (Cover<'_>, &[u8]),
        (other, others): (Cover<'_>, &[u8]),
        into: &mut [u8],
        op: &dyn ReduceOp,
    ) {
        let mut one_given = one.numbered(0).peekable();
        let mut other_given = other.numbered(1).peekable();
        let given = core::iter::from_fn(move || match (one_given.peek(), other_given.peek()) {
            (Some((left, _)), Some((right, _))) if left.ranks().start > right.ranks().start => {
                other_given.next()
            }
            (Some(_), _) => one_given.next(),
            _ => other_given.next(),
        });
        let bytes = into.len().checked_div(self.len()).unwrap_or_default();
        let operand = |number: usize| &[ones, others][number % 2][number / 2 * bytes..][..bytes];
        fold_vertices(self.vertices(), given, Operands::InPlace(&operand), into, op);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collective::reduction_order::tests::{added, operand, root, same};

    /// The runs of a set of ranks.
    fn runs(set: &[bool]) -> Vec<Range<usize>> {
        let begins = |rank: &usize| set[*rank] && (*rank == 0 || !set[rank - 1]);
        let end = |first: usize| (first..set.len()).find(|rank| !set[*rank]).unwrap_or(set.len());
        (0..set.len()).filter(begins).map(|first| first..end(first)).collect()
    }

    proptest! {
        #[test]
        fn a_layout_has_as_many_values_at_most_as_it_says(sizes in proptest::collection::vec(1_usize..9, 1..20)) {
            let of: Vec<usize> = sizes.iter().enumerate().flat_map(|(node, size)| vec![node; *size]).collect();
            let layout = Layout::new(sizes.len(), of.len(), |rank| of[rank]);
            for (node, count) in (0..sizes.len()).flat_map(|node| (0..=sizes.len()).map(move |count| (node, count))) {
                let values = Cover::of(&layout.ranks_back(node, count), of.len()).len();
                prop_assert!(values <= layout.most_values(count), "{} of {} nodes", values, count);
            }
        }

        /// Every rank is in a set of its own at first, or in that of a node; sets are joined in a random order.
        #[test]
        fn covers_make_the_same_bits_in_every_order_of_joining(
            operands in proptest::collection::vec(proptest::collection::vec(operand(), 3), 1..300),
            nodes in 1_usize..20,
            placement in 0..4,
            seed: u64,
        ) {
            let ranks = operands.len();
            let mut random = seed | 1;
            let mut next = |below: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) as usize % below
            };
            let node = |rank: usize, next: &mut dyn FnMut(usize) -> usize| match placement {
                0 => rank * nodes / ranks,
                1 => rank % nodes,
                2 => rank,
                _ => next(nodes),
            };
            let of: Vec<usize> = (0..ranks).map(|rank| node(rank, &mut next)).collect();
            let mut sets: Vec<(Vec<bool>, Vec<f64>)> = Vec::new();
            for node in 0..nodes.max(ranks) {
                let set: Vec<bool> = of.iter().map(|of| *of == node).collect();
                let cover = runs(&set);
                let cover = Cover::of(&cover, ranks);
                let given = (0..ranks).filter(|rank| set[*rank]).map(|rank| (Vertex::rank(rank), rank));
                let operand = |rank: usize| bytemuck::cast_slice(&operands[rank]);
                let mut values = vec![0.0; 3 * cover.len()];
                cover.fold(given, &operand, bytemuck::cast_slice_mut(&mut values), &added());
                if cover.len() > 0 {
                    sets.push((set, values));
                }
            }
            while sets.len() > 1 {
                let (one, left) = sets.swap_remove(next(sets.len()));
                let (other, right) = sets.swap_remove(next(sets.len()));
                let set: Vec<bool> = one.iter().zip(&other).map(|(one, other)| one | other).collect();
                let runs = [runs(&set), runs(&one), runs(&other)];
                let [cover, ones, others] = [0, 1, 2].map(|k| Cover::of(&runs[k], ranks));
                let mut values = vec![0.0; 3 * cover.len()];
                let [left, right] = [&left, &right].map(|values| bytemuck::cast_slice(values));
                cover.join((ones, left), (others, right), bytemuck::cast_slice_mut(&mut values), &added());
                sets.push((set, values));
            }
            let (set, values) = &sets[0];
            let all = runs(set);
            prop_assert_eq!(Cover::of(&all, ranks).vertices().collect::<Vec<_>>(), [Vertex::all(ranks)]);
            for (k, value) in values.iter().enumerate() {
                let column: Vec<f64> = operands.iter().map(|of_rank| of_rank[k]).collect();
                prop_assert!(same(*value, root(&column, &|a, b| a + b)));
            }
        }
    }
}
