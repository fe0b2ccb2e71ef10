//! The checks of one PE: derives the effect of each call, and publishes and joins vector clocks.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use shmem_core::exclusion::Mutex;
use shmem_core::observe::{Call, Effect, Family, Wait};
use shmem_core::transport::AtomicOp;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::CheckChoice;

use super::blocks::{Blocks, Side};
use super::buffers_in_flight::{Flight, Flights};
use super::clock::{Class, Clock, MOST_PES, Own};
use super::clock_words::{Announced, Change};
use super::history::Access;
use super::report::{Reports, Where};
use super::shadow::{Body, MOST_SITES, PublishedClock, Shadows, Site};
use crate::caller::{self, CallSite};
use crate::state::object_names::ObjectNames;

/// The PEs of this node, with the data that checks need about them.
pub(crate) struct NodePes {
    /// The number of each PE, by the index of its slot on the node.
    pub(crate) numbers: Vec<usize>,
    /// Index of the calling PE's slot on the node.
    pub(crate) slot: usize,
    pub(crate) place: std::ops::Range<usize>,
    pub(crate) names: ObjectNames,
}

pub(in crate::observe) struct Checker {
    node: NodePes,
    shadows: Shadows,
    reports: Reports,
    state: Mutex<CheckState>,
}

struct CheckState {
    own: Own,
    flights: Flights,
    /// For each PE, its last change of a word that this PE has seen.
    seen: [Seen; MOST_PES],
    /// Index of a source line in `Body::sites`, by the address of the file's name, the line, and the operation.
    sites: HashMap<(usize, u32, Family), u32>,
    /// Index of the current call's source line, once it is known.
    site: Option<u32>,
    /// The last wait that could not prove which signals had arrived: the word's offset, and the least value waited for.
    step: Option<(usize, u64)>,
}

impl CheckState {
    fn quiet(&mut self) {
        self.own.quiet(|_, _| true);
        self.flights.quiet(|_, _| true);
    }
}

/// A change of a word by another PE, and the call in which this PE has seen it.
#[derive(Clone, Copy)]
struct Seen {
    change: Change,
    at: Option<(Family, CallSite)>,
}

impl Checker {
    /// Creates the checks of one PE. Returns `None`, after a warning, if the node has more PEs than can be checked.
    pub(in crate::observe) fn create(
        choice: CheckChoice,
        node: NodePes,
        bootstrap: &Arc<dyn Bootstrap>,
    ) -> io::Result<Option<Self>> {
        let pes = node.numbers.len();
        let reports = Reports::new(choice, node.numbers[node.slot], Arc::clone(bootstrap));
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
        let shadows = Shadows::create(bootstrap.as_ref(), node.slot, pes)?;
        let seen = [Seen { change: Change::default(), at: None }; MOST_PES];
        let (own, flights) = (Own::new(node.slot), Flights::default());
        let state =
            Mutex::new(CheckState { own, flights, seen, sites: HashMap::new(), site: None, step: None });
        Ok(Some(Self { node, shadows, reports, state }))
    }

    /// Ends the job if any PE found a mistake. All PEs call this function together.
    pub(in crate::observe) fn conclude(&self) -> io::Result<()> {
        let is_short = self.mine(|body| body.history.is_short);
        if is_short || self.state.lock().flights.is_short {
            self.reports
                .warn("more was done between synchronisations than is kept: races may be missing above");
        }
        self.reports.conclude()
    }

    pub(in crate::observe) fn begin(&self, call: &Call<'_>) {
        self.check(call, |mut checked| {
            if call.listed.is_some() {
                checked.own_side(call.family.effect() != Effect::Put);
            }
            checked.elements(|one| one.begin());
        });
    }

    pub(in crate::observe) fn end(&self, call: &Call<'_>) {
        self.check(call, |mut checked| checked.end());
    }

    fn check(&self, call: &Call<'_>, check: impl FnOnce(Checked<'_>)) {
        let state = &mut *self.state.lock();
        state.site = None;
        check(Checked { of: self, state, call });
    }

    fn mine<R>(&self, work: impl FnOnce(&mut Body) -> R) -> R {
        self.shadows.with(self.node.slot, work)
    }

    fn line(&self, slot: usize, site: u32) -> Where {
        Where { pe: self.node.numbers[slot], site: self.site_of(slot, site) }
    }

    fn site_of(&self, slot: usize, site: u32) -> Site {
        self.shadows.with(slot, |body| body.sites[site as usize % MOST_SITES])
    }
}

