use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use shmem_core::context::Endpoint;
use shmem_core::observe::{Call, Family, Meeting};

use super::wait::wait_until;
use super::work::Flight;

/// What writes a result to where it belongs.
type Finish<'t, R> = Box<dyn FnOnce(&[u8]) -> R + 't>;

/// A collective that was started, such as by [`start_sum`](crate::Team::start_sum), and goes on beside the program. Waiting for
/// it gives what the blocking call of that family gives: a value comes back, and `&mut x`, a destination or a symmetric object is
/// written then, and not before.
///
/// It goes on whenever this PE waits inside the library, whatever for, and when it is asked [whether it is
/// complete](Self::is_complete). No thread of the library goes on with it: while a PE only computes, members that need
/// what it has wait for it. One that computes for long asks now and then.
///
/// Dropping it waits, as [`wait`](Self::wait) does, and writes what is written in place; not so while a panic unwinds, whose
/// PE ends the job. Forgetting it forgets the result: the collective goes on. It stays with the thread that has started
/// it.
///
/// It is a future as well, with the result, for whatever executor the program has. A poll that comes too early goes on with
/// the collective, and wakes its own task at once, as that of a [`Pending`](crate::Pending) does.
///
/// ```no_run
/// use shmem::prelude::*;
///
/// #[shmem::main]
/// fn main(world: &mut World) {
///     let norm = world.start_sum(vec![1.0; 1000]);
///     let inner: f64 = (0..1_000_000).map(f64::from).sum();
///     let norm = norm.wait();
///     println!("{inner} {}", norm[0]);
/// }
/// ```
#[must_use = "the result comes by `wait` or `.await`; dropping it waits as well"]
pub struct Started<'t, R> {
    endpoint: &'t Endpoint,
    flight: Arc<Flight>,
    /// For who looks on.
    meeting: Meeting<'t>,
    /// Taken by who takes the result.
    finish: Option<Finish<'t, R>>,
    location: &'static Location<'static>,
}

impl<'t, R> Started<'t, R> {
    pub(super) fn new(
        endpoint: &'t Endpoint,
        flight: Arc<Flight>,
        meeting: Meeting<'t>,
        finish: Finish<'t, R>,
        location: &'static Location<'static>,
    ) -> Self {
        Self { endpoint, flight, meeting, finish: Some(finish), location }
    }

    /// Waits until the collective is complete on this PE, and gives the result.
    ///
    /// # Panics
    ///
    /// If a poll has given the result.
    ///
    /// Source: MPI 4.1, `MPI_Wait`.
    #[doc(alias = "MPI_Wait")]
    #[track_caller]
    pub fn wait(mut self) -> R {
        self.location = Location::caller();
        self.land();
        self.take().unwrap_or_else(|| given())
    }

    /// Whether the collective is complete on this PE: [`wait`](Self::wait) would return at once. Goes on with all that the PE
    /// has started, and does not wait.
    ///
    /// Source: MPI 4.1, `MPI_Test`.
    #[doc(alias = "MPI_Test")]
    pub fn is_complete(&self) -> bool {
        if !self.flight.has_landed() {
            self.endpoint.waiting().go_on(self.endpoint);
        }
        if !self.flight.has_landed() {
            return false;
        }
        // Whoever looks on is to know, as behind a wait.
        self.land();
        true
    }

    /// Waits for the result.
    fn land(&self) {
        if self.finish.is_none() {
            return;
        }
        let Self { endpoint, flight, meeting, location, .. } = self;
        let land = || wait_until(endpoint, || flight.has_landed(), || flight.activity());
        endpoint.tell(Call::new(Family::Started, location).meets(*meeting), land);
    }

    /// The result, once, where it is there.
    fn take(&mut self) -> Option<R> {
        let finish = self.finish.take()?;
        Some(finish(self.flight.result()))
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn given() -> ! {
    panic!("the collective is complete, and a poll has given its result already: it is given once")
}

/// See [`Started`] for who wakes.
///
/// # Panics
///
/// A poll, if one before it has given the result.
impl<R> Future for Started<'_, R> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        if !self.is_complete() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.take().unwrap_or_else(|| given()))
    }
}

impl<R> Drop for Started<'_, R> {
    fn drop(&mut self) {
        if self.finish.is_some() && !std::thread::panicking() {
            self.land();
            self.take();
        }
    }
}
