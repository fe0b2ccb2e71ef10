//! Contexts: further streams of operations, each with its own fence and quiet.
//!
//! A [`Context`] owns its endpoint and borrows nothing, so it lives across [phases](crate::phase). Operations are issued through a
//! [`Ctx`], which [`bind`](Context::bind) returns. A `Ctx` borrows the world, so no exclusive phase can be entered while a `Ctx`
//! lives.
//!
//! Source: OpenSHMEM 1.6, `shmem_ctx_create`.

mod domain;
mod hints;
mod registration;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::Arc;

use shmem_core::context::mapping::Level;
use shmem_core::context::{Endpoint, Initiator, Order, Stores};

use crate::error::{ErrorKind, Result};
use crate::group::Team;
use crate::job::Job;
use crate::pes::Pes;
use crate::state::contexts_domains::Held;
use crate::state::endpoint_reports::{Granted, Resources};
use crate::state::team_uses::ContextClaim;
use crate::thread::{Allows, ContextKind, ContextLevel, OutOfTurn, Storing, ThreadLevel};
use crate::world::World;

pub use domain::{Domain, Turn};
pub use hints::HintScope;
pub use registration::Registration;

/// A stream of operations besides that of the world. Dropping a context completes its operations.
///
/// Source: OpenSHMEM 1.6, `shmem_ctx_destroy`, which the drop replaces.
pub struct Context<K: ContextKind> {
    endpoint: Option<Endpoint>,
    held: Held,
    /// Counts against the context limit of the team that created the context; None if a world or a domain created it.
    team: Option<ContextClaim>,
    job: Arc<Job>,
    _kind: PhantomData<K>,
}

/// A token that issues operations through a context.
pub struct Ctx<'w, K: ContextKind> {
    /// A copy of the context's endpoint, never dropped. Inline, so that loops with stores keep the base address and the stride of
    /// PEs' memory in registers.
    endpoint: ManuallyDrop<Endpoint>,
    /// Stands for a reference to the context, so that the token is `Send` only if several threads may use the context.
    _kind: PhantomData<&'w K>,
}

impl<L: ThreadLevel> World<L> {
    /// Creates a context for one thread (`K` is `Private`), for one thread at a time (`Serialized`) or for any thread (`Multiple`).
    /// A context of kind `NoStore<K>` only reads. Not collective. A context of the world's thread level is in the world's domain,
    /// unless that level is serialized; any other context has a domain of its own.
    ///
    /// # Errors
    ///
    /// [`ContextError::Exhausted`](crate::ContextError::Exhausted) if no endpoint is left for the context.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_create`.
    #[track_caller]
    pub fn create_ctx<K: ContextKind>(&self) -> Result<Context<K>>
    where
        L: Allows<K>,
    {
        Context::at_level(self, None, <K::Level as ContextLevel>::LEVEL)
    }

    /// Returns this PE's units (endpoints), and the contexts that use them.
    pub fn resources(&self) -> Resources {
        self.job().contexts.holdings.lock().report()
    }
}

impl Team {
    /// Creates a context of this team, as [`World::create_ctx`] does for the team of all PEs. Not collective.
    ///
    /// The context reaches every PE: a [`Pe`](crate::Pe) is a number of the world. [`Context::team`] translates the team's ranks.
    ///
    /// # Errors
    ///
    /// [`TeamError::Contexts`](crate::TeamError::Contexts) if the team's contexts are all in use
    /// ([`TeamConfig::contexts`](crate::TeamConfig::contexts)). [`ContextError::Exhausted`](crate::ContextError::Exhausted) if no
    /// endpoint is left for the context.
    ///
    /// # Panics
    ///
    /// If the world is that of another PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_create_ctx`.
    #[track_caller]
    pub fn create_ctx<K: ContextKind, L: ThreadLevel + Allows<K>>(
        &self,
        world: &World<L>,
    ) -> Result<Context<K>> {
        assert!(Arc::ptr_eq(&self.job, world.job()), "this is a team of another PE");
        Context::at_level(world, Some(self), <K::Level as ContextLevel>::LEVEL)
    }
}

impl<K: ContextKind> Context<K> {
    #[track_caller]
    fn open(job: &Arc<Job>, held: Held) -> Result<Self> {
        let endpoint = job.network.endpoints.open(held.assignment).map_err(|why| {
            job.contexts.holdings.lock().remove(held);
            ErrorKind::Refused(format!(
                "a context cannot be created: endpoints: {why}; destroy contexts, or create fewer"
            ))
        })?;
        Ok(Self { endpoint: Some(endpoint), held, team: None, job: Arc::clone(job), _kind: PhantomData })
    }

    /// Returns the token that issues operations through this context, for as long as the world is borrowed.
    ///
    /// # Panics
    ///
    /// If the world is another PE's, which is possible only where PEs are threads of one process.
    #[track_caller]
    pub fn bind<'w, L: ThreadLevel>(&'w self, world: &'w World<L>) -> Ctx<'w, K>
    where
        K: OutOfTurn,
    {
        // A phase quiets only the contexts of its own PE, so another PE's context could write into the phase.
        assert!(Arc::ptr_eq(&self.job, world.job()), "this is a context of another PE: create one here");
        world.endpoint().require_open(Location::caller());
        self.token()
    }

