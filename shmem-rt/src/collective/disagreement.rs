//! What the runtime says when members have come for different things.

use core::mem::offset_of;

use shmem_core::pe::Pe;
use shmem_core::system::{Activity, FlightArea, MAX_TEAMS, MOST_FLIGHTS, PeRecord, SystemArea};
use shmem_launch::text::numbers;

use crate::job::Job;
use crate::standstill::far_record;

/// Most places of PEs that are named; whoever is elsewhere is counted.
const MOST_NAMED: usize = 4;

/// Where a PE is whose program has returned.
pub(super) const RETURNED: &str = "returned from `main`";

/// A record of the system area of a PE.
#[derive(Clone, Copy)]
pub(super) enum Record {
    /// What it does.
    Doing,
    /// What it has started last that has this place in a team, of all of a team that are under way.
    Started { team: usize, place: usize },
}

impl Record {
    /// What a PE says there, if that can be read whole.
    pub(super) fn of(self, job: &Job, pe: Pe) -> Option<Activity> {
        let offset = match self {
            Self::Doing => offset_of!(SystemArea, record),
            Self::Started { team, place } => {
                assert!(team < MAX_TEAMS && place < MOST_FLIGHTS, "place {place} of team {team}");
                let area = (team * MOST_FLIGHTS + place) * size_of::<FlightArea>();
                offset_of!(SystemArea, flights) + area + offset_of!(FlightArea, record)
            }
        };
        if let Some(slot) = pe.on_node() {
            let record = job.memory.arena.start_of(slot).wrapping_add(offset).cast::<PeRecord>();
            // SAFETY: the slots of this node are mapped for as long as the job, which is borrowed. Each begins with a system
            // area, which has a record at that offset, as just found; it is shared by atomics (`PeRecord`).
            return unsafe { &*record }.activity();
        }
        let far = job.network.own.as_ref()?;
        let read = || far_record(far, pe, offset).activity();
        // It may be written while it is on its way.
        let (first, second) = (read(), read());
        first.filter(|_| first == second)
    }
}

/// What members say of themselves: where they are, with the numbers of those who are there.
pub(super) fn disagreement(mut places: Vec<(String, Vec<usize>)>) -> String {
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
