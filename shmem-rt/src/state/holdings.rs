//! Contexts and domains with the units that the [`Mapping`] assigned to them, and the calls that created them, which
//! errors and reports name. Used when contexts and domains are created and destroyed, never by an operation.

use std::collections::BTreeMap;
use std::panic::Location;

use shmem_core::context::mapping::{Assignment, DomainId, Hints, Level, Mapping, Shortage, evenly};
use shmem_core::text::counted;
use shmem_launch::env::Settings;

use super::granted::{Granted, Resources};
use crate::error::{ContextError, ErrorKind, Result};

pub(crate) struct Holdings {
    mapping: Mapping,
    /// Number of units of the node, if limited.
    pub(crate) node: Option<usize>,
    /// Whether the node has more units than `SHMEM_MAX_RESOURCES` allows.
    can_rise: bool,
    domains: BTreeMap<DomainId, Created>,
    contexts: BTreeMap<u64, (Held, &'static Location<'static>)>,
    world: Held,
    created: u64,
}

/// A domain, as the program created it.
struct Created {
    level: Level,
    /// The call that created the domain, or its only context; `None` for the world's domain.
    at: Option<&'static Location<'static>>,
    /// Whether the program created it as a domain.
    is_named: bool,
}

/// A context's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    number: u64,
    pub(crate) domain: DomainId,
    pub(crate) assignment: Assignment,
}

impl Holdings {
    /// Divides the node's units among its `pes` PEs, and takes one of this PE's units for the world, which is used at `level`.
    /// `place` is this PE's position on the node.
    ///
    /// # Errors
    ///
    /// If there is not one unit for each PE.
    pub(crate) fn start(
        settings: &Settings,
        units: Option<usize>,
        pes: usize,
        place: usize,
        level: Level,
    ) -> Result<Self> {
        let node = [settings.max_resources, units].into_iter().flatten().min();
        let too_few = |limit| {
            ErrorKind::Start(format!(
                "{pes} PEs on a node need {pes} endpoints, one each, and may have {limit}; raise SHMEM_MAX_RESOURCES, or unset it"
            ))
        };
        if let Some(limit) = node.filter(|limit| *limit < pes) {
            return Err(too_few(limit).into());
        }
        let part = node.map(|limit| evenly(limit, pes, place));
        let can_rise = units != node;
        let mut mapping = Mapping::new(settings.context_mapping, settings.context_sharing, part);
        let (domain, assignment) = mapping.create_world(level).map_err(|shortage| too_few(shortage.limit))?;
        Ok(Self {
            mapping,
            node,
            can_rise,
            domains: [(domain, Created { level, at: None, is_named: false })].into(),
            contexts: BTreeMap::new(),
            world: Held { number: 0, domain, assignment },
            created: 0,
        })
    }

    pub(crate) fn of_the_world(&self) -> Assignment {
        self.world.assignment
    }

    pub(crate) fn granted(&self, assignment: Assignment) -> Granted {
        let Assignment { unit, locked, tracking } = assignment;
        let shared_with = self.mapping.contexts_on(unit).saturating_sub(1);
        Granted { unit, locked, shared_with, tracking }
    }

    pub(crate) fn report(&self) -> Resources {
        let Self { mapping, contexts, .. } = self;
        let assignments = contexts.values().map(|(held, _)| held.assignment);
        Resources {
            node: self.node,
            limit: mapping.limit(),
            used: mapping.used(),
            mapping: mapping.design,
            sharing: mapping.sharing,
            hints: mapping.hints(),
            grants: std::iter::once(self.of_the_world())
                .chain(assignments)
                .map(|g| self.granted(g))
                .collect(),
        }
    }

    /// Creates a context without a domain, in a world whose own stream is used at level `world`.
    pub(crate) fn create_alone(
        &mut self,
        level: Level,
        world: Level,
        at: &'static Location<'static>,
    ) -> Result<Held, ContextError> {
        // In a serialized world another thread may use the context while the world is used, so the two are in different domains.
        if level == world && level != Level::Serialized {
            return self.create_context(self.world.domain, at);
        }
        let ids = self.mapping.create_domains(level, 1);
        let domain = ids.map_err(|shortage| self.exhausted("a context", shortage))?[0];
        self.domains.insert(domain, Created { level, at: Some(at), is_named: false });
        let held = self.create_context(domain, at);
        self.close_domain(domain);
        held
    }

