//! What is combined of all members' contributions, on its way between nodes.

use core::ops::Range;

use bytemuck::Pod;
use shmem_core::pe::Pe;

use super::census::Round;
use super::cover::Cover;
use super::desk::{Desk, Spot};
use super::passing::{Load, Passing};
use super::tree::{Vertex, fold, with_partials};
use crate::group::Collective;

/// The result of a reduction, for all members. What nodes have is one value for each vertex of their cover. If operations are
/// exact, so that it makes no difference in which order they are done, it is one value for all of them: then a node
/// and those before it count as one.
pub(super) struct Sum<'d, N, F> {
    desk: Desk<'d>,
    /// The contribution of the only member of this node, which becomes the result; of several, they
    /// [contribute](Desk::contribution) to their rooms.
    alone: Option<&'d mut [N]>,
    is_exact: bool,
    op: F,
    /// Where the values of the nodes before lie, once there are any.
    others: Option<Spot>,
}

impl<'d, N: Pod, F: Fn(N, N) -> N> Sum<'d, N, F> {
    pub(super) fn new(desk: Desk<'d>, alone: Option<&'d mut [N]>, is_exact: bool, op: F) -> Self {
        Self { desk, alone, is_exact, op, others: None }
    }

    /// Makes `into` the values of two sets of nodes that follow each other: so many nodes back from one, and those before.
    fn join(
        &self,
        collective: &Collective<'_>,
        later: (usize, usize, &[N]),
        earlier: (usize, usize, &[N]),
        into: Spot,
    ) {
        let (team, desk) = (collective.team, &self.desk);
        let (node, count, laters) = later;
        let (before, more, earliers) = earlier;
        if self.is_exact {
            // SAFETY: only who acts for the node works at its desk, and what is joined lies elsewhere.
            let into = unsafe { desk.room_at::<N>(collective, into, 1) };
            for (into, (earlier, later)) in into.iter_mut().zip(earliers.iter().zip(laters)) {
                *into = (self.op)(*earlier, *later);
            }
            return;
        }
        let back = |node, count| desk.placement().ranks_back(node, count);
        let runs = [back(node, count + more), back(node, count), back(before, more)];
        let [both, later, earlier] = runs.each_ref().map(|runs| Cover::of(runs, team.size()));
        // SAFETY: only who acts for the node works at its desk, and what is joined lies elsewhere.
        let into = unsafe { desk.room_at::<N>(collective, into, both.len()) };
        with_partials(team.size(), |partials| {
            both.join((earlier, earliers), (later, laters), into, partials, &self.op);
        });
    }

    /// How many values stand for so many nodes back from one.
    fn count(&self, collective: &Collective<'_>, node: usize, nodes: usize) -> usize {
        let runs = self.desk.placement().ranks_back(node, nodes);
        if self.is_exact { 1 } else { Cover::of(&runs, collective.team.size()).len() }
    }

    /// The values of this node.
    fn own<'s>(&'s self, collective: &Collective<'s>) -> &'s [N] {
        if let Some(mine) = &self.alone {
            return mine;
        }
        let (team, desk) = (collective.team, &self.desk);
        let values = self.count(collective, team.node(), 1);
        // SAFETY: `prepare` has written them, and nobody writes there before the next meeting.
        unsafe { desk.values_at(collective, desk.own(team), values) }
    }

    /// The values of so many nodes before this one.
    fn others<'s>(&self, collective: &Collective<'s>, nodes: usize) -> &'s [N] {
        let node = before(collective, 1);
        let spot = self.others.unwrap_or_else(|| unreachable!("others have come in the first round"));
        // SAFETY: a round has brought them, or they were joined there in the last one: the next one writes elsewhere.
        unsafe { self.desk.values_at(collective, spot, self.count(collective, node, nodes)) }
    }
}

