//! The checked barrier.
//!
//! On a node the members meet in one of two ways ([`Meeting`]): in lines, where each looks at all others
//! ([`MeetingLines`](shmem_core::sync::MeetingLines)), or in the words of the node's first member, which count
//! them ([`NodeBarrier`](shmem_core::sync::NodeBarrier)). With several nodes they count, and the last one to
//! come acts for the node: in round k of a dissemination it tells the node 2^k further on and waits for the
//! node 2^k before it; after log2(nodes) rounds all nodes are there, and it lets its node go. Every step
//! carries the fingerprint of what the PE came for: a hash, and a mark for what opens an exclusive phase,
//! which no hash can imitate. Between nodes it travels inside the counter: a word grows by
//! `fingerprint * 2^16 + 1`, so one comparison with what it must be shows both arrival and purpose. Where members have to
//! know what all have come for, they state it besides ([`agreed`](super::agreed)).
//!
//! How members meet depends on the team alone, not on what they do: whoever comes for something else comes
//! to the same words, and is found there.

use std::panic::Location;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use shmem_core::context::{Endpoint, Initiator};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::segment::SYSTEM;
use shmem_core::sync::{Arrival, Shown};
use shmem_core::system::{Activity, PeRecord, ROUNDS, SystemArea, TeamArea};
use shmem_core::transport::{Remote, Until};
use shmem_launch::text::numbers;

use super::passing::{Passing, Round};

