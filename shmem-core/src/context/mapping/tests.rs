//! The published scenario: three units and three domains, MULTIPLE, SINGLE, and then one that nobody foresees; what holds
//! whatever a program does; and the units of a node among its PEs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
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

/// What a program does. Domains and contexts are named by their place among the living, round and round.
#[derive(Clone, Copy, Debug)]
enum Step {
    Domains(Level, usize),
    Context(usize),
    DropDomain(usize),
    DropContext(usize),
}

/// A program, and a naive account of what it was granted.
struct Program {
    mapping: Mapping,
    limit: Option<usize>,
    domains: Vec<(DomainId, Level)>,
    /// With the level of the domain.
    contexts: Vec<(DomainId, Level, Assignment)>,
}

impl Program {
    fn new(design: Design, sharing: Sharing, limit: Option<usize>, hints: Option<Hints>) -> Self {
        let mut mapping = Mapping::new(design, sharing, limit);
        if let Some(hints) = hints {
            mapping.configure(hints, None);
        }
        Self { mapping, limit, domains: Vec::new(), contexts: Vec::new() }
    }

    fn step(&mut self, step: Step) {
        let before = self.mapping.used();
        match step {
            Step::Domains(level, number) => match self.mapping.create_domains(level, number) {
                Ok(ids) => {
                    assert_eq!(ids.len(), number);
                    self.domains.extend(ids.into_iter().map(|id| (id, level)));
                }
                Err(shortage) => self.check_refusal(shortage, before, level, number),
            },
            Step::Context(place) if !self.domains.is_empty() => {
                let (domain, level) = self.domains[place % self.domains.len()];
                match self.mapping.create_context(domain) {
                    Ok(assignment) => self.contexts.push((domain, level, assignment)),
                    Err(shortage) => {
                        assert_eq!(
                            self.mapping.design(),
                            Design::Context,
                            "a domain has a unit for its contexts"
                        );
                        self.check_refusal(shortage, before, level, 1);
                    }
                }
            }
            Step::DropDomain(place) if !self.domains.is_empty() => {
                let (domain, _) = self.domains.swap_remove(place % self.domains.len());
                self.mapping.destroy_domain(domain);
            }
            Step::DropContext(place) if !self.contexts.is_empty() => {
                let (domain, _, assignment) = self.contexts.swap_remove(place % self.contexts.len());
                self.mapping.destroy_context(domain, assignment.unit);
            }
            _ => {}
        }
        self.check();
    }

    fn check_refusal(&self, shortage: Shortage, before: usize, level: Level, number: usize) {
        assert_eq!(self.mapping.used(), before, "what is refused leaves nothing behind");
        assert_eq!(shortage.level, level);
        let limit = self.limit.expect("nothing is refused where there is no limit");
        if self.mapping.hints().is_none() {
            assert!(before + number > limit, "nobody was expected, and there were free units");
        }
        if level == Level::Multiple {
            assert!(!shortage.could_share, "Multiple shares with a lock where there is one");
        }
    }

    fn check(&self) {
        let Self { mapping, limit, contexts, .. } = self;
        assert!(limit.is_none_or(|limit| mapping.used() <= limit), "never more than there are");
        let mut on: BTreeMap<u32, BTreeSet<DomainId>> = BTreeMap::new();
        for (domain, level, assignment) in contexts {
            on.entry(assignment.unit).or_default().insert(*domain);
            assert!(assignment.locked || !level.is_concurrent(), "Multiple has a lock");
            if mapping.sharing() == Sharing::Conservative {
                assert!(!assignment.locked || level.is_concurrent(), "who wants no lock has none");
            }
        }
        for (_, _, assignment) in contexts {
            let same = contexts.iter().filter(|(_, _, other)| other.unit == assignment.unit);
            assert!(
                same.clone().all(|(_, _, other)| other.locked == assignment.locked),
                "a lock comes or goes"
            );
            assert!(
                assignment.locked || on[&assignment.unit].len() == 1,
                "two domains on a unit without a lock"
            );
            assert_eq!(mapping.contexts_on(assignment.unit), same.count());
        }
        if limit.is_none() {
            let shared = mapping.design() != Design::Auto && mapping.design() != Design::Context;
            assert!(
                shared || on.keys().all(|unit| mapping.contexts_on(*unit) == 1),
                "without a limit, none shares"
            );
        }
    }

