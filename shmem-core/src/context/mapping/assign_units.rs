//! Chooses the units of domains and contexts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::units::Units;
use super::{Design, Hints, Level, Sharing, Tracking};

/// Identifies a domain of a [`Mapping`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainId(u32);

/// The unit that a context got, and how the context must use the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Which unit, by its number.
    pub unit: u32,
    /// Whether operations of the context must lock the unit.
    pub locked: bool,
    /// How operations of the context are tracked until completion.
    pub tracking: Tracking,
}

/// The error that no suitable unit is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Level of the domain or context that got no unit.
    pub level: Level,
    /// Number of units in use.
    pub used: usize,
    /// Number of units that this PE may use.
    pub limit: usize,
    /// Number of units that hints reserve for domains or contexts not yet created.
    pub kept: usize,
    /// Whether a unit with a lock exists, which [`Sharing::Efficient`] would share.
    pub could_share: bool,
}

/// The units of a PE and their assignment to domains and contexts. See the [module](super).
#[derive(Debug)]
pub struct Mapping {
    /// Whether units are assigned to domains or to contexts.
    pub design: Design,
    /// How units are shared if the program gives no hints.
    pub sharing: Sharing,
    hints: Option<Hints>,
    units: Units,
    domains: BTreeMap<DomainId, Domain>,
    created: u32,
}

#[derive(Debug)]
struct Domain {
    level: Level,
    of_the_world: bool,
    /// Whether contexts can still be created in the domain.
    open: bool,
    /// The unit that was assigned to the domain when it was created. `None` with [`Design::Context`].
    unit: Option<u32>,
    /// Number of the domain's contexts on each unit.
    contexts: BTreeMap<u32, usize>,
}

/// How a domain or a context gets a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Own,
    /// On a new unit with a lock, which other domains may join.
    Begin,
    /// On a unit with a lock that other domains already use.
    Join,
    Refused,
}

impl Mapping {
    /// Returns a mapping on `limit` units, or on any number if `limit` is `None`.
    pub fn new(design: Design, sharing: Sharing, limit: Option<usize>) -> Self {
        let units = Units::new(limit);
        Self { design, sharing, hints: None, units, domains: BTreeMap::new(), created: 0 }
    }

    /// The hints of the last [`configure`](Self::configure).
    pub fn hints(&self) -> Option<Hints> {
        self.hints
    }

    /// Number of units in use.
    pub fn used(&self) -> usize {
        self.units.used()
    }

    /// Number of units that this PE may use, or `None` if the number is not limited.
    pub fn limit(&self) -> Option<usize> {
        self.units.limit
    }

    /// Whether a domain is open (contexts can be created in it) or still has contexts.
    pub fn is_alive(&self, domain: DomainId) -> bool {
        self.domains.contains_key(&domain)
    }

    /// Number of contexts on a unit.
    pub fn contexts_on(&self, unit: u32) -> usize {
        self.domains.values().filter_map(|domain| domain.contexts.get(&unit)).sum()
    }

    /// Sets the hints, and the limit on units if `limit` is `Some`. Only the world's own domain and context may exist, because
    /// units that are in use were assigned by the previous hints.
    ///
    /// # Panics
    ///
    /// If other domains or contexts exist, or the limit is 0.
    pub fn configure(&mut self, hints: Hints, limit: Option<usize>) {
        let is_idle = |domain: &Domain| domain.of_the_world && domain.contexts.values().sum::<usize>() <= 1;
        assert!(self.domains.values().all(is_idle), "hints were changed while domains or contexts live");
        assert!(limit != Some(0), "a PE has a unit for the world itself");
        self.hints = Some(hints);
        self.units.limit = limit.or(self.units.limit);
    }

    /// Creates the world's domain with `level`, the world's thread level, and the world's own context in this domain.
    ///
    /// # Errors
    ///
    /// [`Shortage`] if there is no unit at all.
    pub fn create_world(&mut self, level: Level) -> Result<(DomainId, Assignment), Shortage> {
        let taken = self.units.take(level.is_concurrent(), false);
        let unit = taken.ok_or_else(|| self.shortage(level, 0))?;
        self.units.world = Some(unit);
        let own = (self.design != Design::Context).then_some(unit);
        if own.is_some() {
            self.units.join(unit);
        }
        let id = self.add(level, true, own);
        Ok((id, self.give(id, unit)))
    }

