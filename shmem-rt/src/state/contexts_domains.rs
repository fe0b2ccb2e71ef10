//! Contexts and domains of a PE, with the units (endpoints with completion queues) that the [`Mapping`] assigned to them.

use std::collections::{BTreeMap, BTreeSet};

use shmem_core::context::mapping::{Assignment, DomainId, Hints, Level, Mapping, Shortage, evenly};
use shmem_core::text::counted;
use shmem_launch::env::Settings;

use super::endpoint_reports::{Granted, Resources};
use crate::error::{ContextError, ErrorKind, Result};

pub(crate) struct ContextTable {
    mapping: Mapping,
    /// Maximum number of units (endpoints) that the PEs of the node may use; None without a limit.
    pub(crate) node: Option<usize>,
    /// Whether the node has more units (endpoints) than `SHMEM_MAX_RESOURCES` allows.
    can_rise: bool,
    /// Living domains that the program created explicitly.
    domains: BTreeSet<DomainId>,
    contexts: BTreeMap<u64, Held>,
    world: Held,
    created: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    number: u64,
    pub(crate) domain: DomainId,
    pub(crate) assignment: Assignment,
}

impl ContextTable {
    /// Divides the node's units (endpoints) among its `pes` PEs; this is number `place`. Assigns one to the world, used at `level`.
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
            domains: BTreeSet::new(),
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
        let assignments = contexts.values().map(|held| held.assignment);
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

    /// Creates a context for which the program names no domain, in a world of thread level `world`.
    pub(crate) fn create_alone(&mut self, level: Level, world: Level) -> Result<Held, ContextError> {
        // In a serialized world, another thread may use the context while the world is used, so it needs a domain of its own.
        if level == world && level != Level::Serialized {
            return self.create_context(self.world.domain);
        }
        let ids = self.mapping.create_domains(level, 1);
        let domain = ids.map_err(|shortage| self.exhausted("a context", shortage))?[0];
        let held = self.create_context(domain);
        self.close_domain(domain);
        held
    }

    pub(crate) fn create_domains(
        &mut self,
        level: Level,
        number: usize,
    ) -> Result<Vec<DomainId>, ContextError> {
        let what = if number == 1 { "a domain".to_owned() } else { format!("{number} domains") };
        let ids = self.mapping.create_domains(level, number);
        let ids = ids.map_err(|shortage| self.exhausted(&what, shortage))?;
        self.domains.extend(&ids);
        Ok(ids)
    }

    pub(crate) fn create_context(&mut self, domain: DomainId) -> Result<Held, ContextError> {
        let assignment = self.mapping.create_context(domain);
        let assignment = assignment.map_err(|shortage| self.exhausted("a context", shortage))?;
        self.created += 1;
        let held = Held { number: self.created, domain, assignment };
        self.contexts.insert(held.number, held);
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

    /// Returns an error if a domain or context is alive, besides those of the world itself.
    pub(crate) fn idle(&self) -> Result<(), ContextError> {
        let living = [(self.domains.len(), "domain"), (self.contexts.len(), "context")];
        let living = living.into_iter().filter(|(count, _)| *count > 0);
        let live: Vec<_> = living.map(|(count, what)| counted(count, what)).collect();
        if live.is_empty() { Ok(()) } else { Err(ContextError::Live { live: live.join(" and ") }) }
    }

    pub(crate) fn configure(&mut self, hints: Hints, part: Option<usize>) {
        self.mapping.configure(hints, part);
    }

    fn exhausted(&self, what: &str, shortage: Shortage) -> ContextError {
        let Shortage { level, used, limit, kept, could_share } = shortage;
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
            kept,
            remedy,
        }
    }
}
