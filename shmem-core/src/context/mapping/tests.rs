//! The published scenario: three units and three domains, MULTIPLE, SINGLE, and then one that nobody foresees; what holds
//! whatever a program does; and the units of a node among its PEs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use Design::{Auto, Context, Domain, Events, Hybrid};
use Level::{Multiple, Private as Single, Serialized};
use Sharing::{Conservative, Efficient};

const FOR_ONE: Hints = Hints { private: 2, serialized: 0, multiple: 1 };
const FOR_MANY: Hints = Hints { private: 1, serialized: 0, multiple: 2 };
const FOR_TWO: Hints = Hints { private: 2, serialized: 0, multiple: 2 };

fn mapping(
    design: Design,
    sharing: Sharing,
    limit: impl Into<Option<usize>>,
    hints: Option<Hints>,
) -> Mapping {
    let mut mapping = Mapping::new(design, sharing, limit.into());
    if let Some(hints) = hints {
        mapping.configure(hints, None);
    }
    mapping
}

/// What a context is granted: a unit without a lock, or one with a lock; or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Granted {
    Own(u32),
    Lock(u32),
    Nothing,
}
use Granted::{Lock, Nothing, Own};

fn context(mapping: &mut Mapping, domain: DomainId) -> Granted {
    match mapping.create_context(domain) {
        Ok(Assignment { unit, locked: true, .. }) => Lock(unit),
        Ok(Assignment { unit, .. }) => Own(unit),
        Err(_) => Nothing,
    }
}

/// A context in a new domain of each level.
fn granted(mapping: &mut Mapping, levels: &[Level]) -> Vec<Granted> {
    let one = |level: &Level| match mapping.create_domains(*level, 1) {
        Ok(ids) => context(mapping, ids[0]),
        Err(_) => Nothing,
    };
    levels.iter().map(one).collect()
}

/// Of three units: the published scenario with each third domain, and a fourth one.
#[test]
fn domains_have_units_by_sharing_and_hints() {
    let (three, four) = (|third| vec![Multiple, Single, third], vec![Multiple, Single, Multiple, Single]);
    let unhinted = vec![Multiple, Single, Serialized, Single];
    let table = [
        // Nobody knows what comes.
        (Conservative, None, three(Single), vec![Lock(0), Own(1), Own(2)]),
        (Conservative, None, three(Multiple), vec![Lock(0), Own(1), Lock(0)]),
        (Efficient, None, three(Single), vec![Lock(0), Own(1), Own(2)]),
        (Efficient, None, three(Multiple), vec![Lock(0), Own(1), Lock(2)]),
        // It was said what comes: then there are enough.
        (Conservative, Some(FOR_ONE), three(Single), vec![Lock(0), Own(1), Own(2)]),
        (Conservative, Some(FOR_MANY), three(Multiple), vec![Lock(0), Own(1), Lock(2)]),
        (Efficient, Some(FOR_ONE), three(Single), vec![Lock(0), Own(1), Own(2)]),
        (Efficient, Some(FOR_MANY), three(Multiple), vec![Lock(0), Own(1), Lock(2)]),
        // Something else was said: the last unit is kept for the second SINGLE.
        (Conservative, Some(FOR_ONE), three(Multiple), vec![Lock(0), Own(1), Lock(0)]),
        (Efficient, Some(FOR_ONE), three(Multiple), vec![Lock(0), Own(1), Lock(0)]),
        // Hints let the fourth have its own.
        (Conservative, None, four.clone(), vec![Lock(0), Own(1), Lock(0), Own(2)]),
        (Efficient, None, four.clone(), vec![Lock(0), Own(1), Lock(2), Lock(0)]),
        (Conservative, Some(FOR_TWO), four.clone(), vec![Lock(0), Own(1), Lock(0), Own(2)]),
        (Efficient, Some(FOR_TWO), four, vec![Lock(0), Own(1), Lock(0), Own(2)]),
        // Who wants no lock gets none, or is told.
        (Conservative, None, unhinted.clone(), vec![Lock(0), Own(1), Own(2), Nothing]),
        (Efficient, None, unhinted, vec![Lock(0), Own(1), Own(2), Lock(0)]),
        // Nothing has a lock: there is nothing to share.
        (Efficient, None, vec![Single, Single, Single, Multiple], vec![Own(0), Own(1), Own(2), Nothing]),
    ];
    for design in [Events, Hybrid, Domain, Context, Auto] {
        for (sharing, hints, levels, expected) in &table {
            let found = granted(&mut mapping(design, *sharing, 3, *hints), levels);
            assert_eq!(found, *expected, "{design:?} {sharing:?} {hints:?} {levels:?}");
        }
    }
    let mut full = mapping(Domain, Efficient, 1, None);
    full.create_domains(Single, 1).unwrap();
    let shortage = full.create_domains(Multiple, 1).unwrap_err();
    assert_eq!(shortage, Shortage { level: Multiple, used: 1, limit: 1, kept: 0, could_share: false });
}

#[test]
fn domains_created_together_are_mapped_together() {
    // One after the other, the first two leave nothing that could be shared.
    let mut apart = mapping(Domain, Efficient, 2, None);
    assert_eq!(granted(&mut apart, &[Single; 3]), [Own(0), Own(1), Nothing]);
    let mut together = mapping(Domain, Efficient, 2, None);
    let domains = together.create_domains(Single, 3).unwrap();
    let found: Vec<_> = domains.into_iter().map(|domain| context(&mut together, domain)).collect();
    assert_eq!(found, [Own(0), Lock(1), Lock(1)]);
}

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

