//! Registered threads: each has a context of its own, so its operations wait for no other thread.
//!
//! Source: Cray OpenSHMEMX, thread-hot: `shmemx_thread_register`, `_unregister`, `_quiet`, `_fence`.

use std::panic::Location;
use std::sync::Arc;

use super::{Context, Ctx};
use crate::error::Result;
use crate::job::Job;
use crate::state::endpoint_reports::Granted;
use crate::thread::{Multiple, Private};
use crate::world::World;

/// A registered thread: a number, and a context of its own. Dropping it completes the thread's operations and releases both.
///
/// ```no_run
/// use shmem::prelude::*;
///
/// #[symmetric]
/// static CELLS: [u64; 64];
///
/// #[shmem::main(threads = multiple)]
/// fn main(world: &mut World) {
///     let (world, (_, east)) = (&*world, world.ring_neighbours());
///     std::thread::scope(|scope| {
///         for _ in 0..4 {
///             scope.spawn(move || -> Result<()> {
///                 let thread = world.register_thread()?;
///                 let ctx = thread.bind(world);
///                 ctx.p(CELLS.on(east).index(thread.number()), 1);
///                 ctx.quiet();
///                 Ok(())
///             });
///         }
///     });
/// }
/// ```
pub struct Registration {
    context: Context<Private>,
    /// Number of the thread. The last field, so that it is dropped after the context.
    number: Number,
}

struct Number {
    number: usize,
    job: Arc<Job>,
}

impl World<Multiple> {
    /// Gives the calling thread a number and a context of its own.
    ///
    /// # Errors
    ///
    /// [`ContextError::Threads`] if `SHMEM_MAX_NUM_THREADS` threads are registered. [`ContextError::Registered`] if this thread is.
    /// [`ContextError::Exhausted`] if no endpoint is left (`SHMEM_CONTEXT_SHARING=efficient` shares endpoints).
    ///
    /// [`ContextError::Threads`]: crate::ContextError::Threads
    /// [`ContextError::Registered`]: crate::ContextError::Registered
    /// [`ContextError::Exhausted`]: crate::ContextError::Exhausted
    ///
    /// Source: Cray OpenSHMEMX, `shmemx_thread_register`.
    #[track_caller]
    pub fn register_thread(&self) -> Result<Registration> {
        let job = Arc::clone(self.job());
        let number = job.contexts.threads.lock().register(&std::thread::current(), Location::caller())?;
        let number = Number { number, job };
        Ok(Registration { context: self.create_ctx()?, number })
    }
}

impl Registration {
    /// Returns the number of the thread, from 0: below `SHMEM_MAX_NUM_THREADS`, where that is set.
    pub fn number(&self) -> usize {
        self.number.number
    }

    /// Returns the token that issues the thread's operations. Its `quiet` and `fence` apply to these operations only.
    ///
    /// # Panics
    ///
    /// If the world is that of another PE.
    #[track_caller]
    pub fn bind<'w>(&'w self, world: &'w World<Multiple>) -> Ctx<'w, Private> {
        self.context.bind(world)
    }

    /// Returns the unit (endpoint) that the thread's context uses.
    pub fn grant(&self) -> Granted {
        self.context.grant()
    }
}

impl std::fmt::Debug for Registration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registration #{} ({})", self.number(), self.grant())
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        self.job.contexts.threads.lock().unregister(self.number);
    }
}
