//! One PE's part of the checks: what each call means for them, and what the PE passes on of what it knows, and learns from
//! others, through words and where PEs meet.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use shmem_core::exclusion::Mutex;
use shmem_core::observe::{Call, Effect, Family, Meeting as Met, Wait};
use shmem_core::pe::Pe;
use shmem_core::transport::AtomicOp;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::CheckChoice;

use super::blocks::{Blocks, Side};
use super::clock::{Addressee, Class, Clock, MOST_PES, Own};
use super::flights::{Flight, Flights};
use super::history::Access;
use super::report::{Reports, Where};
use super::shadow::{Body, MOST_SITES, Meeting, Shadows, Site};
use super::standing::{Entered, Position, Standing, circle};
use super::words::{Announced, Change};
use crate::caller::{self, Caller};
use crate::process::threads;

/// What lies at an offset, in words.
pub(crate) type Names = Box<dyn Fn(usize) -> String + Send + Sync>;

/// The PEs of this node, as the checks see them.
pub(crate) struct NodePes {
    /// Their numbers, in the order of their slots.
    pub(crate) numbers: Vec<usize>,
    /// The slot of the first.
    pub(crate) first_slot: usize,
    /// Which of them is the calling PE.
    pub(crate) index: usize,
    /// The addresses of its slot.
    pub(crate) place: std::ops::Range<usize>,
    /// Whether several of its threads may be in collectives at a time.
    pub(crate) many_threads: bool,
    pub(crate) names: Names,
}

/// One PE's part of the checks.
pub(in crate::observe) struct Checker {
    node: NodePes,
    shadows: Shadows,
    reports: Reports,
    state: Mutex<State>,
}

struct State {
    own: Own,
    flights: Flights,
    /// The flag of each PE that this one has seen last.
    seen: [Seen; MOST_PES],
    /// Lines by where the names of their files lie, which are kept for as long as the PE runs, and their numbers.
    sites: HashMap<(usize, u32, Family), u32>,
    /// The number of the line whose call is told, once it is known.
    site: Option<u32>,
    /// The word, and the least value, of the last wait that left open which signals had come.
    step: Option<(usize, u64)>,
}

impl State {
    /// All that this PE has issued is complete.
    fn quiet(&mut self) {
        self.own.quiet(|_, _| true);
        self.flights.quiet(|_, _| true);
    }
}

/// A flag of another PE, and where this PE has seen it.
#[derive(Clone, Copy)]
struct Seen {
    change: Change,
    at: Option<(Family, Caller)>,
}

impl Checker {
    /// The checks of one PE; nothing, and a warning, if there are more PEs on the node than can be checked.
    pub(in crate::observe) fn create(
        choice: CheckChoice,
        node: NodePes,
        bootstrap: &Arc<dyn Bootstrap>,
    ) -> io::Result<Option<Self>> {
        let pes = node.numbers.len();
        let reports = Reports::new(choice, node.numbers[node.index], Arc::clone(bootstrap));
        if pes > MOST_PES {
            reports.warn(&format!(
                "nothing is checked: a node has at most {MOST_PES} PEs for that, this one {pes}"
            ));
            return Ok(None);
        }
        if pes < bootstrap.count() {
            reports.warn(
                "what PEs of different nodes do to each other is not checked: no races, early flags or counted signals \
                 between them are found; run all PEs on one node to have that checked",
            );
        }
        if !cfg!(debug_assertions) && caller::finds().is_none() {
            reports.warn("single loads and stores of `here` are not checked: this build is optimised");
        }
        let shadows = Shadows::create(bootstrap.as_ref(), node.index, pes)?;
        let seen = [Seen { change: Change::default(), at: None }; MOST_PES];
        let (own, flights) = (Own::new(node.index), Flights::default());
        let state = Mutex::new(State { own, flights, seen, sites: HashMap::new(), site: None, step: None });
        Ok(Some(Self { node, shadows, reports, state }))
    }

    /// Ends the job if there was a mistake, together with all PEs.
    pub(in crate::observe) fn conclude(&self) -> io::Result<()> {
        let is_short = self.shadows.with(self.node.index, |body| body.history.is_short);
        if is_short || self.state().flights.is_short {
            self.reports
                .warn("more was done between synchronisations than is kept: races may be missing above");
        }
        self.reports.conclude()
    }