    pub(crate) fn create_domains(
        &mut self,
        level: Level,
        number: usize,
        at: &'static Location<'static>,
    ) -> Result<Vec<DomainId>, ContextError> {
        let what = if number == 1 { "a domain".to_owned() } else { format!("{number} domains") };
        let ids = self.mapping.create_domains(level, number);
        let ids = ids.map_err(|shortage| self.exhausted(&what, shortage))?;
        self.domains.extend(ids.iter().map(|id| (*id, Created { level, at: Some(at), is_named: true })));
        Ok(ids)
    }

    pub(crate) fn create_context(
        &mut self,
        domain: DomainId,
        at: &'static Location<'static>,
    ) -> Result<Held, ContextError> {
        let assignment = self.mapping.create_context(domain);
        let assignment = assignment.map_err(|shortage| self.exhausted("a context", shortage))?;
        self.created += 1;
        let held = Held { number: self.created, domain, assignment };
        self.contexts.insert(held.number, (held, at));
        Ok(held)
    }

    pub(crate) fn remove(&mut self, held: Held) {
        self.contexts.remove(&held.number);
        self.mapping.destroy_context(held.domain, held.assignment.unit);
        self.forget(held.domain);
    }

    pub(crate) fn close_domain(&mut self, domain: DomainId) {
        self.mapping.destroy_domain(domain);
        self.forget(domain);
    }

    fn forget(&mut self, domain: DomainId) {
        if !self.mapping.is_alive(domain) {
            self.domains.remove(&domain);
        }
    }

    /// Checks that no domain or context lives besides the world's own.
    ///
    /// # Errors
    ///
    /// If any lives; the error names all.
    pub(crate) fn idle(&self) -> Result<(), ContextError> {
        let places = |sites: Vec<&'static Location<'static>>| {
            let mut places: Vec<String> = sites.into_iter().map(place).collect();
            places.sort();
            places.dedup();
            places.join(", ")
        };
        let domains = self.domains.values().filter(|domain| domain.is_named);
        let domains: Vec<&'static Location<'static>> = domains.filter_map(|domain| domain.at).collect();
        let contexts: Vec<&'static Location<'static>> = self.contexts.values().map(|(_, at)| *at).collect();
        let live: Vec<String> = [("domain", domains), ("context", contexts)]
            .into_iter()
            .filter(|(_, sites)| !sites.is_empty())
            .map(|(what, sites)| {
                let verb = if sites.len() == 1 { "lives" } else { "live" };
                format!("{} {verb}, created at {}", counted(sites.len(), what), places(sites))
            })
            .collect();
        if live.is_empty() { Ok(()) } else { Err(ContextError::Live { live: live.join(", and ") }) }
    }

    pub(crate) fn configure(&mut self, hints: Hints, part: Option<usize>) {
        self.mapping.configure(hints, part);
    }

    fn exhausted(&self, what: &str, shortage: Shortage) -> ContextError {
        let Shortage { level, used, limit, kept, could_share } = shortage;
        let mut holders = vec![format!("{} by the world", self.mapping.units_of(self.world.domain))];
        let named = self.domains.iter().filter_map(|(id, Created { level, at, .. })| {
            let units = self.mapping.units_of(*id);
            (units > 0).then_some((units, level.name(), (*at)?))
        });
        let named: Vec<_> = named.collect();
        // The message names four and counts the others.
        let (shown, others) = named.split_at(named.len().min(4));
        holders.extend(shown.iter().map(|(n, level, at)| format!("{n} by {level} at {}", place(at))));
        if !others.is_empty() {
            holders.push(format!("{} by others", others.iter().map(|(units, ..)| units).sum::<usize>()));
        }
        let kept = match kept {
            0 => String::new(),
            kept => format!(", and hints keep {kept} for others"),
        };
        let remedy = match (could_share, self.can_rise) {
            (true, true) => {
                "destroy one, raise SHMEM_MAX_RESOURCES, or share one with a lock by SHMEM_CONTEXT_SHARING=efficient"
            }
            (true, false) => "destroy one, or share one with a lock by SHMEM_CONTEXT_SHARING=efficient",
            (false, true) => "destroy one, or raise SHMEM_MAX_RESOURCES",
            (false, false) => "destroy one, or start fewer PEs on a node",
        };
        ContextError::Exhausted {
            what: format!("{what} of level {}", level.name()),
            used,
            limit,
            holders: holders.join(", "),
            kept,
            remedy,
        }
    }
}

fn place(at: &Location<'_>) -> String {
    format!("{}:{}", at.file(), at.line())
}
