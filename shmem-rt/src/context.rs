//! Contexts: further streams of operations, each with its own fence and quiet.
//!
//! A [`Context`] owns its endpoint and borrows nothing, so it lives across phases. Operations go
//! through a [`Ctx`], which [`bind`](Context::bind) makes from it and which borrows the world: while
//! one lives, no exclusive phase can be entered.
//!
//! Source: OpenSHMEM 1.6, `shmem_ctx_create`.

use std::marker::PhantomData;
use std::sync::Arc;

use shmem_core::context::{Endpoint, Initiator, Options, Order};

use crate::error::Result;
use crate::job::Job;
use crate::thread::{Allows, ContextKind, ThreadLevel};
use crate::world::World;

/// A further stream of operations. Dropping it quiets it.
pub struct Context<K: ContextKind> {
    /// Given back to the resource on drop.
    endpoint: Option<Endpoint>,
    job: Arc<Job>,
    _kind: PhantomData<K>,
}

/// A context that can issue operations: a token.
pub struct Ctx<'w, K: ContextKind> {
    endpoint: &'w Endpoint,
    _kind: PhantomData<K>,
}

impl<L: ThreadLevel> World<L> {
    /// Creates a context that `K` allows to be used by one thread (`Private`), by one at a time
    /// (`Serialized`), or by any (`Multiple`). Not collective.
    ///
    /// # Errors
    ///
    /// If no endpoint is left; the message says how many there are. The program goes on without.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_create`.
    pub fn create_ctx<K: ContextKind>(&self) -> Result<Context<K>>
    where
        L: Allows<K>,
    {
        let mut options = Options::default();
        options.private = K::PRIVATE;
        let job = Arc::clone(self.job());
        let endpoint = Some(job.resource.open(options)?);
        Ok(Context { endpoint, job, _kind: PhantomData })
    }
}

impl<K: ContextKind> Context<K> {
    /// The token that issues operations through this context, for as long as the world is shared.
    ///
    /// # Panics
    ///
    /// If the world is that of another PE. Only PEs that are threads of one process can come to that.
    pub fn bind<'w, L: ThreadLevel>(&'w self, world: &'w World<L>) -> Ctx<'w, K> {
        // A phase of the world quiets its own contexts: this one would go on writing into it.
        assert!(Arc::ptr_eq(&self.job, world.job()), "this is a context of another PE: create one here");
        let endpoint = self.endpoint.as_ref();
        let endpoint = endpoint.unwrap_or_else(|| unreachable!("only `drop` takes the endpoint"));
        Ctx { endpoint, _kind: PhantomData }
    }
}

// SAFETY: it borrows the world whose context it is (`bind`).
unsafe impl<K: ContextKind> Initiator for Ctx<'_, K> {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.endpoint
    }
}

impl<K: ContextKind> Drop for Context<K> {
    fn drop(&mut self) {
        if let Some(endpoint) = self.endpoint.take() {
            Quieting(&endpoint).quiet();
            self.job.resource.close(endpoint);
        }
    }
}

/// A token for the quiet that ends a context.
struct Quieting<'e>(&'e Endpoint);

// SAFETY: used by `drop` to complete operations only; it starts none.
unsafe impl Initiator for Quieting<'_> {
    fn endpoint(&self) -> &Endpoint {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use static_assertions::{assert_impl_all, assert_not_impl_any};

    use super::*;
    use crate::thread::{Funneled, Multiple, Private, Serialized, Single};

    // Threads are kept out by auto traits alone, so they are pinned here.
    assert_impl_all!(Ctx<'static, Multiple>: Send, Sync);
    assert_impl_all!(Ctx<'static, Serialized>: Send);
    assert_not_impl_any!(Ctx<'static, Serialized>: Sync);
    assert_not_impl_any!(Ctx<'static, Private>: Send, Sync);
    assert_impl_all!(Context<Multiple>: Send, Sync);
    assert_not_impl_any!(Context<Private>: Send, Sync);
    assert_impl_all!(World<Multiple>: Send, Sync);
    assert_impl_all!(World<Serialized>: Send);
    assert_not_impl_any!(World<Serialized>: Sync);
    assert_not_impl_any!(World<Funneled>: Send, Sync);
    assert_not_impl_any!(World<Single>: Send, Sync);
}
