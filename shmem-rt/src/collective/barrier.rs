//! The checked barrier.
//!
//! On a node the members meet in one of two ways ([`Meeting`]): in lines, where each looks at all others
//! ([`MeetingLines`](shmem_core::sync::MeetingLines)), or in the words of the node's first member, which count
//! them ([`NodeBarrier`](shmem_core::sync::NodeBarrier)). With several nodes they count, and the last one to
//! come acts for the node: in round k of a dissemination it tells the node 2^k further on and waits for the
//! node 2^k before it; after log2(nodes) rounds all nodes are there, and it lets its node go. Every step
//! carries the fingerprint of what the PE came for: a hash, and a mark for what opens an exclusive phase,
//! which no hash can imitate. Between nodes it travels inside the counter: a word grows by
//! `fingerprint * 2^16 + 1`, so one comparison with what it must be shows both arrival and purpose.
//!
//! How members meet depends on the team alone, not on what they do: whoever comes for something else comes
//! to the same words, and is found there.

use std::panic::Location;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use shmem_core::context::{Endpoint, Initiator};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::sync::{Arrival, Shown};
use shmem_core::system::{ROUNDS, SystemArea, TeamArea};
use shmem_core::transport::Remote;

use super::meeting::Meeting;
use super::passing::Passing;
use super::purpose::{Operation, Purpose};
use crate::team::{Collective, Team};

/// How long the PE that finds a disagreement waits for the others to say where they are.
const TESTIMONY: Duration = Duration::from_millis(500);

impl Team {
    /// Waits until all members are here, and all they have done is visible to all.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_barrier_all`, `shmem_quiet` and `shmem_team_sync`.
    #[track_caller]
    pub fn barrier(&self, token: &(impl Initiator + ?Sized)) {
        // Stores to this node are visible to who has met us: who comes, releases them.
        if self.job.far.is_some() {
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
        self.enter(endpoint).meet(&purpose);
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
        let mark = purpose.fingerprint();
        match self.team.meeting() {
            Meeting::Lines => self.meet_in_lines(purpose, mark, count),
            Meeting::Counter => self.meet_at_counter(purpose, mark, count, passing),
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
            || purpose.activity(team, count),
        );
        if differs {
            self.disagree(purpose, count);
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
                || purpose.activity(team, count),
            ),
            Arrival::Last => {
                if team.leaders().len() > 1 {
                    self.disseminate(area, purpose, mark, count, passing);
                }
                area.node.open();
            }
            Arrival::Mismatch => self.disagree(purpose, count),
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
        let parity = (count % 2) as usize;
        let step = (mark << 16) | 1;
        let system = team.system_at(endpoint, team.leaders()[team.node()]);
        let far = endpoint.far_if_any().unwrap_or_else(|| unreachable!("several nodes have a transport"));
        passing.prepare(team, endpoint, far);
        for round in 0..ROUNDS {
            let distance = 1 << round;
            if distance >= nodes {
                break;
            }
            let to = team.leaders()[(team.node() + distance) % nodes];
            let word = core::mem::offset_of!(SystemArea, teams)
                + team.index() * size_of::<TeamArea>()
                + core::mem::offset_of!(TeamArea, rounds)
                + (parity * ROUNDS + round) * 8;
            let remote = Remote { pe: to, segment: shmem_core::segment::SYSTEM, offset: word };
            passing.send(team, endpoint, far, distance, remote, step);
            let before = area.expected[parity][round].load(Ordering::Relaxed);
            let expected = before.wrapping_add(step);
            let arrived = &area.rounds[parity][round];
            endpoint.waiting().until(
                endpoint,
                || arrived.load(Ordering::SeqCst) != before,
                |timeout, done| system.doorbell.sleep(timeout, done),
                || purpose.activity(team, count),
            );
            if arrived.load(Ordering::Acquire) != expected {
                self.disagree(purpose, count);
            }
            area.expected[parity][round].store(expected, Ordering::Relaxed);
        }
    }

    /// Ends the job: the members are in different collectives.
    #[cold]
    pub(super) fn disagree(&self, purpose: &Purpose<'_>, count: u64) -> ! {
        let Self { team, endpoint, .. } = *self;
        let mine = purpose.activity(team, count);
        // SAFETY: the record of this PE, told what it is meant for.
        unsafe { endpoint.system() }.record.describe(&mine);
        let start = Instant::now();
        let mut places: Vec<(String, Vec<String>)> = Vec::new();
        for pe in team.neighbours() {
            // SAFETY: only the record is read.
            let there = unsafe { endpoint.system_of(*pe) };
            let activity = loop {
                match there.and_then(|system| system.record.activity()) {
                    Some(activity) if activity.count != 0 => break activity.to_string(),
                    _ if start.elapsed() > TESTIMONY => break "somewhere it did not say".to_owned(),
                    _ => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            match places.iter_mut().find(|(place, _)| *place == activity) {
                Some((_, pes)) => pes.push(pe.to_string()),
                None => places.push((activity, vec![pe.to_string()])),
            }
        }
        let list = places
            .iter()
            .map(|(place, pes)| match pes.as_slice() {
                [pe] => format!("PE {pe} is {place}"),
                pes => format!("PEs {} are {place}", pes.join(", ")),
            })
            .collect::<Vec<_>>()
            .join(" while ");
        let list = if places.len() > 1 {
            list
        } else {
            format!("{list} while a PE of another node is in another collective")
        };
        team.job.abort(
            1,
            &format!(
                "the PEs are in different collectives: {list}; all PEs of a team must call the same \
                 collectives in the same order with the same arguments"
            ),
        )
    }
}
