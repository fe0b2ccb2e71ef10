//! The published scenario: three units and three domains, MULTIPLE, SINGLE, and then one that nobody
//! foresees; and what there is beyond it.

use super::super::*;
use Design::{Auto, Context, Domain, Events, Hybrid};
use Level::{Multiple, Private as Single, Serialized};
use Sharing::{Conservative, Efficient};

/// A unit, and whether it has a lock.
type Granted = (u32, bool);

const FOR_ONE: Hints = Hints { private: 2, serialized: 0, multiple: 1 };
const FOR_MANY: Hints = Hints { private: 1, serialized: 0, multiple: 2 };

fn mapping(design: Design, sharing: Sharing, limit: usize, hints: Option<Hints>) -> Mapping {
    let mut mapping = Mapping::new(design, sharing, Some(limit));
    if let Some(hints) = hints {
        mapping.configure(hints, None);
    }
    mapping
}

/// A context in a new domain of each level: what it is granted, or nothing.
fn granted(mapping: &mut Mapping, levels: &[Level]) -> Vec<Option<Granted>> {
    let mut one = |level| {
        let domain = mapping.create_domains(level, 1).ok()?[0];
        let assignment = mapping.create_context(domain).ok()?;
        Some((assignment.unit, assignment.locked))
    };
    levels.iter().map(|&level| one(level)).collect()
}

const OWN: bool = false;
const LOCK: bool = true;

/// Where one costs more the more there are, this takes minutes.
#[test]
fn a_context_costs_the_same_beside_many() {
    let mut mapping = Mapping::new(Auto, Conservative, None);
    let (world, _) = mapping.create_world(Multiple).unwrap();
    for level in [Multiple, Single] {
        let mut create = || {
            let domain = if level == Multiple { world } else { mapping.create_domains(level, 1).unwrap()[0] };
            (domain, mapping.create_context(domain).unwrap().unit)
        };
        let contexts: Vec<_> = (0..50_000).map(|_| create()).collect();
        assert!(contexts.iter().map(|(_, unit)| *unit).eq(1..=50_000));
        for (domain, unit) in contexts {
            mapping.destroy_context(domain, unit);
            if domain != world {
                mapping.destroy_domain(domain);
            }
        }
        assert_eq!(mapping.used(), 1);
    }
}

#[test]
fn three_units_and_three_domains() {
    // Sharing, hints, the third domain: the three assignments.
    let table: [(Sharing, Option<Hints>, Level, [Granted; 3]); 10] = [
        // Nobody knows what comes.
        (Conservative, None, Single, [(0, LOCK), (1, OWN), (2, OWN)]),
        (Conservative, None, Multiple, [(0, LOCK), (1, OWN), (0, LOCK)]),
        (Efficient, None, Single, [(0, LOCK), (1, OWN), (2, OWN)]),
        (Efficient, None, Multiple, [(0, LOCK), (1, OWN), (2, LOCK)]),
        // It was said what comes: then there are enough.
        (Conservative, Some(FOR_ONE), Single, [(0, LOCK), (1, OWN), (2, OWN)]),
        (Conservative, Some(FOR_MANY), Multiple, [(0, LOCK), (1, OWN), (2, LOCK)]),
        (Efficient, Some(FOR_ONE), Single, [(0, LOCK), (1, OWN), (2, OWN)]),
        (Efficient, Some(FOR_MANY), Multiple, [(0, LOCK), (1, OWN), (2, LOCK)]),
        // Something else was said: the last unit is kept for the second SINGLE.
        (Conservative, Some(FOR_ONE), Multiple, [(0, LOCK), (1, OWN), (0, LOCK)]),
        (Efficient, Some(FOR_ONE), Multiple, [(0, LOCK), (1, OWN), (0, LOCK)]),
    ];
    for design in [Events, Hybrid, Domain, Context, Auto] {
        for (sharing, hints, third, expected) in table {
            let found = granted(&mut mapping(design, sharing, 3, hints), &[Multiple, Single, third]);
            assert_eq!(found, expected.map(Some), "{design:?} {sharing:?} {hints:?} {third:?}");
        }
    }
}

#[test]
fn hints_let_the_fourth_have_its_own() {
    let levels = [Multiple, Single, Multiple, Single];
    let hints = Hints { private: 2, multiple: 2, ..Hints::default() };
    let assignments = |sharing, hints| granted(&mut mapping(Domain, sharing, 3, hints), &levels);
    let saved = [(0, LOCK), (1, OWN), (0, LOCK), (2, OWN)].map(Some);
    assert_eq!(assignments(Conservative, None), saved);
    assert_eq!(assignments(Efficient, None), [(0, LOCK), (1, OWN), (2, LOCK), (0, LOCK)].map(Some));
    assert_eq!(assignments(Conservative, Some(hints)), saved);
    assert_eq!(assignments(Efficient, Some(hints)), saved);
}

#[test]
fn who_wants_no_lock_gets_none_or_is_told() {
    let levels = [Multiple, Single, Serialized, Single];
    let found = granted(&mut mapping(Domain, Conservative, 3, None), &levels);
    assert_eq!(found, [Some((0, LOCK)), Some((1, OWN)), Some((2, OWN)), None]);
    let found = granted(&mut mapping(Domain, Efficient, 3, None), &levels);
    assert_eq!(found, [Some((0, LOCK)), Some((1, OWN)), Some((2, OWN)), Some((0, LOCK))]);
    // Nothing has a lock: there is nothing to share.
    let mut full = mapping(Domain, Efficient, 2, None);
    assert_eq!(granted(&mut full, &[Single, Single, Single, Multiple])[2..], [None, None]);
    let shortage = full.create_domains(Multiple, 1).unwrap_err();
    assert_eq!(shortage, Shortage { level: Multiple, used: 2, limit: 2, kept: 0, could_share: false });
}

