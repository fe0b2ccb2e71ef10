//! Domains: groups of contexts of one level.
//!
//! The level says whether the contexts are used by one thread, by one at a time, or by any. The
//! [mapping](shmem_core::context::mapping) of scarce units (endpoints) depends on it. *One at a time* holds for the domain as a whole,
//! so contexts of a serialized domain are bound by a [`Turn`], which borrows the domain exclusively.

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

/// A group of contexts of one level, which outlive it.
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

/// Upper limit on the domains of one call.
const MOST: usize = 1 << 20;

impl<L: ThreadLevel> World<L> {
    /// Creates domains, all or none. Not collective. Domains of one call share units better than those of several.
    ///
    /// # Errors
    ///
    /// [`ContextError::Exhausted`](crate::ContextError::Exhausted) if one of them can have no unit.
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
    /// Creates a context of kind `K`, in a serialized domain of kind [`InTurn`](crate::thread::InTurn); as `NoStore<..>` one that only
    /// reads.
    ///
    /// # Errors
    ///
    /// As [`World::create_ctx`].
    ///
    /// Source: "OpenSHMEM contexts" (draft, 2015), `shmem_ctx_create`.
    #[track_caller]
    pub fn create_ctx<M: MemberOf<K>>(&self) -> Result<Context<M>> {
        let held = self.job.contexts.holdings.lock().create_context(self.id)?;
        Context::open(&self.job, held)
    }
}

impl Domain<Serialized> {
    /// Begins a turn of this thread, by which alone contexts of the domain are bound.
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

/// The turn of one thread with a serialized domain; see [`Domain::turn`].
#[derive(Debug)]
pub struct Turn<'d> {
    domain: &'d mut Domain<Serialized>,
    _thread: OneTurn,
}

impl Turn<'_> {
    /// The token that issues operations through a context of the domain, while the turn lasts.
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