    pub(in crate::observe) fn begin(&self, call: &Call<'_>) {
        let state = &mut *self.state();
        state.site = None;
        if call.listed.is_some() {
            self.own_side(state, call, call.family.effect() != Effect::Put);
        }
        elements(call, |call| self.begin_one(state, call));
    }

    fn begin_one(&self, state: &mut State, call: &Call<'_>) {
        match call.family.effect() {
            Effect::Put => _ = self.put(state, call, false),
            Effect::PutSignal => {
                let announced = self.put(state, call, true);
                self.pass_on(state, call, call.signal, announced);
            }
            Effect::Get => self.get(state, call),
            Effect::Update => self.pass_on(state, call, Some(call.offset), None),
            Effect::Fetch => {
                self.own_side(state, call, true);
                if call.word.is_some_and(|word| word.op != AtomicOp::Fetch) {
                    self.pass_on(state, call, Some(call.offset), None);
                }
            }
            Effect::Load => self.touch_own(state, call, false),
            Effect::Store => self.touch_own(state, call, true),
            Effect::Barrier | Effect::Collective => self.arrive(state, call),
            Effect::Start => self.start(state, call),
            Effect::Release => {
                state.quiet();
                self.pass_on(state, call, Some(call.offset), None);
            }
            Effect::Order | Effect::Wait | Effect::Acquire | Effect::Finish => {}
        }
    }

    pub(in crate::observe) fn end(&self, call: &Call<'_>) {
        let state = &mut *self.state();
        state.site = None;
        let endpoint = call.endpoint;
        match (call.family.effect(), call.family) {
            (Effect::Fetch | Effect::Wait | Effect::Acquire, _) => {
                elements(call, |call| self.learn(state, call));
            }
            (Effect::Barrier | Effect::Collective, _) => self.leave(state, call),
            (Effect::Finish, _) => self.finish(state, call),
            (Effect::Order, Family::Fence) => state.own.fence(endpoint),
            (Effect::Order, _) => {
                // Of one PE, or of all.
                let pe = call.pe.map(|pe| (pe.number(), self.index_of(pe)));
                state.own.quiet(|of, to| of == endpoint && pe.is_none_or(|(_, index)| index == Some(to)));
                state.flights.quiet(|of, to| of == endpoint && pe.is_none_or(|(number, _)| number == to));
            }
            _ => {}
        }
    }

    /// A put; gives what a signal behind it announces to another PE.
    fn put(&self, state: &mut State, call: &Call<'_>, is_signalled: bool) -> Option<Announced> {
        self.own_side(state, call, false);
        let to = call.pe.and_then(|pe| self.index_of(pe))?;
        // What a PE writes to itself it could as well store.
        let class = if to == self.node.index { Class::REST } else { Class::put(call.endpoint, is_signalled) };
        for blocks in blocks(call, Side::To, call.offset) {
            self.touch(state, call, to, blocks, class, true);
        }
        if to == self.node.index {
            return None;
        }
        let (by, epoch) = (self.node.index as u32, state.own.epoch());
        state.own.put(call.endpoint, to, class);
        is_signalled.then_some(Announced { by, epoch, class })
    }

    fn get(&self, state: &mut State, call: &Call<'_>) {
        self.own_side(state, call, true);
        let Some(from) = call.pe.and_then(|pe| self.index_of(pe)) else { return };
        for blocks in blocks(call, Side::From, call.offset) {
            self.touch(state, call, from, blocks, Class::REST, false);
        }
    }

    /// The side of a transfer that belongs to this PE: its buffer, or symmetric memory.
    fn own_side(&self, state: &mut State, call: &Call<'_>, writes: bool) {
        if call.local == 0 {
            return;
        }
        let side = if writes { Side::To } else { Side::From };
        for blocks in blocks(call, side, call.local) {
            self.refuse_reuse(state, call, &blocks, writes);
            if call.family.is_nonblocking() {
                let (site, endpoint) = (self.site(state, call), call.endpoint);
                let pe = call.pe.map_or(usize::MAX, |pe| pe.number());
                state.flights.add(Flight { site, endpoint, pe, blocks, writes });
            }
        }
        if self.node.place.contains(&call.local) {
            for blocks in blocks(call, side, call.local - self.node.place.start) {
                self.record(state, call, self.node.index, blocks, Class::REST, writes);
            }
        }
    }

