//! The answers: which unit a domain or a context gets.

use std::collections::BTreeMap;

use super::units::{Taken, Units};
use super::{Design, Hints, Level, Sharing, Tracking};

/// A domain of a [`Mapping`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainId(u32);

/// What a context was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The unit.
    pub unit: u32,
    /// Whether operations take a lock.
    pub locked: bool,
    /// How its operations are tracked to completion.
    pub tracking: Tracking,
}

/// No unit is left that may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// What was asked for.
    pub level: Level,
    /// Units in use.
    pub used: usize,
    /// Units there are.
    pub limit: usize,
    /// Units that hints keep for others.
    pub kept: usize,
    /// Whether there is a unit that has a lock, and could be shared with it.
    pub could_share: bool,
}

/// Decides who gets which unit. See the [module](super).
#[derive(Debug)]
pub struct Mapping {
    design: Design,
    sharing: Sharing,
    hints: Option<Hints>,
    units: Units,
    domains: BTreeMap<DomainId, Domain>,
    created: u32,
}

#[derive(Debug)]
struct Domain {
    level: Level,
    /// The world's own.
    of_the_world: bool,
    /// Whether it can still be given contexts.
    open: bool,
    /// The unit that it holds itself.
    unit: Option<u32>,
    /// The units of its contexts, and how many are on each.
    contexts: BTreeMap<u32, usize>,
}

/// How many units are meant for whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Plan {
    unlocked: usize,
    locked: usize,
}

impl Mapping {
    /// Of `limit` units, or as many as anybody wants.
    pub fn new(design: Design, sharing: Sharing, limit: Option<usize>) -> Self {
        let units = Units::new(limit);
        Self { design, sharing, hints: None, units, domains: BTreeMap::new(), created: 0 }
    }

    /// The design.
    pub fn design(&self) -> Design {
        self.design
    }

    /// What is saved for whom.
    pub fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// The hints that count.
    pub fn hints(&self) -> Option<Hints> {
        self.hints
    }

    /// Units in use.
    pub fn used(&self) -> usize {
        self.units.used()
    }

    /// Units there are, where that is limited.
    pub fn limit(&self) -> Option<usize> {
        self.units.limit
    }

    /// Whether a domain is open, or has contexts.
    pub fn is_alive(&self, domain: DomainId) -> bool {
        self.domains.contains_key(&domain)
    }

    /// How many units a domain and its contexts are on.
    pub fn units_of(&self, domain: DomainId) -> usize {
        self.domains.get(&domain).map_or(0, |domain| {
            domain.contexts.len()
                + domain.unit.map_or(0, |unit| usize::from(!domain.contexts.contains_key(&unit)))
        })
    }

    /// How many domains and contexts hold a unit; 0: it is free.
    pub fn holders(&self, unit: u32) -> usize {
        self.units.get(unit).map_or(0, |unit| unit.holders)
    }

    /// How many contexts are on a unit.
    pub fn contexts_on(&self, unit: u32) -> usize {
        self.domains.values().filter_map(|domain| domain.contexts.get(&unit)).sum()
    }

    /// Takes hints, and another number of units if one is given. Only while nothing but the world's own
    /// domain and context lives: whoever has a unit was granted it under the hints of before.
    ///
    /// # Panics
    ///
    /// If anything else lives, or the limit is 0.
    pub fn configure(&mut self, hints: Hints, limit: Option<usize>) {
        let idle = self
            .domains
            .values()
            .all(|domain| domain.of_the_world && domain.contexts.values().sum::<usize>() <= 1);
        assert!(idle, "hints were changed while domains or contexts live");
        self.hints = Some(hints);
        if let Some(limit) = limit {
            assert!(limit > 0, "a PE has a unit for the world itself");
            self.units.limit = Some(limit);
        }
    }

    /// The domain of the world, whose level is the world's, with the world's own context in it.
    ///
    /// # Errors
    ///
    /// [`Shortage`] if there is no unit at all.
    pub fn create_world(&mut self, level: Level) -> Result<(DomainId, Assignment), Shortage> {
        let unit =
            self.units.take(level.is_concurrent(), Taken::World).ok_or_else(|| self.shortage(level, 0))?;
        let own = (self.design != Design::Context).then_some(unit);
        let id = self.add(level, true, own);
        self.domains.entry(id).and_modify(|domain| domain.contexts.extend([(unit, 1)]));
        if own.is_some() {
            self.units.join(unit);
        }
        Ok((id, self.assignment(unit)))
    }

