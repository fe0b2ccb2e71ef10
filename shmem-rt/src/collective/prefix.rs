//! What is combined of the contributions of lower ranks, on its way between nodes.

use core::ops::Range;
use core::slice::from_ref;

use bytemuck::Pod;

use super::census::Round;
use super::cover::Cover;
use super::desk::{Desk, Spot};
use super::passing::{Load, Passing};
use super::tree::{Vertex, with_partials};
use crate::group::Collective;

/// The values of the nodes before each, of a team whose ranks lie in order. As a [sum](super::sum::Sum), but that
/// it ends at node 0: from no node anything goes to one before it.
pub(super) struct Prefix<'d, N, F> {
    desk: Desk<'d>,
    op: F,
    /// Where the values of the nodes before lie, once there are any.
    others: Option<Spot>,
    numbers: core::marker::PhantomData<N>,
}

impl<'d, N: Pod, F: Fn(N, N) -> N> Prefix<'d, N, F> {
    pub(super) fn new(desk: Desk<'d>, op: F) -> Self {
        Self { desk, op, others: None, numbers: core::marker::PhantomData }
    }

    /// Behind the meeting, makes `into` what is combined of the first ranks, of which the last is on this node.
    pub(super) fn combine(&self, collective: &Collective<'_>, ranks: usize, into: &mut [N]) {
        let (team, desk) = (collective.team, &self.desk);
        let own = desk.placement().ranks(team.node());
        let before = 0..own.start;
        let before = Cover::of(from_ref(&before), team.size());
        // SAFETY: who acted for the node has written them, and nobody writes there before this PE comes to the next meeting.
        let values = unsafe { desk.values_at::<N>(collective, desk.result(team), before.len()) };
        let given = |tile: Range<usize>| {
            let here = (own.start..ranks).map({
                let tile = tile.clone();
                move |rank| {
                    // SAFETY: all members of the node have come to this meeting, with a contribution of as many numbers.
                    let all = unsafe { desk.contribution::<N>(collective, team.member(rank)) };
                    (Vertex::rank(rank), &all[tile.clone()])
                }
            });
            before.values(values, tile).chain(here)
        };
        // The tree of the first ranks: vertices of the whole one are vertices of it, but for those that are cut.
        let all = 0..ranks;
        let cover = Cover::of(from_ref(&all), ranks);
        with_partials(ranks, |partials| cover.fold(given, into, partials, &self.op));
    }

    /// The ranks of so many nodes before one, as far as there are any.
    fn back(&self, node: usize, count: usize) -> Range<usize> {
        let (first, end) = (node.saturating_sub(count), node);
        let start = |node: usize| match node {
            0 => 0,
            node => self.desk.placement().ranks(node - 1).end,
        };
        start(first)..start(end)
    }

    /// The values of so many nodes before this one.
    fn others<'s>(&self, collective: &Collective<'s>, nodes: usize) -> &'s [N] {
        let team = collective.team;
        let values = Cover::of(from_ref(&self.back(team.node(), nodes)), team.size()).len();
        let Some(spot) = self.others else { return &[] };
        // SAFETY: a round has brought them, or they were joined there in the last one: the next one writes elsewhere.
        unsafe { self.desk.values_at(collective, spot, values) }
    }

    fn own<'s>(&self, collective: &Collective<'s>) -> &'s [N] {
        let (team, desk) = (collective.team, &self.desk);
        let values = Cover::of(from_ref(&desk.placement().ranks(team.node())), team.size()).len();
        // SAFETY: `prepare` has written them, and nobody writes there before the next meeting.
        unsafe { desk.values_at(collective, desk.own(team), values) }
    }

    /// Makes `into` what two neighbouring runs of ranks have together.
    fn join(
        &self,
        collective: &Collective<'_>,
        (lower, lowers): (&Range<usize>, &[N]),
        (upper, uppers): (&Range<usize>, &[N]),
        into: Spot,
    ) -> usize {
        let ranks = collective.team.size();
        let both = lower.start..upper.end;
        let [both, lower, upper] = [&both, lower, upper].map(|run| Cover::of(from_ref(run), ranks));
        // SAFETY: only who acts for the node works at its desk, and what is joined lies elsewhere.
        let into = unsafe { self.desk.room_at::<N>(collective, into, both.len()) };
        with_partials(ranks, |partials| {
            both.join((lower, lowers), (upper, uppers), into, partials, &self.op);
        });
        both.len()
    }
}

impl<N: Pod, F: Fn(N, N) -> N> Passing for Prefix<'_, N, F> {
    fn prepare(&mut self, collective: &Collective<'_>) {
        let (team, desk) = (collective.team, &self.desk);
        let ranks = desk.placement().ranks(team.node());
        let cover = Cover::of(from_ref(&ranks), team.size());
        // SAFETY: only who acts for the node works at its desk, and contributions lie elsewhere.
        let own = unsafe { desk.room_at::<N>(collective, desk.own(team), cover.len()) };
        let given = |tile: Range<usize>| {
            ranks.clone().map(move |rank| {
                // SAFETY: all members of the node have come to this meeting, with a contribution of as many numbers.
                let all = unsafe { desk.contribution::<N>(collective, team.member(rank)) };
                (Vertex::rank(rank), &all[tile.clone()])
            })
        };
        with_partials(team.size(), |partials| cover.fold(given, own, partials, &self.op));
    }

    fn load(&mut self, collective: &Collective<'_>, round: Round) -> Load {
        let (team, desk) = (collective.team, &self.desk);
        if team.node() + round.distance >= team.node_count() {
            // It is one before: it has no use for what we have.
            return Load::NOTHING;
        }
        let to = desk.arriving(team, round).offset();
        let others = self.others(collective, round.known());
        let values = match round.with_own {
            false => others,
            true if others.is_empty() => self.own(collective),
            true => {
                let (spot, own) = (desk.outgoing(team), desk.placement().ranks(team.node()));
                let lower = self.back(team.node(), round.known());
                let values = self.join(collective, (&lower, others), (&own, self.own(collective)), spot);
                // SAFETY: they have just been written, and are sent before the next ones are.
                unsafe { desk.values_at(collective, spot, values) }
            }
        };
        Load { source: values.as_ptr().cast(), bytes: size_of_val(values), to }
    }

    fn unload(&mut self, collective: &Collective<'_>, round: Round) {
        let (team, desk) = (collective.team, &self.desk);
        // Who sends it is one of the nodes that are sent.
        let Some(end) = team.node().checked_sub(round.known()).filter(|end| *end > 0) else { return };
        if team.node() < round.distance {
            return;
        }
        let lower = self.back(end, round.distance);
        let values = Cover::of(from_ref(&lower), team.size()).len();
        let arrived = desk.arriving(team, round);
        if round.known() == 0 {
            self.others = Some(arrived);
            return;
        }
        // SAFETY: the round has brought them, and what comes there next comes at the next meeting but one.
        let came = unsafe { desk.values_at(collective, arrived, values) };
        let (upper, joined) = (self.back(team.node(), round.known()), desk.joined(team, round));
        self.join(collective, (&lower, came), (&upper, self.others(collective, round.known())), joined);
        self.others = Some(joined);
    }

    fn finish(&mut self, collective: &Collective<'_>) {
        let (team, desk) = (collective.team, &self.desk);
        let others = self.others(collective, team.node());
        let values = others.len() / desk.numbers::<N>().max(1);
        // SAFETY: only who acts for the node works at its desk, and what is copied lies elsewhere.
        unsafe { desk.room_at::<N>(collective, desk.result(team), values) }.copy_from_slice(others);
    }
}