    fn touch_own(&self, state: &mut State, call: &Call<'_>, writes: bool) {
        self.touch(state, call, self.node.index, Blocks::range(call.offset, call.bytes), Class::REST, writes);
    }

    /// An access to memory of the PE in slot `to`.
    fn touch(
        &self,
        state: &mut State,
        call: &Call<'_>,
        to: usize,
        blocks: Blocks,
        class: Class,
        writes: bool,
    ) {
        if to == self.node.index {
            self.refuse_reuse(state, call, &blocks.moved(self.node.place.start), writes);
        }
        self.record(state, call, to, blocks, class, writes);
    }

    /// Compares an access with those of other PEs, and keeps it.
    fn record(
        &self,
        state: &mut State,
        call: &Call<'_>,
        to: usize,
        blocks: Blocks,
        class: Class,
        writes: bool,
    ) {
        let site = self.site(state, call);
        let (by, epoch) = (self.node.index as u32, state.own.epoch());
        let access = Access { blocks, by, epoch, class, site, writes: writes.into() };
        let (race, is_long) = self.shadows.with(to, |body| {
            let race = body.history.race(&access, &state.own.clock, to);
            (race, body.history.add(&access))
        });
        if is_long {
            self.forget(state, to);
        }
        if let Some(other) = race {
            self.report_race(state, call, to, &access, &other);
        }
    }

    fn refuse_reuse(&self, state: &State, call: &Call<'_>, blocks: &Blocks, writes: bool) {
        if let Some(flight) = state.flights.conflict(blocks, writes) {
            let earlier = self.line(self.node.index, flight.site);
            self.reports.reuse(&earlier, flight.writes, &self.line_of(call), writes);
        }
    }

    fn report_race(&self, state: &State, call: &Call<'_>, to: usize, access: &Access, other: &Access) {
        let by = other.by as usize;
        let (earlier, later) = (self.line(by, other.site), self.line_of(call));
        let what = (self.node.names)(access.blocks.start());
        let Seen { change, at } = state.seen[by];
        match at {
            Some((family, caller)) if other.class != Class::REST && change.epoch >= other.epoch => {
                let (flag, wait) = (self.site_of(by, change.site), Site::of(family, caller));
                match other.class.is_signalled() {
                    true => self.reports.other_signal(&earlier, &wait, &later, &what),
                    false => self.reports.early_flag(&earlier, &flag, &wait, &later, &what),
                }
            }
            _ => self.reports.race(&earlier, &later, self.number(to), &what),
        }
    }

    /// What this PE knows goes to whoever looks at the word at `offset` of the call's PE; what a signal announces
    /// goes to those who know that it was this one.
    fn pass_on(
        &self,
        state: &mut State,
        call: &Call<'_>,
        offset: Option<usize>,
        announced: Option<Announced>,
    ) {
        let (Some(to), Some(offset)) = (call.pe.and_then(|pe| self.index_of(pe)), offset) else { return };
        let change = Change { epoch: state.own.epoch(), site: self.site(state, call) };
        let clock = state.own.pass_on(Some(Addressee { endpoint: call.endpoint, pe: to }));
        let adds = call.word.is_some_and(|word| matches!(word.op, AtomicOp::Add(_)));
        self.shadows.with(to, |body| {
            let (words, known) = (&mut body.words, &body.known);
            let (word, is_alone) = words.entry(offset);
            word.clock.join(&clock, self.shadows.pes());
            word.changes[self.node.index] = change;
            match announced {
                Some(one) if is_alone => {
                    let knows = |one: &Announced| known.knows(one.class, one.by as usize, to, one.epoch);
                    word.announce(one, to, adds, knows);
                }
                Some(one) => word.clock.learn(one.class, one.by as usize, to, one.epoch),
                None => {}
            }
        });
    }