    /// Creates domains of one level, all or none. That they are created together is known while they are
    /// mapped.
    ///
    /// # Errors
    ///
    /// [`Shortage`] if one of them can have no unit.
    pub fn create_domains(&mut self, level: Level, number: usize) -> Result<Vec<DomainId>, Shortage> {
        let live =
            || self.domains.values().filter(|domain| domain.level == level && !domain.of_the_world).count();
        // What comes together is as good as hinted, for those who would otherwise take all and leave none to
        // share.
        let together = (self.sharing == Sharing::Efficient && !level.is_concurrent() && number > 1)
            .then(|| self.hints.unwrap_or_default().at_least(level, live().saturating_add(number)));
        let expected = together.or(self.hints);
        let mut ids = Vec::new();
        for _ in 0..number {
            let unit = match self.design {
                Design::Context => Ok(None),
                _ => self.place(level, expected).map(Some),
            };
            match unit {
                Ok(unit) => ids.push(self.add(level, false, unit)),
                Err(shortage) => {
                    ids.into_iter().for_each(|id| self.destroy_domain(id));
                    return Err(Shortage { used: self.units.used(), ..shortage });
                }
            }
        }
        Ok(ids)
    }

    /// Closes a domain to further contexts. What it holds is free when its last context is gone.
    pub fn destroy_domain(&mut self, domain: DomainId) {
        if let Some(closed) = self.domains.get_mut(&domain) {
            closed.open = false;
        }
        self.settle(domain);
    }

    /// Creates a context in a domain.
    ///
    /// # Errors
    ///
    /// [`Shortage`] if it can have no unit.
    ///
    /// # Panics
    ///
    /// If the domain is destroyed.
    pub fn create_context(&mut self, domain: DomainId) -> Result<Assignment, Shortage> {
        let (level, unit) = match self.domains.get(&domain) {
            Some(open) if open.open => (open.level, open.unit),
            _ => panic!("a context was asked for of a domain that is destroyed"),
        };
        let contexts = &self.domains[&domain].contexts;
        // The domain's own unit serves the first context, and then whoever finds no better one.
        let idle = unit.filter(|unit| !contexts.contains_key(unit));
        let shares = match self.design {
            Design::Events | Design::Hybrid | Design::Domain => true,
            Design::Auto => idle.is_some() || !self.is_ample(),
            Design::Context => !level.is_concurrent() && !self.has_own(level, self.hints),
        };
        let emptiest = || contexts.iter().min_by_key(|(_, contexts)| **contexts).map(|(unit, _)| *unit);
        let shared = shares.then(|| idle.or_else(emptiest)).flatten();
        let unit = match (shared, self.design) {
            (Some(unit), _) => {
                self.units.join(unit);
                unit
            }
            (None, Design::Auto) => {
                let taken = self.units.take(level.is_concurrent(), Taken::Further);
                taken.ok_or_else(|| self.shortage(level, 0))?
            }
            (None, _) => self.place(level, self.hints)?,
        };
        self.domains.entry(domain).and_modify(|domain| *domain.contexts.entry(unit).or_insert(0) += 1);
        Ok(self.assignment(unit))
    }