impl<N: Pod, F: Fn(N, N) -> N> Passing for Sum<'_, N, F> {
    fn prepare(&mut self, collective: &Collective<'_>) {
        if self.alone.is_some() {
            return;
        }
        let (team, desk) = (collective.team, &self.desk);
        let (spot, values) = (desk.own(team), self.count(collective, team.node(), 1));
        // SAFETY: only who acts for the node works at its desk, and contributions lie elsewhere.
        let own = unsafe { desk.room_at::<N>(collective, spot, values) };
        // SAFETY: all members of the node have come to this meeting, with a contribution of as many numbers.
        let contribution = |member: &Pe| unsafe { desk.contribution::<N>(collective, *member) };
        let near = team.neighbours();
        if self.is_exact {
            let of = |k: usize| contribution(&near[k]);
            return with_partials(near.len(), |partials| fold(near.len(), of, own, partials, &self.op));
        }
        let ranks = desk.placement().ranks(team.node());
        let given = |tile: Range<usize>| {
            let vertices = ranks.clone().map(Vertex::rank);
            vertices.zip(near).map(move |(vertex, member)| (vertex, &contribution(member)[tile.clone()]))
        };
        let cover = Cover::of(core::slice::from_ref(&ranks), team.size());
        with_partials(team.size(), |partials| cover.fold(given, own, partials, &self.op));
    }

    fn load(&mut self, collective: &Collective<'_>, round: Round) -> Load {
        let (team, desk) = (collective.team, &self.desk);
        let to = desk.arriving(team, round).offset();
        let values = match (round.known(), round.with_own) {
            (0, _) => self.own(collective),
            (known, false) => self.others(collective, known),
            (known, true) => {
                let spot = desk.outgoing(team);
                let others = (before(collective, 1), known, self.others(collective, known));
                self.join(collective, (team.node(), 1, self.own(collective)), others, spot);
                let count = self.count(collective, team.node(), known + 1);
                // SAFETY: they have just been written, and are sent before the next ones are.
                unsafe { desk.values_at(collective, spot, count) }
            }
        };
        Load { source: values.as_ptr().cast(), bytes: size_of_val(values), to }
    }

    fn unload(&mut self, collective: &Collective<'_>, round: Round) {
        let (team, desk) = (collective.team, &self.desk);
        let arrived = desk.arriving(team, round);
        let known = round.known();
        if known == 0 {
            self.others = Some(arrived);
            return;
        }
        // From behind those that are known.
        let node = before(collective, known + 1);
        let values = self.count(collective, node, round.distance);
        // SAFETY: the round has brought them, and what comes there next comes at the next meeting but one.
        let came = unsafe { desk.values_at(collective, arrived, values) };
        let others = (before(collective, 1), known, self.others(collective, known));
        let joined = desk.joined(team, round);
        self.join(collective, others, (node, round.distance, came), joined);
        self.others = Some(joined);
    }

    fn finish(&mut self, collective: &Collective<'_>) {
        let (team, others) = (collective.team, collective.team.node_count() - 1);
        let came = self.others(collective, others);
        if let Some(mine) = &mut self.alone
            && (self.is_exact || team.size() == 2)
        {
            // Nodes are in the order of their first ranks.
            return match team.node() {
                0 => mine.iter_mut().zip(came).for_each(|(mine, came)| *mine = (self.op)(*mine, *came)),
                _ => mine.iter_mut().zip(came).for_each(|(mine, came)| *mine = (self.op)(*came, *mine)),
            };
        }
        let result = self.desk.result(team);
        let others = (before(collective, 1), others, came);
        self.join(collective, (team.node(), 1, self.own(collective)), others, result);
        if let Some(mine) = &mut self.alone {
            // SAFETY: it has just been written.
            mine.copy_from_slice(unsafe { self.desk.values_at(collective, result, 1) });
        }
    }
}

/// The node so many before this one.
fn before(collective: &Collective<'_>, count: usize) -> usize {
    let nodes = collective.team.node_count();
    (collective.team.node() + nodes - count) % nodes
}
