//! Threads with contexts of their own, first come, first served.
//!
//! A thread that registers gets a number and a private context; what it issues through them waits for no
//! other thread. Numbers are handed out in the order in which they were given back, so that a number rests as long
//! as it can.
//!
//! Source: Cray OpenSHMEMX, thread-hot: `shmemx_thread_register`, `shmemx_thread_unregister`,
//! `shmemx_thread_quiet`, `shmemx_thread_fence`.

use std::collections::{HashMap, VecDeque};
use std::panic::Location;
use std::sync::Arc;
use std::thread::ThreadId;

use super::error::{ContextError, name_of};
use super::{Context, Ctx, Granted};
use crate::error::Result;
use crate::job::Job;
use crate::thread::{Multiple, Private};
use crate::world::World;

/// A registered thread: a number, and a context of its own. Dropping it completes what the thread has started
/// and gives both back.
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
    /// The last field: it is another's when the context is quiet.
    number: Number,
}

/// The number of a thread, which goes back when it is dropped.
struct Number {
    number: usize,
    job: Arc<Job>,
}

impl World<Multiple> {
    /// Registers the calling thread: gives it a number and a context of its own.
    ///
    /// # Errors
    ///
    /// [`ContextError::Threads`] if `SHMEM_MAX_NUM_THREADS` are registered, [`ContextError::Registered`] if
    /// this thread is, and [`ContextError::Exhausted`] if there is no unit for its context: with
    /// `SHMEM_CONTEXT_SHARING=efficient` it shares one instead, at last that of the world.
    ///
    /// Source: Cray OpenSHMEMX, `shmemx_thread_register`.
    #[track_caller]
    pub fn register_thread(&self) -> Result<Registration> {
        let job = Arc::clone(self.job());
        let number = job.threads().register(&std::thread::current(), Location::caller())?;
        let number = Number { number, job };
        Ok(Registration { context: self.create_ctx()?, number })
    }
}

impl Registration {
    /// The number of the thread, from 0: below `SHMEM_MAX_NUM_THREADS`, where that is set.
    pub fn number(&self) -> usize {
        self.number.number
    }

    /// The token that issues the thread's operations; its `quiet` and `fence` are those of the thread.
    ///
    /// # Panics
    ///
    /// If the world is that of another PE.
    #[track_caller]
    pub fn bind<'w>(&'w self, world: &'w World<Multiple>) -> Ctx<'w, Private> {
        self.context.bind(world)
    }

    /// What the thread was granted.
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
        self.job.threads().unregister(self.number);
    }
}

/// The registered threads of a PE.
pub(crate) struct Threads {
    limit: Option<usize>,
    /// Numbers given back, in that order.
    free: VecDeque<usize>,
    registered: HashMap<ThreadId, (usize, &'static Location<'static>)>,
}

impl Threads {
    pub(crate) fn new(limit: Option<usize>) -> Self {
        Self { limit, free: VecDeque::new(), registered: HashMap::new() }
    }

    fn register(
        &mut self,
        thread: &std::thread::Thread,
        at: &'static Location<'static>,
    ) -> Result<usize, ContextError> {
        if let Some(&(number, at)) = self.registered.get(&thread.id()) {
            return Err(ContextError::Registered { thread: name_of(thread), number, at });
        }
        let registered = self.registered.len();
        if let Some(limit) = self.limit.filter(|limit| registered >= *limit) {
            return Err(ContextError::Threads { thread: name_of(thread), registered, limit });
        }
        let used = registered + self.free.len();
        // Of a limited number, one that was never used has rested longest.
        let rested = if self.limit.is_some_and(|limit| used < limit) { None } else { self.free.pop_front() };
        let number = rested.unwrap_or(used);
        self.registered.insert(thread.id(), (number, at));
        Ok(number)
    }

    fn unregister(&mut self, number: usize) {
        self.registered.retain(|_, (registered, _)| *registered != number);
        self.free.push_back(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_handed_out_in_the_order_in_which_they_came_back() {
        let mut threads = Threads::new(Some(3));
        let at = Location::caller();
        // As many threads as are registered, each another.
        let handles: Vec<_> = (0..4).map(|_| std::thread::spawn(|| ())).collect();
        let thread = |n: usize| handles[n].thread();
        let register = |threads: &mut Threads, n| threads.register(thread(n), at);
        assert_eq!([0, 1, 2].map(|n| register(&mut threads, n).unwrap()), [0, 1, 2]);
        let full = register(&mut threads, 3).unwrap_err().to_string();
        assert!(full.contains("3 of 3 threads are (SHMEM_MAX_NUM_THREADS)"), "{full}");
        threads.unregister(2);
        threads.unregister(0);
        assert_eq!([3, 2].map(|n| register(&mut threads, n).unwrap()), [2, 0]);
        let again = register(&mut threads, 1).unwrap_err();
        assert!(matches!(again, ContextError::Registered { number: 1, .. }), "{again}");
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }
}