    /// What those knew who changed the words that the call looks at.
    fn learn(&self, state: &mut State, call: &Call<'_>) {
        let Some(of) = call.pe.and_then(|pe| self.index_of(pe)) else { return };
        let State { own, seen, .. } = state;
        let mut open = None;
        let pes = self.shadows.pes();
        // What a wait was content with, not what it saw: elsewhere it may have seen no more than that.
        let is_beyond =
            |wait: Wait| wait.number.load(Ordering::Relaxed).wrapping_sub(wait.least).cast_signed() > 0;
        let is_short = of == self.node.index && call.wait.is_some_and(is_beyond);
        self.shadows.with(of, |body| {
            for word in body.words.changed(call.offset, call.bytes) {
                own.clock.join(&word.clock, pes);
                let of_word = word.heard(&mut own.clock, of, is_short);
                open = of_word.map(|by| (by, word.changes[by].site)).or(open);
                for (seen, change) in seen.iter_mut().zip(&word.changes) {
                    if change.epoch > seen.change.epoch {
                        *seen = Seen { change: *change, at: Some((call.family, Caller::of(call.location))) };
                    }
                }
            }
        });
        self.shadows.with(self.node.index, |body| body.known = own.clock);
        if let Some(wait) = call.wait {
            self.step(state, call, wait.least, open);
        }
    }

    /// A wait for signals that add up; which of those that the PE and its line `open` adds have come is not known. What a program
    /// in C reads of its own memory is not seen. But who waits for some, and then for some more, has read what the first announce.
    fn step(&self, state: &mut State, call: &Call<'_>, least: u64, open: Option<(usize, u32)>) {
        let before = state.step.filter(|(offset, _)| *offset == call.offset);
        match open {
            None if before.is_some() => state.step = None,
            None => {}
            Some((by, line)) => {
                state.step = Some((call.offset, least));
                if caller::finds().is_some() && before.is_some_and(|(_, before)| before < least) {
                    self.reports.steps(&self.line(by, line), &self.line_of(call));
                }
            }
        }
    }

    /// What this PE shows to the others when it comes to a meeting.
    fn come(&self, state: &mut State, meeting: &Met<'_>, is_quiet: bool) -> Meeting {
        if is_quiet {
            state.quiet();
        }
        let slots = meeting.members.iter().filter_map(|pe| self.index_of(*pe));
        let entered = Entered { members: slots.map(|slot| 1 << slot).sum(), count: meeting.count };
        Meeting { entered, clock: state.own.pass_on(None) }
    }

    fn arrive(&self, state: &mut State, call: &Call<'_>) {
        let Some(meeting) = call.meeting else { return };
        let Meeting { entered, clock } = self.come(state, &meeting, call.family.effect() == Effect::Barrier);
        let is_alone = !self.node.many_threads || threads() == Some(1);
        let (team, site) = (meeting.team as u32, self.site(state, call));
        self.shadows.with(self.node.index, |body| {
            let published = &mut body.meetings[meeting.team][meeting.count as usize % 2];
            (published.entered, published.clock) = (entered, clock);
            body.entered[meeting.team] = entered;
            // Of a PE with several threads nobody knows that it cannot come to another collective meanwhile.
            body.standing = Standing { is_inside: u32::from(is_alone), team, entered, site };
        });
        let position = |slot| {
            self.shadows.with(slot, |body| Position { standing: body.standing, entered: body.entered })
        };
        let positions: Vec<_> = (0..self.shadows.pes()).map(position).collect();
        if let Some(circle) = circle(&positions, self.node.index) {
            let place =
                |slot: &usize| (self.number(*slot), self.site_of(*slot, positions[*slot].standing.site));
            self.reports.deadlock(&circle.iter().map(place).collect::<Vec<_>>());
        }
    }

    fn leave(&self, state: &mut State, call: &Call<'_>) {
        let Some(meeting) = call.meeting else { return };
        state.step = None;
        let half = meeting.count as usize % 2;
        self.hear(state, &meeting, |body| &body.meetings[meeting.team][half]);
        self.shadows.with(self.node.index, |body| {
            body.standing.is_inside = 0;
            body.known = state.own.clock;
        });
    }