#[test]
fn domains_created_together_are_mapped_together() {
    // One after the other, the first two leave nothing that could be shared.
    let mut apart = mapping(Domain, Efficient, 2, None);
    assert_eq!(granted(&mut apart, &[Single; 3]), [Some((0, OWN)), Some((1, OWN)), None]);
    let mut together = mapping(Domain, Efficient, 2, None);
    let domains = together.create_domains(Single, 3).unwrap();
    let assignments: Vec<_> = domains.iter().map(|&d| together.create_context(d).unwrap()).collect();
    let assignments: Vec<_> =
        assignments.iter().map(|assignment| (assignment.unit, assignment.locked)).collect();
    assert_eq!(assignments, [(0, OWN), (1, LOCK), (1, LOCK)]);
    // All or none.
    let mut conservative = mapping(Domain, Conservative, 2, None);
    assert!(conservative.create_domains(Single, 3).is_err());
    assert_eq!(conservative.used(), 0);
    assert_eq!(conservative.create_domains(Single, 2).unwrap().len(), 2);
}

#[test]
fn contexts_of_a_domain_share_its_unit_or_have_their_own() {
    let contexts = |design, sharing, level, limit, number| {
        let mut mapping = mapping(design, sharing, limit, None);
        let domain = mapping.create_domains(level, 1).unwrap()[0];
        let assignments: Vec<_> = (0..number).map_while(|_| mapping.create_context(domain).ok()).collect();
        assignments.iter().map(|assignment| assignment.unit).collect::<Vec<_>>()
    };
    for design in [Events, Hybrid, Domain] {
        assert_eq!(contexts(design, Efficient, Multiple, 9, 4), [0, 0, 0, 0], "{design:?}");
    }
    // One thread uses them all, or one at a time: where units run out they share without a lock.
    assert_eq!(contexts(Context, Conservative, Single, 3, 5), [0, 1, 2, 0, 1]);
    assert_eq!(contexts(Context, Conservative, Multiple, 3, 3), [0, 0, 0]);
    assert_eq!(contexts(Context, Efficient, Multiple, 3, 5), [0, 1, 2, 0, 1]);
    // Half of the units are kept for other domains.
    assert_eq!(contexts(Auto, Conservative, Single, 8, 6), [0, 1, 2, 3, 0, 1]);
    assert_eq!(contexts(Auto, Efficient, Multiple, 3, 5), [0, 1, 2, 0, 1]);
}

#[test]
fn the_units_of_a_node_of_the_literature_are_enough() {
    // 120 units for two PEs of 36 threads: a unit for each thread's context, and no lock.
    let limit = evenly(120, 2, 1);
    let mut mapping = Mapping::new(Auto, Conservative, Some(limit));
    mapping.create_world(Multiple).unwrap();
    let assignments = granted(&mut mapping, &[Single; 36]);
    let units: std::collections::BTreeSet<_> = assignments.iter().flatten().map(|(unit, _)| *unit).collect();
    assert_eq!(units.len(), 36);
    assert!(assignments.iter().all(|assignment| matches!(assignment, Some((_, OWN)))));
    // 250 threads are too many: they are told, or share.
    let mut many = Mapping::new(Auto, Efficient, Some(limit));
    many.create_world(Multiple).unwrap();
    let assignments = granted(&mut many, &[Single; 250]);
    assert_eq!(
        assignments.iter().filter(|assignment| matches!(assignment, Some((_, OWN)))).count(),
        limit - 1
    );
    assert!(assignments.iter().all(Option::is_some), "the others share the world's, with its lock");
}

#[test]
fn without_a_limit_everybody_has_his_own() {
    for sharing in Sharing::ALL {
        let mut mapping = Mapping::new(Auto, sharing, None);
        mapping.create_world(Single).unwrap();
        let levels = [Multiple, Multiple, Single, Serialized, Multiple];
        let found = granted(&mut mapping, &levels);
        let expected: Vec<_> =
            levels.iter().zip(1..).map(|(level, unit)| Some((unit, *level == Multiple))).collect();
        assert_eq!(found, expected, "{sharing:?}");
    }
}

#[test]
fn the_unit_of_the_world_is_shared_last() {
    let mut mapping = Mapping::new(Domain, Efficient, Some(2));
    mapping.create_world(Multiple).unwrap();
    assert_eq!(granted(&mut mapping, &[Multiple, Multiple, Single]), [Some((1, LOCK)); 3]);
    let mut alone = Mapping::new(Domain, Efficient, Some(1));
    alone.create_world(Multiple).unwrap();
    assert_eq!(granted(&mut alone, &[Multiple, Single]), [Some((0, LOCK)); 2]);
}

#[test]
fn a_domain_outlives_its_handle_in_its_contexts() {
    let mut mapping = mapping(Domain, Conservative, 2, None);
    let domain = mapping.create_domains(Single, 1).unwrap()[0];
    let assignment = mapping.create_context(domain).unwrap();
    mapping.destroy_domain(domain);
    assert_eq!((mapping.used(), mapping.holders(assignment.unit)), (1, 2), "its context lives");
    mapping.destroy_context(domain, assignment.unit);
    assert_eq!(mapping.used(), 0);
}

#[test]
#[should_panic(expected = "while domains or contexts live")]
fn hints_do_not_change_under_those_who_were_granted_something() {
    let mut mapping = mapping(Domain, Conservative, 2, None);
    mapping.create_domains(Single, 1).unwrap();
    mapping.configure(Hints::default(), None);
}