struct Checked<'a> {
    of: &'a Checker,
    state: &'a mut CheckState,
    call: &'a Call<'a>,
}

impl Checked<'_> {
    /// Runs `check` on each element of the call's list, as on a call without a local buffer; without a list, on the call.
    fn elements(&mut self, check: impl Fn(&mut Checked<'_>)) {
        let Some(listed) = self.call.listed else {
            return check(&mut Checked { of: self.of, state: self.state, call: self.call });
        };
        for (pe, offset) in listed.places {
            let (bytes, local, listed) = (listed.size, 0, None);
            let call = &Call { pe: Some(*pe), offset: *offset, bytes, local, listed, ..*self.call };
            check(&mut Checked { of: self.of, state: self.state, call });
        }
    }

    fn begin(&mut self) {
        let offset = Some(self.call.offset);
        match self.call.family.effect() {
            Effect::Put => _ = self.put(false),
            Effect::PutSignal => {
                let announced = self.put(true);
                self.pass_on(self.call.signal, announced);
            }
            Effect::Get => self.get(),
            Effect::Update => self.pass_on(offset, None),
            Effect::Fetch => {
                self.own_side(true);
                if self.call.word.is_some_and(|word| word.op != AtomicOp::Fetch) {
                    self.pass_on(offset, None);
                }
            }
            Effect::Load => self.touch_own(false),
            Effect::Store => self.touch_own(true),
            Effect::Barrier | Effect::Collective | Effect::Start => self.arrive(),
            Effect::Release => {
                self.state.quiet();
                self.pass_on(offset, None);
            }
            Effect::Order | Effect::Wait | Effect::Acquire | Effect::Finish => {}
        }
    }

    fn end(&mut self) {
        let endpoint = self.call.endpoint;
        match (self.call.family.effect(), self.call.family) {
            (Effect::Fetch | Effect::Wait | Effect::Acquire, _) => self.elements(|one| one.learn()),
            (Effect::Barrier | Effect::Collective | Effect::Finish, _) => self.leave(),
            (Effect::Order, Family::Fence) => self.state.own.fence(endpoint),
            (Effect::Order, _) => {
                // The quiet is for one PE, or for all PEs if the call names none.
                let pe = self.call.pe.map(|pe| (pe.number(), pe.on_node()));
                let CheckState { own, flights, .. } = &mut *self.state;
                own.quiet(|of, to| of == endpoint && pe.is_none_or(|(_, index)| index == Some(to)));
                flights.quiet(|of, to| of == endpoint && pe.is_none_or(|(number, _)| number == to));
            }
            _ => {}
        }
    }

    fn target(&self) -> Option<usize> {
        self.call.pe.and_then(|pe| pe.on_node())
    }

    fn blocks(&self, side: Side, start: usize) -> Vec<Blocks> {
        match self.call.plan {
            Some(plan) => Blocks::of(plan.pattern(), side, start),
            None => vec![Blocks::range(start, self.call.bytes)],
        }
    }

    /// Checks a put. Returns the put as an [`Announced`] if it has a signal and goes to another PE.
    fn put(&mut self, is_signalled: bool) -> Option<Announced> {
        self.own_side(false);
        let (me, to, endpoint) = (self.of.node.slot, self.target()?, self.call.endpoint);
        // A put of a PE to itself counts as a store, which is complete when it returns.
        let class = if to == me { Class::REST } else { Class::put(endpoint, is_signalled) };
        for blocks in self.blocks(Side::To, self.call.offset) {
            self.touch(to, blocks, class, true);
        }
        if to == me {
            return None;
        }
        let (by, epoch) = (me as u32, self.state.own.epoch);
        self.state.own.put(endpoint, to, class);
        is_signalled.then_some(Announced { by, epoch, class })
    }

    fn get(&mut self) {
        self.own_side(true);
        let Some(from) = self.target() else { return };
        for blocks in self.blocks(Side::From, self.call.offset) {
            self.touch(from, blocks, Class::REST, false);
        }
    }

    /// Checks this PE's side of a transfer: a private buffer, or symmetric memory.
    fn own_side(&mut self, writes: bool) {
        let (call, place) = (self.call, &self.of.node.place);
        if call.local == 0 {
            return;
        }
        for blocks in self.blocks(if writes { Side::To } else { Side::From }, call.local) {
            self.refuse_reuse(&blocks, writes);
            if call.family.is_nonblocking() {
                let (site, pe) = (self.site(), call.pe.map_or(usize::MAX, |pe| pe.number()));
                self.state.flights.add(Flight { site, endpoint: call.endpoint, pe, blocks, writes });
            }
            if place.contains(&call.local) {
                self.record(self.of.node.slot, blocks.from(place.start), Class::REST, writes);
            }
        }
    }

    fn touch_own(&mut self, writes: bool) {
        let blocks = Blocks::range(self.call.offset, self.call.bytes);
        self.touch(self.of.node.slot, blocks, Class::REST, writes);
    }

    fn touch(&mut self, to: usize, blocks: Blocks, class: Class, writes: bool) {
        if to == self.of.node.slot {
            self.refuse_reuse(&blocks.moved(self.of.node.place.start), writes);
        }
        self.record(to, blocks, class, writes);
    }

    fn record(&mut self, to: usize, blocks: Blocks, class: Class, writes: bool) {
        let (site, by, epoch) = (self.site(), self.of.node.slot as u32, self.state.own.epoch);
        let access = Access { blocks, by, epoch, class, site, writes: writes.into() };
        let (race, is_long) = self.of.shadows.with(to, |body| {
            let race = body.history.race(&access, &self.state.own.clock, to);
            (race, body.history.add(&access))
        });
        if is_long {
            self.forget(to);
        }
        if let Some(other) = race {
            self.report_race(to, &access, &other);
        }
    }

    fn refuse_reuse(&self, blocks: &Blocks, writes: bool) {
        if let Some(flight) = self.state.flights.conflict(blocks, writes) {
            let earlier = self.of.line(self.of.node.slot, flight.site);
            self.of.reports.reuse(&earlier, flight.writes, &self.line(), writes);
        }
    }

    fn report_race(&self, to: usize, access: &Access, other: &Access) {
        let (of, by) = (self.of, other.by as usize);
        let (earlier, later) = (of.line(by, other.site), self.line());
        let what = of.node.names.word_at(access.blocks.start as usize);
        let Seen { change, at } = self.state.seen[by];
        match at {
            Some((family, caller)) if other.class != Class::REST && change.epoch >= other.epoch => {
                let (flag, wait) = (of.site_of(by, change.site), Site::of(family, caller));
                match other.class.is_signalled() {
                    true => of.reports.other_signal(&earlier, &wait, &later, &what),
                    false => of.reports.early_flag(&earlier, &flag, &wait, &later, &what),
                }
            }
            _ => of.reports.race(&earlier, &later, of.node.numbers[to], &what),
        }
    }

    /// Joins this PE's clock into the shared record of the word at `offset`, and adds the put that the word's signal announces.
    fn pass_on(&mut self, offset: Option<usize>, announced: Option<Announced>) {
        let (Some(to), Some(offset)) = (self.target(), offset) else { return };
        let change = Change { epoch: self.state.own.epoch, site: self.site() };
        let clock = self.state.own.pass_on(Some((self.call.endpoint, to)));
        let adds = self.call.word.is_some_and(|word| matches!(word.op, AtomicOp::Add(_)));
        let (shadows, me) = (&self.of.shadows, self.of.node.slot);
        shadows.with(to, |body| {
            let (words, known) = (&mut body.words, &body.known);
            let (word, is_alone) = words.entry(offset);
            word.clock.join(&clock, shadows.pes);
            word.changes[me] = change;
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

    /// Joins the clocks of the PEs that have changed the words that the call reads: the call happens after these changes.
    fn learn(&mut self) {
        let Some(of) = self.target() else { return };
        let (call, CheckState { own, seen, .. }) = (self.call, &mut *self.state);
        let (mut open, shadows) = (None, &self.of.shadows);
        // The wait may have read more than `least`, but only `least` signals count: on another network the wait may end earlier.
        let is_beyond =
            |wait: Wait| wait.number.load(Ordering::Relaxed).wrapping_sub(wait.least).cast_signed() > 0;
        let is_short = of == self.of.node.slot && call.wait.is_some_and(is_beyond);
        shadows.with(of, |body| {
            for word in body.words.changed(call.offset, call.bytes) {
                own.clock.join(&word.clock, shadows.pes);
                let of_word = word.heard(&mut own.clock, of, is_short);
                open = of_word.map(|by| (by, word.changes[by].site)).or(open);
                for (seen, change) in seen.iter_mut().zip(&word.changes) {
                    if change.epoch > seen.change.epoch {
                        *seen =
                            Seen { change: *change, at: Some((call.family, CallSite::of(call.location))) };
                    }
                }
            }
        });
        self.of.mine(|body| body.known = own.clock);
        if let Some(wait) = call.wait {
            self.step(wait.least, open);
        }
    }

    /// Checks a wait for signals that are added to a word. `open` names a PE, and its source line, whose signals may not all have
    /// arrived. In a C program, reports a wait for n signals that another one for more follows: loads are not observed there, so
    /// the program is assumed to have read the data of the first n in between.
    fn step(&mut self, least: u64, open: Option<(usize, u32)>) {
        let before = self.state.step.filter(|(offset, _)| *offset == self.call.offset);
        match open {
            None if before.is_some() => self.state.step = None,
            None => {}
            Some((by, line)) => {
                self.state.step = Some((self.call.offset, least));
                if caller::finds().is_some() && before.is_some_and(|(_, before)| before < least) {
                    self.of.reports.steps(&self.of.line(by, line), &self.line());
                }
            }
        }
    }

    /// Publishes this PE's clock when it enters a collective, or starts one that it finishes later.
    fn arrive(&mut self) {
        let (of, Some(barrier), effect) = (self.of, self.call.barrier, self.call.family.effect()) else {
            return;
        };
        if effect == Effect::Barrier || self.call.family == Family::StartBarrier {
            self.state.quiet();
        }
        let published = PublishedClock { count: barrier.count, clock: self.state.own.pass_on(None) };
        of.mine(|body| *body.published(&barrier, effect == Effect::Start) = published);
    }

    /// Joins the clocks that members on this node published when they entered the collective that ends now.
    fn leave(&mut self) {
        let (of, Some(barrier)) = (self.of, self.call.barrier) else { return };
        let (is_started, pes) = (self.call.family.effect() == Effect::Finish, of.shadows.pes);
        let clock = &mut self.state.own.clock;
        for slot in barrier.members.iter().filter_map(|pe| pe.on_node()).filter(|slot| *slot != of.node.slot)
        {
            of.shadows.with(slot, |body| {
                let published = body.published(&barrier, is_started);
                // A member with a higher count is in a later collective already. One with a lower count has not entered this one.
                if published.count >= barrier.count {
                    clock.join(&published.clock, pes);
                }
            });
        }
        of.mine(|body| body.known = *clock);
        if !is_started {
            self.state.step = None;
        }
    }

    /// Drops recorded accesses to memory of `to` that all PEs know to have happened.
    fn forget(&self, to: usize) {
        let (of, pes) = (self.of, self.of.shadows.pes);
        let knows = |slot| match slot == of.node.slot {
            true => self.state.own.clock,
            false => of.shadows.with(slot, |body| body.known),
        };
        let clocks: Vec<Clock> = (0..pes).map(knows).collect();
        of.shadows.with(to, |body| body.history.forget(&clocks, to));
    }

    fn line(&self) -> Where {
        let site = Site::of(self.call.family, CallSite::of(self.call.location));
        Where { pe: self.of.node.numbers[self.of.node.slot], site }
    }

    fn site(&mut self) -> u32 {
        if let Some(site) = self.state.site {
            return site;
        }
        let CheckState { sites, site, .. } = &mut *self.state;
        let next = sites.len().min(MOST_SITES - 1) as u32;
        let caller = CallSite::of(self.call.location);
        let line = (caller.file.as_ptr().addr(), caller.line, self.call.family);
        let number = *sites.entry(line).or_insert_with(|| {
            self.of.mine(|body| body.sites[next as usize] = Site::of(self.call.family, caller));
            next
        });
        *site = Some(number);
        number
    }
}