use crate::group::{Collective, END, Meeting, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

/// How long the PE that finds a disagreement waits for the others to say where they are.
const TESTIMONY: Duration = Duration::from_millis(500);

/// Most places of PEs that are named; whoever is elsewhere is counted.
const MOST_NAMED: usize = 4;

/// Where a PE is whose program has returned.
const RETURNED: &str = "returned from `main`";

/// Most PEs of another node that are asked.
const MOST_ASKED: usize = 64;

impl Team {
    /// Waits until all members are here, and all they have done is visible to all.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_barrier_all`, `shmem_quiet` and `shmem_team_sync`.
    #[track_caller]
    pub fn barrier(&self, token: &(impl Initiator + ?Sized)) {
        // Stores to this node are visible to who has met us: who comes, releases them.
        if self.job.network.far.is_some() {
            self.job.quiet_all();
        }
        let location = Location::caller();
        self.meet_once(token.endpoint(), Operation::of(Family::TeamBarrier), Some(location));
    }

    /// Waits until all members are here. Stores to this node are visible, transfers to others may
    /// still be on their way.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_sync`.
    #[track_caller]
    pub fn sync(&self, token: &(impl Initiator + ?Sized)) {
        let location = Location::caller();
        self.meet_once(token.endpoint(), Operation::of(Family::TeamSync), Some(location));
    }

    /// Meets all members for an operation that is nothing else; without a location it is a turn in the
    /// job's life.
    pub(crate) fn meet_once(
        &self,
        endpoint: &Endpoint,
        operation: Operation,
        location: Option<&'static Location<'static>>,
    ) {
        let purpose = Purpose { operation, opens: false, arguments: &[], subject: &String::new, location };
        self.enter(endpoint, location).meet(&purpose);
    }
}

impl<L: ThreadLevel> World<L> {
    /// Waits until all PEs are here, and all they have done is visible to all.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_barrier_all`.
    #[track_caller]
    pub fn barrier_all(&self) {
        self.team().barrier(self);
    }

    /// Waits until all PEs are here. Stores to this node are visible, transfers to other nodes may
    /// still be on their way.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_sync_all`.
    #[track_caller]
    pub fn sync_all(&self) {
        self.team().sync(self);
    }
}

impl Collective<'_> {
    /// Meets all members, which must come for the same purpose.
    pub(crate) fn meet(&self, purpose: &Purpose<'_>) {
        self.meet_passing(purpose, Passing::Nothing);
    }

    /// As [`meet`](Self::meet), and nodes bring each other what members have contributed.
    pub(super) fn meet_passing(&self, purpose: &Purpose<'_>, passing: Passing<'_>) {
        let count = self.count();
        if self.endpoint.observer().is_some() {
            self.tell_purpose(purpose, count);
        }
        if let Passing::Statement(words) = passing {
            let mine = self.team.system_at(self.endpoint, self.endpoint.me());
            mine.teams[self.team.index()].stated[half(count)].write(words);
        }
        let mark = purpose.fingerprint();
        match self.team.meeting() {
            Meeting::Lines => self.meet_in_lines(purpose, mark, count),
            Meeting::Counter => self.meet_at_counter(purpose, mark, count, passing),
        }
        self.compare_on_the_node(purpose, count, passing);
    }

    /// Ends the job unless all members of this node have stated what is passed on for it, if that is a statement.
    fn compare_on_the_node(&self, purpose: &Purpose<'_>, count: u64, passing: Passing<'_>) {
        let Passing::Statement(words) = passing else { return };
        let Self { team, endpoint, .. } = *self;
        let stated = |pe: &Pe| &team.system_at(endpoint, *pe).teams[team.index()].stated[half(count)];
        if !team.neighbours().iter().all(|pe| stated(pe).says(words)) {
            self.disagree(purpose, count, None);
        }
    }

    fn meet_in_lines(&self, purpose: &Purpose<'_>, mark: u64, count: u64) {
        let Self { team, endpoint, .. } = *self;
        let lines = |pe: Pe| &team.system_at(endpoint, pe).teams[team.index()].lines;
        let mine = lines(endpoint.me());
        mine.show(count, mark);
        let mut missing = team.neighbours().iter().copied().filter(|pe| *pe != endpoint.me());
        missing.clone().for_each(|pe| team.system_at(endpoint, pe).doorbell.ring());
        mine.take_next(count);
        let (mut next, mut differs) = (missing.next(), false);
        let arrived = || {
            while let Some(pe) = next {
                match lines(pe).shown(count, mark) {
                    Shown::Nothing => return false,
                    Shown::Equal => next = missing.next(),
                    Shown::Different => {
                        differs = true;
                        return true;
                    }
                }
            }
            true
        };
        let bell = &team.system_at(endpoint, endpoint.me()).doorbell;
        endpoint.waiting().until(
            endpoint,
            arrived,
            |timeout, done| bell.sleep(timeout, done),
            || purpose.activity(team.index(), count),
        );
        if differs {
            self.disagree(purpose, count, None);
        }
    }

    fn meet_at_counter(&self, purpose: &Purpose<'_>, mark: u64, count: u64, passing: Passing<'_>) {
        let Self { team, endpoint, .. } = *self;
        let area = team.area(endpoint);
        match area.node.arrive(team.neighbours().len(), mark) {
            Arrival::Early(generation) => endpoint.waiting().until(
                endpoint,
                || area.node.is_open(generation),
                |timeout, _| area.node.sleep(generation, timeout),
                || purpose.activity(team.index(), count),
            ),
            Arrival::Last => {
                if team.leaders().len() > 1 {
                    self.disseminate(area, purpose, mark, count, passing);
                }
                area.node.open();
            }
            Arrival::Mismatch => self.disagree(purpose, count, None),
        }
    }

    /// The rounds between nodes, by the last one to arrive on this node.
    fn disseminate(
        &self,
        area: &TeamArea,
        purpose: &Purpose<'_>,
        mark: u64,
        count: u64,
        passing: Passing<'_>,
    ) {
        let Self { team, endpoint, .. } = *self;
        let nodes = team.leaders().len();
        let parity = half(count);
        let step = (mark << 16) | 1;
        // Before the word for other nodes, which stands for all members of this one.
        self.compare_on_the_node(purpose, count, passing);
        let system = team.system_at(endpoint, team.leaders()[team.node()]);
        // SAFETY: the rounds of a barrier, which all members come to: they write words of the system area alone.
        let far = unsafe { endpoint.far_of_runtime() };
        let far = far.unwrap_or_else(|| unreachable!("several nodes have a transport"));
        passing.prepare(team, endpoint, far);
        for round in 0..ROUNDS {
            let distance = 1 << round;
            if distance >= nodes {
                break;
            }
            let to = team.leaders()[(team.node() + distance) % nodes];
            passing.send(team, endpoint, far, Round { half: parity, number: round, distance, to }, step);
            let before = area.expected[parity][round].load(Ordering::Relaxed);
            let expected = before.wrapping_add(step);
            let arrived = &area.rounds[parity][round];
            endpoint.waiting().until(
                endpoint,
                || arrived.load(Ordering::SeqCst) != before,
                |timeout, done| system.doorbell.sleep(timeout, done),
                || purpose.activity(team.index(), count),
            );
            let differs = match passing {
                Passing::Statement(words) => !area.brought[parity][round].says(words),
                Passing::Nothing | Passing::Blocks(_) | Passing::Parts(_) => false,
            };
            if arrived.load(Ordering::Acquire) != expected || differs {
                self.disagree(purpose, count, Some((team.node() + nodes - distance) % nodes));
            }
            area.expected[parity][round].store(expected, Ordering::Relaxed);
        }
    }

    /// Ends the job: the members have come for different things. They differ on this node, or it differs from another.
    #[cold]
    pub(super) fn disagree(&self, purpose: &Purpose<'_>, count: u64, other: Option<usize>) -> ! {
        let Self { team, endpoint, .. } = *self;
        let mine = purpose.activity(team.index(), count);
        // SAFETY: the record of this PE, told what it is meant for.
        unsafe { endpoint.system() }.record.describe(&mine);
        let there = team.members().iter().zip(team.nodes()).filter(|(_, node)| Some(**node) == other);
        let start = Instant::now();
        let mut places: Vec<(String, Vec<usize>)> = Vec::new();
        for pe in team.neighbours().iter().chain(there.map(|(pe, _)| pe).take(MOST_ASKED)) {
            let place = loop {
                match self.activity_of(*pe) {
                    Some(activity) if activity.operation.as_str() == END => break RETURNED.to_owned(),
                    Some(activity) if activity.count != 0 => break activity.to_string(),
                    // One that has come for something else, and was not held up there.
                    Some(activity) if start.elapsed() > TESTIMONY => break activity.to_string(),
                    None if start.elapsed() > TESTIMONY => break "somewhere it did not say".to_owned(),
                    _ => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            match places.iter_mut().find(|(other, _)| *other == place) {
                Some((_, pes)) => pes.push(pe.number()),
                None => places.push((place, vec![pe.number()])),
            }
        }
        team.job.abort(1, &disagreement(places))
    }

    /// What a member does, if that can be read whole.
    fn activity_of(&self, pe: Pe) -> Option<Activity> {
        let endpoint = self.endpoint;
        // SAFETY: only the record is read.
        if let Some(system) = unsafe { endpoint.system_of(pe) } {
            return system.record.activity();
        }
        // SAFETY: a record is read, which changes nothing, on PEs that are ending.
        let far = unsafe { endpoint.far_of_runtime() }?;
        let read = || {
            let mut record = core::mem::MaybeUninit::<PeRecord>::zeroed();
            let offset = core::mem::offset_of!(SystemArea, record);
            let (into, from) = (record.as_mut_ptr().cast(), Remote { pe, segment: SYSTEM, offset });
            // SAFETY: `into` has room for a record, and there is one at that place of every PE.
            unsafe { far.transport.get(far.channel, into, from, size_of::<PeRecord>(), Until::Return) };
            // SAFETY: a record is words and texts, of which any bytes are a value (`PeRecord::activity`).
            unsafe { record.assume_init() }.activity()
        };
        // It may be written while it is on its way.
        let (first, second) = (read(), read());
        first.filter(|_| first == second)
    }
}

/// Which of two sets, used in turn, is that of a meeting.
fn half(count: u64) -> usize {
    (count % 2) as usize
}

/// What members say of themselves: where they are, with the numbers of those who are there.
fn disagreement(mut places: Vec<(String, Vec<usize>)>) -> String {
    let left = places.split_off(places.len().min(MOST_NAMED));
    let named: Vec<_> = places
        .into_iter()
        .map(|(place, mut pes)| {
            pes.sort_unstable();
            let verb = match (place == RETURNED, pes.len()) {
                (false, 1) => "is",
                (false, _) => "are",
                (true, 1) => "has",
                (true, _) => "have",
            };
            format!("{} {verb} {place}", numbers(&pes))
        })
        .collect();
    let rest = match left.iter().map(|(_, pes)| pes.len()).sum() {
        0 => String::new(),
        1 => " and one more PE is elsewhere".to_owned(),
        more => format!(" and {more} more PEs are elsewhere"),
    };
    format!(
        "the PEs do not agree on what they do: {}{rest}; all PEs of a team must call the same collectives in the same \
         order with the same arguments",
        named.join(" while ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_say_the_same_are_named_together_and_many_are_counted() {
        let rule =
            "all PEs of a team must call the same collectives in the same order with the same arguments";
        let place = |place: &str, pes: &[usize]| (place.to_owned(), pes.to_vec());
        assert_eq!(
            disagreement(vec![place("in `barrier` at a.rs:1", &[3, 0, 1, 2]), place(RETURNED, &[4])]),
            format!(
                "the PEs do not agree on what they do: PEs 0-3 are in `barrier` at a.rs:1 while PE 4 has returned from \
                 `main`; {rule}"
            )
        );
        let alone = |pe: usize| place(&format!("in `alloc({pe} bytes)` at a.rs:1"), &[pe]);
        let said = disagreement((0..12).map(alone).collect());
        assert!(said.ends_with(&format!(
            "PE 3 is in `alloc(3 bytes)` at a.rs:1 and 8 more PEs are elsewhere; {rule}"
        )));
        let said = disagreement((0..5).map(alone).collect());
        assert!(said.contains("a.rs:1 and one more PE is elsewhere; "), "{said}");
    }
}
