//! Domains: groups of contexts of one thread level.
//!
//! The level says whether one thread uses the contexts, one thread at a time, or any thread. The
//! [mapping](shmem_core::context::mapping) of contexts to scarce units (endpoints) depends on the level. *One at a time*
//! (serialized) applies to the domain as a whole, so its contexts are bound by a [`Turn`], which borrows the domain exclusively.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use shmem_core::context::Initiator as _;
use shmem_core::context::mapping::DomainId;

use super::{Context, Ctx};
use crate::error::Result;
use crate::job::Job;
use crate::thread::{Allows, ContextLevel, MemberOf, OneTurn, Serialized, ThreadLevel};
use crate::world::World;

/// A group of contexts of one thread level. The contexts may outlive the domain.
///
/// ```no_run
/// use shmem::prelude::*;
/// use shmem::thread::{InTurn, Multiple, Serialized};
///
/// #[symmetric]
/// static ROWS: [[u64; 8]; 2];
///
/// #[shmem::main(threads = multiple)]
/// fn main(world: &mut World) -> Result<()> {
///     let (_, east) = world.ring_neighbours();
///     let mut domains = world.domains::<Serialized>(2)?;
///     let domain = &mut domains[0];
///     let (even, odd) = (domain.create_ctx::<InTurn>()?, domain.create_ctx::<InTurn>()?);
///     let turn = domain.turn(world);
///     turn.bind(&even).put(ROWS.on(east).index(0), &[2; 8]);
///     turn.bind(&odd).put(ROWS.on(east).index(1), &[1; 8]);
///     turn.bind(&even).quiet();
///     Ok(())
/// }
/// ```
pub struct Domain<K: ContextLevel> {
    id: DomainId,
    job: Arc<Job>,
    _level: PhantomData<K>,
}

/// Maximum number of domains that one call creates.
const MOST: usize = 1 << 20;

impl<L: ThreadLevel> World<L> {
    /// Creates `number` domains, or none of them. Not collective. Domains that one call creates share units (endpoints) best.
    ///
    /// # Errors
    ///
    /// [`ContextError::Exhausted`](crate::ContextError::Exhausted) if no unit is left for one of the domains.
    ///
    /// # Panics
    ///
    /// If `number` > 2^20.
    ///
    /// Source: "Context-Domain in Cray SHMEM" (2016), `shmem_domain_create`.
    #[track_caller]
    pub fn domains<K: ContextLevel>(&self, number: usize) -> Result<Vec<Domain<K>>>
    where
        L: Allows<K>,
    {
        assert!(number <= MOST, "{number} domains: at most {MOST} are created at once");
        let ids = self.job().contexts.holdings.lock().create_domains(K::LEVEL, number)?;
        let domain = |id| Domain { id, job: Arc::clone(self.job()), _level: PhantomData };
        Ok(ids.into_iter().map(domain).collect())
    }
}

impl<K: ContextLevel> Domain<K> {
    /// Creates a context of kind `M`, which is the level `K` of the domain or, in a serialized domain,
    /// [`InTurn`](crate::thread::InTurn). A context of kind `NoStore<..>` only reads.
    ///
    /// # Errors
    ///
    /// [`ContextError::Exhausted`](crate::ContextError::Exhausted) if no unit (endpoint) is left for the context.
    ///
    /// Source: "OpenSHMEM contexts" (draft, 2015), `shmem_ctx_create`.
    #[track_caller]
    pub fn create_ctx<M: MemberOf<K>>(&self) -> Result<Context<M>> {
        let held = self.job.contexts.holdings.lock().create_context(self.id)?;
        Context::open(&self.job, held)
    }
}

impl Domain<Serialized> {
    /// Begins a turn of this thread. Contexts of the domain can be bound only by a turn.
    ///
    /// # Panics
    ///
    /// If the world is that of another PE.
    #[track_caller]
    pub fn turn<'d, L: ThreadLevel>(&'d mut self, world: &'d World<L>) -> Turn<'d> {
        assert!(Arc::ptr_eq(&self.job, world.job()), "this is a domain of another PE: create one here");
        world.endpoint().require_open(Location::caller());
        Turn { domain: self, _thread: OneTurn::HERE }
    }
}

impl<K: ContextLevel> Drop for Domain<K> {
    fn drop(&mut self) {
        self.job.contexts.holdings.lock().close_domain(self.id);
    }
}

impl<K: ContextLevel> std::fmt::Debug for Domain<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Domain<{}>", K::LEVEL.name())
    }
}

/// The turn of one thread to use a serialized domain; see [`Domain::turn`].
#[derive(Debug)]
pub struct Turn<'d> {
    domain: &'d mut Domain<Serialized>,
    _thread: OneTurn,
}

impl Turn<'_> {
    /// Returns the token that issues operations through a context of the domain, while the turn lasts.
    ///
    /// # Panics
    ///
    /// If the context is of another domain.
    #[track_caller]
    pub fn bind<'t, M: MemberOf<Serialized>>(&'t self, context: &'t Context<M>) -> Ctx<'t, M> {
        let Domain { id, job, .. } = &*self.domain;
        let is_ours = context.held.domain == *id && Arc::ptr_eq(&context.job, job);
        assert!(is_ours, "this is a context of another domain: bind it by a turn of that");
        context.token()
    }
}