    /// Destroys a context of a domain that is on a unit.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn destroy_context(&mut self, domain: DomainId, unit: u32) {
        let contexts = self.domains.get_mut(&domain).map(|domain| &mut domain.contexts);
        let Some(contexts) = contexts.filter(|contexts| contexts.contains_key(&unit)) else {
            panic!("a context was destroyed that is not there");
        };
        contexts.entry(unit).and_modify(|contexts| *contexts -= 1);
        if contexts[&unit] == 0 {
            contexts.remove(&unit);
        }
        self.units.leave(unit);
        self.settle(domain);
    }

    fn add(&mut self, level: Level, of_the_world: bool, unit: Option<u32>) -> DomainId {
        let id = DomainId(self.created);
        self.created += 1;
        self.domains.insert(id, Domain { level, of_the_world, open: true, unit, contexts: BTreeMap::new() });
        id
    }

    fn assignment(&self, unit: u32) -> Assignment {
        let locked = self.units.get(unit).is_some_and(|unit| unit.locked);
        Assignment { unit, locked, tracking: self.design.tracking() }
    }

    /// Gives back what a domain holds, once it is closed and empty.
    fn settle(&mut self, domain: DomainId) {
        let over = |domain: &Domain| !domain.open && domain.contexts.is_empty();
        if self.domains.get(&domain).is_some_and(over)
            && let Some(Domain { unit: Some(unit), .. }) = self.domains.remove(&domain)
        {
            self.units.leave(unit);
        }
    }

    /// A unit for a domain, or a context, of a level.
    fn place(&mut self, level: Level, expected: Option<Hints>) -> Result<u32, Shortage> {
        let plan = self.left(expected);
        if self.has_own(level, expected) {
            let unit = self.units.take(level.is_concurrent(), Taken::Party);
            return unit.ok_or_else(|| self.shortage(level, 0));
        }
        let may_share = level.is_concurrent() || self.sharing == Sharing::Efficient;
        let kept = plan.unlocked + plan.locked;
        if !may_share {
            return Err(self.shortage(level, kept));
        }
        // Those who were expected begin a shared unit while some are left; others join one first.
        let begins = plan.locked > 0 && (self.is_expected(level, expected) || self.units.count(true) == 0);
        if begins && let Some(unit) = self.units.take(true, Taken::Party) {
            return Ok(unit);
        }
        let unit = self.units.least_shared().ok_or_else(|| self.shortage(level, kept))?;
        self.units.join(unit);
        Ok(unit)
    }

    /// Whether a domain, or a context, of a level gets a unit of its own.
    fn has_own(&self, level: Level, expected: Option<Hints>) -> bool {
        let plan = self.left(expected);
        let spare = self.units.free() > plan.unlocked + plan.locked;
        let is_expected = self.is_expected(level, expected);
        if !level.is_concurrent() {
            return spare || (is_expected && plan.unlocked > 0 && self.units.free() > 0);
        }
        let saves = self.sharing == Sharing::Conservative && self.units.limit.is_some();
        let is_planned = is_expected && plan.locked > 0 && self.units.free() > 0;
        is_planned || (spare && !(saves && self.units.count(true) > 0))
    }

    /// Whether hints speak of one more of a level.
    fn is_expected(&self, level: Level, expected: Option<Hints>) -> bool {
        let of_level =
            || self.domains.values().filter(|domain| domain.level == level && !domain.of_the_world);
        let live = || match self.design {
            Design::Context => of_level().flat_map(|domain| domain.contexts.values()).sum::<usize>(),
            _ => of_level().count(),
        };
        expected.is_some_and(|hints| live() < hints.of(level))
    }

    /// The units that are kept for those who are expected and not there yet.
    fn left(&self, expected: Option<Hints>) -> Plan {
        let plan = expected.map_or_else(Plan::default, |hints| self.plan(hints));
        Plan {
            unlocked: plan.unlocked.saturating_sub(self.units.count(false)),
            locked: plan.locked.saturating_sub(self.units.count(true)),
        }
    }

    /// Shares out the units among those who are expected. Where they are too few, those that want no lock come
    /// first, and the others share what is left, one at least.
    fn plan(&self, hints: Hints) -> Plan {
        let units = self.units.limit.unwrap_or(usize::MAX) - usize::from(self.units.has_the_world());
        let (unlocked, shared) = (hints.unlocked(), hints.multiple);
        if hints.total() <= units {
            return Plan { unlocked, locked: shared };
        }
        let shares = shared > 0 || self.sharing == Sharing::Efficient;
        let locked = units.saturating_sub(unlocked).max(usize::from(shares)).min(units);
        Plan { unlocked: units - locked, locked }
    }

    /// Whether a further context of a domain may have a unit of its own, which nobody else will need.
    fn is_ample(&self) -> bool {
        let (free, plan) = (self.units.free(), self.left(self.hints));
        match (self.units.limit, self.hints, self.sharing) {
            (None, ..) => true,
            (Some(_), Some(_), _) => free > plan.unlocked + plan.locked,
            (Some(limit), None, Sharing::Conservative) => free > limit / 2,
            (Some(_), None, Sharing::Efficient) => free > 0,
        }
    }

    fn shortage(&self, level: Level, kept: usize) -> Shortage {
        let (used, limit) = (self.units.used(), self.units.limit.unwrap_or(usize::MAX));
        Shortage { level, used, limit, kept, could_share: self.units.least_shared().is_some() }
    }
}