/// 120 units for two PEs of 36 threads: a unit for each thread's context, and no lock. 250 threads are too many, and share that of
/// the world, as others do who find no other.
#[test]
fn the_unit_of_the_world_is_shared_last() {
    let limit = evenly(120, 2, 1);
    for (design, sharing, limit, level, threads) in [
        (Auto, Conservative, limit, Single, 36),
        (Auto, Efficient, limit, Single, 250),
        (Domain, Efficient, 1, Single, 1),
        (Domain, Efficient, 1, Multiple, 1),
        (Domain, Efficient, 2, Multiple, 1),
    ] {
        let mut mapping = Mapping::new(design, sharing, Some(limit));
        mapping.create_world(Multiple).unwrap();
        let found = granted(&mut mapping, &vec![level; threads]);
        let with = |unit: usize| match level {
            Multiple => Lock(unit as u32),
            _ => Own(unit as u32),
        };
        let own = (1..limit).map(with).chain(std::iter::repeat(Lock(0)));
        assert!(found.into_iter().eq(own.take(threads)), "{design:?} {sharing:?} {limit} {level:?}");
    }
    let mut two = mapping(Domain, Efficient, 2, None);
    two.create_world(Multiple).unwrap();
    assert_eq!(granted(&mut two, &[Multiple, Multiple, Single]), [Lock(1); 3]);
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
enum Action {
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
        let mapping = mapping(design, sharing, limit, hints);
        Self { mapping, limit, domains: Vec::new(), contexts: Vec::new() }
    }

    fn act(&mut self, action: Action) {
        let before = self.mapping.used();
        match action {
            Action::Domains(level, number) => match self.mapping.create_domains(level, number) {
                Ok(ids) => {
                    assert_eq!(ids.len(), number);
                    self.domains.extend(ids.into_iter().map(|id| (id, level)));
                }
                Err(shortage) => self.check_refusal(shortage, before, level, number),
            },
            Action::Context(place) if !self.domains.is_empty() => {
                let (domain, level) = self.domains[place % self.domains.len()];
                match self.mapping.create_context(domain) {
                    Ok(assignment) => self.contexts.push((domain, level, assignment)),
                    Err(shortage) => {
                        assert_eq!(
                            self.mapping.design,
                            Design::Context,
                            "a domain has a unit for its contexts"
                        );
                        self.check_refusal(shortage, before, level, 1);
                    }
                }
            }
            Action::DropDomain(place) if !self.domains.is_empty() => {
                let (domain, _) = self.domains.swap_remove(place % self.domains.len());
                self.mapping.destroy_domain(domain);
            }
            Action::DropContext(place) if !self.contexts.is_empty() => {
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
            if mapping.sharing == Sharing::Conservative {
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
            let shared = mapping.design != Design::Auto && mapping.design != Design::Context;
            assert!(
                shared || on.keys().all(|unit| mapping.contexts_on(*unit) == 1),
                "without a limit, none shares"
            );
        }
    }

    /// Everything is given back, in the order that `turn` chooses.
    fn end(mut self, turn: usize) {
        while !self.domains.is_empty() || !self.contexts.is_empty() {
            self.act(Action::DropContext(turn));
            self.act(Action::DropDomain(turn));
        }
        assert_eq!(self.mapping.used(), 0, "what is released is free");
        if let Some(limit) = self.limit {
            // And can be used: by as many as there are units.
            self.mapping.configure(Hints::default(), None);
            for _ in 0..limit {
                self.act(Action::Domains(Level::Private, 1));
            }
            assert_eq!(self.domains.len(), limit);
        }
    }
}

fn action() -> impl Strategy<Value = Action> {
    let level = prop::sample::select(Level::ALL.to_vec());
    prop_oneof![
        (level, 1..4_usize).prop_map(|(level, number)| Action::Domains(level, number)),
        (0..16_usize).prop_map(Action::Context),
        (0..16_usize).prop_map(Action::DropDomain),
        (0..16_usize).prop_map(Action::DropContext),
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
        actions in prop::collection::vec(action(), 0..80),
        turn in 0..16_usize,
    ) {
        let hints = hints.map(|(private, serialized, multiple)| Hints { private, serialized, multiple });
        let mut program = Program::new(design, sharing, limit, hints);
        for action in actions {
            program.act(action);
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
            program.act(Action::Domains(level, 1));
            program.act(Action::Context(program.domains.len().saturating_sub(1)));
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

proptest! {
    #[test]
    fn all_units_are_shared_out_and_nobody_is_envied(
        limit in 0..200_usize,
        wants in proptest::collection::vec(0..40_usize, 1..8),
    ) {
        let parts = by_need(limit, &wants);
        prop_assert_eq!(parts.iter().sum::<usize>(), limit);
        let even: Vec<_> = (0..wants.len()).map(|slot| evenly(limit, wants.len(), slot)).collect();
        prop_assert_eq!(even.iter().sum::<usize>(), limit);
        // What is left over goes to the first ones, one each.
        prop_assert!(even.is_sorted_by(|a, b| a >= b) && even[0] - even[wants.len() - 1] <= 1);
        let is_enough = wants.iter().sum::<usize>() <= limit;
        for (part, _) in parts.iter().zip(&wants).filter(|(part, want)| part < want) {
            // Nobody has more than one unit more than he who has too few.
            prop_assert!(!is_enough && parts.iter().all(|other| *other <= part + 1), "{:?} of {:?}", parts, wants);
        }
    }
}