    /// Everything is given back, in the order that `turn` chooses.
    fn end(mut self, turn: usize) {
        while !self.domains.is_empty() || !self.contexts.is_empty() {
            self.step(Step::DropContext(turn));
            self.step(Step::DropDomain(turn));
        }
        assert_eq!(self.mapping.used(), 0, "what is released is free");
        if let Some(limit) = self.limit {
            // And can be used: by as many as there are units.
            self.mapping.configure(Hints::default(), None);
            for _ in 0..limit {
                self.step(Step::Domains(Level::Private, 1));
            }
            assert_eq!(self.domains.len(), limit);
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let level = prop::sample::select(Level::ALL.to_vec());
    prop_oneof![
        (level, 1..4_usize).prop_map(|(level, number)| Step::Domains(level, number)),
        (0..16_usize).prop_map(Step::Context),
        (0..16_usize).prop_map(Step::DropDomain),
        (0..16_usize).prop_map(Step::DropContext),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]
    #[test]
    fn random_programs(
        design in prop::sample::select(Design::ALL.to_vec()),
        sharing in prop::sample::select(Sharing::ALL.to_vec()),
        limit in prop::option::of(prop_oneof![1..4_usize, 1..12_usize]),
        hints in prop::option::of((0..5_usize, 0..5_usize, 0..5_usize)),
        steps in prop::collection::vec(step(), 0..80),
        turn in 0..16_usize,
    ) {
        let hints = hints.map(|(private, serialized, multiple)| Hints { private, serialized, multiple });
        let mut program = Program::new(design, sharing, limit, hints);
        for step in steps {
            program.step(step);
        }
        program.end(turn);
    }

    #[test]
    fn hinted_domains_always_have_a_place(
        design in prop::sample::select(Design::ALL.to_vec()),
        sharing in prop::sample::select(Sharing::ALL.to_vec()),
        limit in 1..8_usize,
        order in prop::collection::vec(prop::sample::select(Level::ALL.to_vec()), 1..8),
    ) {
        let count = |level| order.iter().filter(|other| **other == level).count();
        let hints = Hints {
            private: count(Level::Private),
            serialized: count(Level::Serialized),
            multiple: count(Level::Multiple),
        };
        // Units for all who want no lock, and one for the others.
        let fits = hints.unlocked() + usize::from(hints.multiple > 0) <= limit;
        let mut program = Program::new(design, sharing, Some(limit), Some(hints));
        for &level in &order {
            program.step(Step::Domains(level, 1));
            program.step(Step::Context(program.domains.len().saturating_sub(1)));
        }
        if fits {
            prop_assert_eq!(program.contexts.len(), order.len());
            prop_assert!(program.contexts.iter().all(|(_, level, assignment)| assignment.locked == level.is_concurrent()));
        }
        if sharing == Sharing::Efficient {
            prop_assert_eq!(program.contexts.len(), order.len(), "whoever was announced has at least a share");
        }
    }
}

#[test]
fn what_is_left_over_goes_to_the_first() {
    let parts = |limit, pes| (0..pes).map(|slot| evenly(limit, pes, slot)).collect::<Vec<_>>();
    assert_eq!(parts(120, 2), [60, 60]);
    assert_eq!(parts(7, 3), [3, 2, 2]);
    assert_eq!(parts(2, 3), [1, 1, 0]);
}

#[test]
fn needs_are_met_before_the_rest_is_shared_out() {
    assert_eq!(by_need(12, &[9, 2]), [10, 2]);
    assert_eq!(by_need(12, &[2, 9]), [3, 9]);
    // Too few: he who wants little gets it, the others the same.
    assert_eq!(by_need(12, &[9, 2, 9]), [5, 2, 5]);
    assert_eq!(by_need(10, &[1, 1, 1]), [4, 3, 3]);
    assert_eq!(by_need(2, &[1, 1, 1]), [1, 1, 0]);
    assert_eq!(by_need(5, &[]), [0; 0]);
}

proptest! {
    #[test]
    fn all_units_are_shared_out_and_nobody_is_envied(
        limit in 0..200_usize,
        wants in proptest::collection::vec(0..40_usize, 1..8),
    ) {
        let parts = by_need(limit, &wants);
        prop_assert_eq!(parts.iter().sum::<usize>(), limit);
        prop_assert_eq!((0..wants.len()).map(|slot| evenly(limit, wants.len(), slot)).sum::<usize>(), limit);
        let short = (0..wants.len()).filter(|&pe| parts[pe] < wants[pe]);
        for pe in short {
            // Nobody has more than one unit more than he who has too few.
            prop_assert!(parts.iter().all(|part| *part <= parts[pe] + 1), "{:?} of {:?}", parts, wants);
        }
        if wants.iter().sum::<usize>() <= limit {
            prop_assert!(parts.iter().zip(&wants).all(|(part, want)| part >= want));
        }
    }
}