    /// Returns the unit (endpoint) that the context uses.
    pub fn grant(&self) -> Granted {
        self.job.contexts.holdings.lock().granted(self.held.assignment)
    }

    /// Returns the members of the team that created the context, in rank order: all PEs if the world or a domain created it.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_get_team`.
    pub fn team(&self) -> Pes<'_> {
        let members = self.team.as_ref().map(ContextClaim::members);
        Pes::new(members.unwrap_or(&self.job.site.everyone))
    }

    /// Creates a context that is used at thread level `level`, even if `K` allows another level.
    #[track_caller]
    pub(crate) fn at_level<L: ThreadLevel>(
        world: &World<L>,
        team: Option<&Team>,
        level: Level,
    ) -> Result<Self> {
        let claim = team.map(Team::claim_context).transpose()?;
        let held = world.job().contexts.holdings.lock().create_alone(level, L::USE)?;
        let mut context = Self::open(world.job(), held)?;
        context.team = claim;
        Ok(context)
    }

    pub(crate) fn stream(&self) -> &Endpoint {
        self.endpoint.as_ref().unwrap_or_else(|| unreachable!("only `drop` takes the endpoint"))
    }

    #[inline]
    fn token(&self) -> Ctx<'_, K> {
        let endpoint = self.stream();
        // SAFETY: `endpoint` is a reference, so it can be read. The copy owns nothing: it is never dropped, and is used only while
        // the context is borrowed, which keeps the endpoint.
        let endpoint = ManuallyDrop::new(unsafe { std::ptr::read(endpoint) });
        Ctx { endpoint, _kind: PhantomData }
    }
}

// SAFETY: a `Ctx` borrows the world whose context it is (`bind`, `Turn::bind`), or only completes operations while the context is
// dropped (`Context::drop`).
unsafe impl<K: ContextKind> Initiator for Ctx<'_, K> {
    #[doc(hidden)]
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl<K: Storing> Stores for Ctx<'_, K> {}

impl<K: ContextKind> Drop for Context<K> {
    fn drop(&mut self) {
        self.token().quiet();
        if let Some(endpoint) = self.endpoint.take() {
            // SAFETY: `endpoints` opened this endpoint (`open`). It is quiet, and has no token, because tokens borrow the context.
            unsafe { self.job.network.endpoints.close(endpoint) };
            self.job.contexts.holdings.lock().remove(self.held);
        }
    }
}

impl<K: ContextKind> std::fmt::Debug for Context<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context ({})", self.grant())
    }
}

#[cfg(test)]
mod tests {
    use static_assertions::{assert_impl_all, assert_not_impl_any};

    use super::*;
    use crate::thread::{Funneled, InTurn, Multiple, NoStore, Private, Serialized, Single};

    // Threads are kept out by auto traits alone, so they are pinned here.
    assert_impl_all!(Ctx<'static, Multiple>: Send, Sync);
    assert_not_impl_any!(Ctx<'static, Serialized>: Send, Sync);
    assert_not_impl_any!(Ctx<'static, InTurn>: Send, Sync);
    assert_not_impl_any!(Ctx<'static, Private>: Send, Sync);
    assert_impl_all!(Context<Multiple>: Send, Sync);
    assert_impl_all!(Context<Serialized>: Send);
    assert_impl_all!(Context<InTurn>: Send);
    assert_not_impl_any!(Context<Serialized>: Sync);
    assert_not_impl_any!(Context<InTurn>: Sync);
    assert_not_impl_any!(Context<Private>: Send, Sync);
    assert_impl_all!(Context<NoStore<Multiple>>: Send, Sync);
    assert_not_impl_any!(Context<NoStore<Private>>: Send, Sync);
    assert_impl_all!(Domain<Multiple>: Send, Sync);
    assert_impl_all!(Domain<Serialized>: Send);
    assert_not_impl_any!(Domain<Serialized>: Sync);
    assert_not_impl_any!(Domain<Private>: Send, Sync);
    assert_not_impl_any!(Turn<'static>: Send, Sync);
    assert_not_impl_any!(Registration: Send, Sync);
    assert_impl_all!(World<Multiple>: Send, Sync);
    assert_impl_all!(World<Serialized>: Send);
    assert_not_impl_any!(World<Serialized>: Sync);
    assert_not_impl_any!(World<Funneled>: Send, Sync);
    assert_not_impl_any!(World<Single>: Send, Sync);
    // What `strided!` makes of a token stays where the token is.
    assert_not_impl_any!(shmem_core::context::strided::expansion::Through<'static, 'static>: Send, Sync);
    // And NOSTORE by one more.
    assert_impl_all!(Ctx<'static, Private>: Stores);
    assert_not_impl_any!(Ctx<'static, NoStore<Private>>: Stores);
}
