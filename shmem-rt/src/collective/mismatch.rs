//! Mismatches: members are in different operations, and the job ends with an error text that names their calls.

use core::mem::offset_of;
use core::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use shmem_core::pe::Pe;
use shmem_core::run_length::groups;
use shmem_core::system_area::{Activity, MAX_TEAMS, MOST_REQUESTS, PeRecord, RequestArea, SystemArea};
use shmem_launch::pe_list::numbers;

use super::pipelined::request_area;
use crate::caller;
use crate::deadlock_report::far_record;
use crate::group::{CallSignature, Collective, END};
use crate::job::Job;

/// Timeout for the records of the other PEs after a mismatch: twice the longest sleep of a waiting PE.
const RECORD_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of PEs on other nodes whose records are read.
const MOST_ASKED: usize = 64;

/// Maximum number of calls that the error text names. PEs in further calls are only counted.
const MOST_NAMED: usize = 4;

const RETURNED: &str = "returned from `main`";

/// Location of the members that called another operation.
#[derive(Clone, Copy)]
pub(super) enum MismatchLocation {
    Here,
    On(usize),
    /// On another node, which is unknown.
    Elsewhere,
}

/// Reads a PE's record of its current call or, for `Some((team, place))`, of the request that has this place in the team's table.
/// None if the record changes meanwhile.
fn said(job: &Job, pe: Pe, request: Option<(usize, usize)>) -> Option<Activity> {
    let offset = match request {
        None => offset_of!(SystemArea, record),
        Some((team, place)) => {
            assert!(team < MAX_TEAMS && place < MOST_REQUESTS, "place {place} of team {team}");
            request_area(team, place) + offset_of!(RequestArea, record)
        }
    };
    if let Some(slot) = pe.on_node() {
        let record = job.memory.arena.start_of(slot).wrapping_add(offset).cast::<PeRecord>();
        // SAFETY: the slots of this node are mapped as long as the job, which is borrowed. Every slot begins with a system area,
        // which has a `PeRecord` at `offset`. A `PeRecord` consists of atomics, so it may be shared.
        return unsafe { &*record }.activity();
    }
    let far = job.network.own.as_ref()?;
    let read = || far_record(far, pe, offset).activity();
    // Read twice, because the PE may be writing the record.
    let (first, second) = (read(), read());
    first.filter(|_| first == second)
}

/// Ends the job: another PE has started a request that this PE has not. `here` maps the other PE's record to the texts for (this
/// PE, the other PE).
#[cold]
pub(super) fn refuse_started(
    job: &Job,
    (me, other): (Pe, Pe),
    request: (usize, usize),
    here: impl FnOnce(Option<Activity>) -> (String, String),
) -> ! {
    let (here, there) = here(said(job, other, Some(request)));
    job.abort(1, &mismatch(vec![(here, vec![me.number()]), (there, vec![other.number()])]))
}

pub(super) fn in_words(theirs: Option<Activity>) -> String {
    theirs.map_or_else(|| "somewhere it did not say".to_owned(), |theirs| theirs.to_string())
}