    /// A meeting is started, and waited for later.
    fn start(&self, state: &mut State, call: &Call<'_>) {
        let Some(meeting) = call.meeting else { return };
        let published = self.come(state, &meeting, call.family == Family::StartBarrier);
        self.shadows.with(self.node.index, |body| {
            let places = &mut body.flights[meeting.team];
            places[meeting.count as usize % places.len()] = published;
        });
    }

    fn finish(&self, state: &mut State, call: &Call<'_>) {
        let Some(meeting) = call.meeting else { return };
        self.hear(state, &meeting, |body| {
            let places = &body.flights[meeting.team];
            &places[meeting.count as usize % places.len()]
        });
        self.shadows.with(self.node.index, |body| body.known = state.own.clock);
    }

    /// Learns what the other members of this node knew when they came to a meeting.
    fn hear(&self, state: &mut State, met: &Met<'_>, published: impl Fn(&Body) -> &Meeting) {
        let pes = self.shadows.pes();
        for slot in
            met.members.iter().filter_map(|pe| self.index_of(*pe)).filter(|slot| *slot != self.node.index)
        {
            self.shadows.with(slot, |body| {
                let published = published(body);
                // Who may leave before all have come may be further on; who has not come has told nothing.
                if published.entered.count >= met.count {
                    state.own.clock.join(&published.clock, pes);
                }
            });
        }
    }

    /// Forgets accesses to memory of `to` that all PEs know of.
    fn forget(&self, state: &State, to: usize) {
        let pes = self.shadows.pes();
        let knows = |slot| match slot == self.node.index {
            true => state.own.clock,
            false => self.shadows.with(slot, |body| body.known),
        };
        let all: Vec<Clock> = (0..pes).map(knows).collect();
        let known_of = |by: usize| {
            let others = all.iter().enumerate().filter(|(slot, _)| *slot != by).map(|(_, clock)| *clock);
            others.reduce(|mut all, one| {
                all.meet(&one, pes);
                all
            })
        };
        let known: Vec<_> = (0..pes).map(|by| known_of(by).unwrap_or(Clock::ZERO)).collect();
        self.shadows.with(to, |body| body.history.forget(&known, to));
    }

    /// Which of the PEs of this node it is, if it is one.
    fn index_of(&self, pe: Pe) -> Option<usize> {
        Some(pe.on_node()? - self.node.first_slot)
    }

    fn number(&self, slot: usize) -> usize {
        self.node.numbers[slot]
    }

    /// The number of the line of this PE that makes a call, which others can look up.
    fn site(&self, state: &mut State, call: &Call<'_>) -> u32 {
        if let Some(site) = state.site {
            return site;
        }
        let next = state.sites.len().min(MOST_SITES - 1) as u32;
        let caller = Caller::of(call.location);
        let line = (caller.file.as_ptr().addr(), caller.line, call.family);
        let site = *state.sites.entry(line).or_insert_with(|| {
            let site = Site::of(call.family, caller);
            self.shadows.with(self.node.index, |body| body.sites[next as usize] = site);
            next
        });
        state.site = Some(site);
        site
    }

    /// A line of a PE, by its number.
    fn line(&self, slot: usize, site: u32) -> Where {
        Where { pe: self.number(slot), site: self.site_of(slot, site) }
    }

    /// The line of this PE that makes a call.
    fn line_of(&self, call: &Call<'_>) -> Where {
        let site = Site::of(call.family, Caller::of(call.location));
        Where { pe: self.number(self.node.index), site }
    }

    fn site_of(&self, slot: usize, site: u32) -> Site {
        self.shadows.with(slot, |body| body.sites[site as usize % MOST_SITES])
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Calls `check` with each element that a call lists, as a call of its own without a side of the caller; or with the call, if
/// it lists none.
fn elements(call: &Call<'_>, mut check: impl FnMut(&Call<'_>)) {
    let Some(listed) = call.listed else { return check(call) };
    for (pe, offset) in listed.places {
        check(&Call { pe: Some(*pe), offset: *offset, bytes: listed.size, local: 0, listed: None, ..*call });
    }
}

/// The bytes on one side of a call.
fn blocks(call: &Call<'_>, side: Side, start: usize) -> Vec<Blocks> {
    match call.plan {
        Some(plan) => Blocks::of(plan.pattern(), side, start),
        None => vec![Blocks::range(start, call.bytes)],
    }
}
