//! What holds whatever a program does: all short programs, and random long ones.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::*;

/// What a program does. Domains and contexts are named by their place among the living, round and round.
#[derive(Clone, Copy, Debug)]
enum Step {
    Domains(Level, usize),
    Context(usize),
    DropDomain(usize),
    DropContext(usize),
}

const SHORT: [Step; 7] = [
    Step::Domains(Level::Private, 1),
    Step::Domains(Level::Serialized, 2),
    Step::Domains(Level::Multiple, 1),
    Step::Context(0),
    Step::Context(1),
    Step::DropDomain(0),
    Step::DropContext(0),
];

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

#[test]
fn all_short_programs() {
    const LENGTH: u32 = 4;
    let hints = [
        None,
        Some(Hints::default()),
        Some(Hints { private: 1, serialized: 0, multiple: 1 }),
        Some(Hints { private: 2, serialized: 1, multiple: 2 }),
    ];
    for design in Design::ALL {
        for sharing in Sharing::ALL {
            for limit in [1, 2, 3] {
                for hints in hints {
                    for number in 0..SHORT.len().pow(LENGTH) {
                        let mut program = Program::new(design, sharing, Some(limit), hints);
                        let mut rest = number;
                        for _ in 0..LENGTH {
                            program.step(SHORT[rest % SHORT.len()]);
                            rest /= SHORT.len();
                        }
                        program.end(number % 2);
                    }
                }
            }
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
    #[test]
    fn random_programs(
        design in prop::sample::select(Design::ALL.to_vec()),
        sharing in prop::sample::select(Sharing::ALL.to_vec()),
        limit in prop::option::of(1..12_usize),
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