impl Collective<'_> {
    /// Ends the job, because members are in different operations.
    #[cold]
    pub(super) fn disagree(&self, signature: &CallSignature<'_>, count: u64, other: MismatchLocation) -> ! {
        let Self { team, endpoint, .. } = *self;
        let mine = self.activity_with_place(signature, count);
        // SAFETY: only this PE's own record is changed, by the record's methods, which keep its protocol.
        unsafe { endpoint.system() }.record.describe(&mine);
        // A PE looks up the line of a call from another language only when asked by another PE. Wait for it: that takes long.
        let has_place = |pe: Pe, activity: &Activity| {
            caller::finds().is_none() || pe.on_node().is_none() || !activity.file.is_empty()
        };
        let first = team.job.site.pes().iter().find(|pe| pe.on_node().is_some());
        if let Some(first) = first.filter(|_| caller::finds().is_some()) {
            team.system_at(endpoint, *first).record.raise_question();
        }
        let is_asked = |rank: usize| match other {
            MismatchLocation::Here => false,
            MismatchLocation::On(node) => team.node_of(rank) == node,
            MismatchLocation::Elsewhere => {
                let node = team.node_of(rank);
                node != team.node && team.leader(node) == team.member(rank)
            }
        };
        let there = (0..team.size()).filter(|rank| is_asked(*rank)).map(|rank| team.member(rank));
        let start = Instant::now();
        let mut places = Vec::new();
        for pe in team.neighbours().iter().copied().chain(there.take(MOST_ASKED)) {
            let place = loop {
                match said(&team.job, pe, None) {
                    Some(activity) if activity.operation.as_str() == END => break RETURNED.to_owned(),
                    Some(activity) if activity.count != 0 && has_place(pe, &activity) => {
                        break activity.to_string();
                    }
                    // The PE has left the barrier, or has not answered.
                    theirs if start.elapsed() > RECORD_TIMEOUT => break in_words(theirs),
                    _ => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            places.push((pe.number(), place));
        }
        team.job.abort(1, &mismatch(groups(places.into_iter())))
    }

    /// Ends the job if another member has started a collective before this barrier and this PE has not: both would hang. The
    /// starter's [`Mark`] reaches at least one such PE, so at least one PE detects the mismatch.
    pub(super) fn refuse_strays(&self, signature: &CallSignature<'_>, count: u64) {
        let Self { team, endpoint, .. } = *self;
        let (place, set) = place_of(team.started() + 1);
        let area = &team.system_at(endpoint, endpoint.me()).requests[team.index][place];
        let mut words = area.met[set].iter().map(|word| Mark::heard(word.load(Ordering::Acquire)));
        let Some(round) = words.position(|mark| mark.is_some_and(|mark| mark.is_before(count))) else {
            return;
        };
        let distance = (1 << round) % team.size();
        let other = team.member((team.rank() + team.size() - distance) % team.size());
        refuse_started(&team.job, (endpoint.me(), other), (team.index, place), |theirs| {
            let here = match signature.operation.name {
                END => RETURNED.to_owned(),
                _ => self.activity_with_place(signature, count).to_string(),
            };
            (here, in_words(theirs))
        })
    }
}

/// Returns the error text for a mismatch. `places` has the calls, each with its PEs.
fn mismatch(mut places: Vec<(String, Vec<usize>)>) -> String {
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

/// Number of bits of a [`Mark`] that contain the number of barriers.
const BARRIER_BITS: u32 = 24;

/// A word that identifies a started request: number of the team's earlier barriers, hash of the signature, request number (24, 32
/// and 7 bits). Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(pub(super) u64);

impl Mark {
    pub(super) fn new(signature: &CallSignature<'_>, number: u64, barriers: u64) -> Self {
        let hash = signature.fingerprint() >> 16 & 0xffff_ffff;
        Self(barriers << (u64::BITS - BARRIER_BITS) | hash << 8 | (number & 0x7f) << 1 | 1)
    }

    pub(super) fn heard(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    pub(super) fn is_before(self, count: u64) -> bool {
        // Compares modulo 2^24, for numbers that are close to each other.
        let ahead = count.wrapping_sub(self.0 >> (u64::BITS - BARRIER_BITS)) << (u64::BITS - BARRIER_BITS);
        ahead.cast_signed() > 0
    }
}

/// Returns the place of request `number` in the team's request table, and the index (0 or 1) of the set of words that receive its
/// marks.
pub(super) fn place_of(number: u64) -> (usize, usize) {
    let (places, number) = (MOST_REQUESTS, number as usize);
    (number % places, number / places % 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_say_the_same_are_named_together_and_many_are_counted() {
        let rule =
            "all PEs of a team must call the same collectives in the same order with the same arguments";
        let place = |place: &str, pes: &[usize]| (place.to_owned(), pes.to_vec());
        let alone = |pe: usize| place(&format!("in `alloc({pe} bytes)` at a.rs:1"), &[pe]);
        let said = mismatch((0..12).map(alone).collect());
        assert!(said.ends_with(&format!(
            "PE 3 is in `alloc(3 bytes)` at a.rs:1 and 8 more PEs are elsewhere; {rule}"
        )));
        let said = mismatch((0..5).map(alone).collect());
        assert!(said.contains("a.rs:1 and one more PE is elsewhere; "), "{said}");
    }

    #[test]
    fn who_has_come_to_fewer_barriers_is_known_when_they_begin_to_count_anew() {
        for barriers in [0, 1, 1000, (1 << 24) - 2, (1 << 24) - 1, 1 << 24, (1 << 40) - 1] {
            let mark = Mark(barriers << (u64::BITS - BARRIER_BITS) | 1);
            assert!(mark.is_before(barriers + 1) && mark.is_before(barriers + 2), "{barriers}");
            assert!(!mark.is_before(barriers), "{barriers}");
            assert!(barriers == 0 || !mark.is_before(barriers - 1), "{barriers}");
        }
    }
}