    /// Creates `number` domains of one level, or none if a unit is missing. With [`Sharing::Efficient`], several domains
    /// without a lock get units as if hints had announced them.
    ///
    /// # Errors
    ///
    /// [`Shortage`] if a domain gets no unit.
    pub fn create_domains(&mut self, level: Level, number: usize) -> Result<Vec<DomainId>, Shortage> {
        // As a hint, these domains reserve a unit with a lock to share if units are too few. Otherwise the first domains would take
        // all units, each without a lock, and leave none to share.
        let is_hint = self.sharing == Sharing::Efficient && !level.is_concurrent() && number > 1;
        let together = is_hint.then(|| {
            let (mut hints, live) = (self.hints.unwrap_or_default(), self.of_level(level).count());
            let expected = hints.of_mut(level);
            *expected = live.saturating_add(number).max(*expected);
            hints
        });
        let mut ids = Vec::new();
        for _ in 0..number {
            let unit = match self.design {
                Design::Context => Ok(None),
                _ => self.place(level, together.or(self.hints)).map(Some),
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

    /// Closes a domain to further contexts. The domain's unit is free when the last context of the domain is destroyed.
    pub fn destroy_domain(&mut self, domain: DomainId) {
        self.domains.entry(domain).and_modify(|closed| closed.open = false);
        self.settle(domain);
    }

    /// Creates a context in a domain.
    ///
    /// # Errors
    ///
    /// [`Shortage`] if no unit is left.
    ///
    /// # Panics
    ///
    /// If the domain is destroyed.
    pub fn create_context(&mut self, domain: DomainId) -> Result<Assignment, Shortage> {
        let Some(Domain { level, unit, contexts, .. }) =
            self.domains.get(&domain).filter(|domain| domain.open)
        else {
            panic!("a context was asked for of a domain that is destroyed")
        };
        let level = *level;
        // The domain's own unit is for its first context, and for later contexts that get no unit of their own.
        let idle = unit.filter(|unit| !contexts.contains_key(unit));
        let emptiest = || contexts.iter().min_by_key(|(_, contexts)| **contexts).map(|(unit, _)| *unit);
        let shares = match self.design {
            Design::Events | Design::Hybrid | Design::Domain => true,
            Design::Auto => idle.is_some() || !self.is_ample(),
            Design::Context => !level.is_concurrent() && self.way(level, self.hints) != Way::Own,
        };
        let unit = match shares.then(|| idle.or_else(emptiest)).flatten() {
            Some(unit) => {
                self.units.join(unit);
                unit
            }
            None if self.design == Design::Auto => {
                let taken = self.units.take(level.is_concurrent(), false);
                taken.ok_or_else(|| self.shortage(level, 0))?
            }
            None => self.place(level, self.hints)?,
        };
        Ok(self.give(domain, unit))
    }

    /// Destroys a context of `domain` on `unit`.
    ///
    /// # Panics
    ///
    /// If there is no such context.
    pub fn destroy_context(&mut self, domain: DomainId, unit: u32) {
        let contexts = self.domains.get_mut(&domain).map(|domain| domain.contexts.entry(unit));
        let Some(Entry::Occupied(mut contexts)) = contexts else {
            panic!("a context was destroyed that is not there");
        };
        *contexts.get_mut() -= 1;
        if *contexts.get() == 0 {
            contexts.remove();
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

    fn give(&mut self, domain: DomainId, unit: u32) -> Assignment {
        self.domains.entry(domain).and_modify(|domain| *domain.contexts.entry(unit).or_insert(0) += 1);
        Assignment { unit, locked: self.units.is_locked(unit), tracking: self.design.tracking() }
    }

    /// Releases the unit of a domain if the domain is closed and has no contexts.
    fn settle(&mut self, domain: DomainId) {
        let over = |domain: &Domain| !domain.open && domain.contexts.is_empty();
        if self.domains.get(&domain).is_some_and(over)
            && let Some(Domain { unit: Some(unit), .. }) = self.domains.remove(&domain)
        {
            self.units.leave(unit);
        }
    }

    /// Assigns a unit to a domain or a context of `level`, under the hints `expected`.
    fn place(&mut self, level: Level, expected: Option<Hints>) -> Result<u32, Shortage> {
        let kept = self.kept(expected).iter().sum();
        let unit = match self.way(level, expected) {
            Way::Own => self.units.take(level.is_concurrent(), true),
            Way::Begin => self.units.take(true, true),
            Way::Join => self.units.least_shared().inspect(|unit| self.units.join(*unit)),
            Way::Refused => None,
        };
        unit.ok_or_else(|| self.shortage(level, kept))
    }

    /// Returns how a domain or a context of `level` gets a unit, under the hints `expected`. The first arm that matches decides.
    fn way(&self, level: Level, expected: Option<Hints>) -> Way {
        let ([unlocked, locked], free) = (self.kept(expected), self.units.free());
        let (is_spare, is_expected) =
            (free > unlocked + locked, free > 0 && self.is_expected(level, expected));
        let begun = self.units.hinted[1] > 0;
        match (level.is_concurrent(), self.sharing) {
            (false, _) if is_spare || (is_expected && unlocked > 0) => Way::Own,
            (true, _) if is_expected && locked > 0 => Way::Own,
            // If units are limited, `Conservative` takes no further unit of its own once there is a unit with a lock to share.
            (true, Sharing::Conservative) if is_spare && !(begun && self.units.limit.is_some()) => Way::Own,
            (true, Sharing::Efficient) if is_spare => Way::Own,
            (false, Sharing::Conservative) => Way::Refused,
            // A hinted domain gets a new unit to share while units are left. Other domains prefer an existing one.
            _ if free > 0 && locked > 0 && (is_expected || !begun) => Way::Begin,
            _ => Way::Join,
        }
    }

    /// The domains of a level, without the world's own.
    fn of_level(&self, level: Level) -> impl Iterator<Item = &Domain> {
        self.domains.values().filter(move |domain| domain.level == level && !domain.of_the_world)
    }

    /// Whether the hints `expected` announce more domains of `level` (with [`Design::Context`]: contexts) than exist.
    fn is_expected(&self, level: Level, expected: Option<Hints>) -> bool {
        let live = || match self.design {
            Design::Context => {
                self.of_level(level).flat_map(|domain| domain.contexts.values()).sum::<usize>()
            }
            _ => self.of_level(level).count(),
        };
        expected.is_some_and(|hints| live() < hints.of(level))
    }

    /// Returns how many units are reserved for hinted domains that are not yet created: without a lock, and with a lock. If units
    /// are too few, domains without a lock have priority, and the other domains share the remaining units, at least one.
    fn kept(&self, expected: Option<Hints>) -> [usize; 2] {
        let Some(hints) = expected else { return [0; 2] };
        let units = self.units.limit.unwrap_or(usize::MAX) - usize::from(self.units.world.is_some());
        let mut planned = [hints.unlocked(), hints.multiple];
        if hints.total() > units {
            let shares = hints.multiple > 0 || self.sharing == Sharing::Efficient;
            let locked = units.saturating_sub(hints.unlocked()).max(usize::from(shares)).min(units);
            planned = [units - locked, locked];
        }
        core::array::from_fn(|lock| planned[lock].saturating_sub(self.units.hinted[lock]))
    }

    /// Whether enough units are free that a further context of a domain may have its own.
    fn is_ample(&self) -> bool {
        let free = self.units.free();
        match (self.units.limit, self.hints, self.sharing) {
            (None, ..) => true,
            (Some(_), Some(_), _) => free > self.kept(self.hints).iter().sum::<usize>(),
            (Some(limit), None, Sharing::Conservative) => free > limit / 2,
            (Some(_), None, Sharing::Efficient) => free > 0,
        }
    }

    fn shortage(&self, level: Level, kept: usize) -> Shortage {
        let (used, limit) = (self.units.used(), self.units.limit.unwrap_or(usize::MAX));
        Shortage { level, used, limit, kept, could_share: self.units.least_shared().is_some() }
    }
}
