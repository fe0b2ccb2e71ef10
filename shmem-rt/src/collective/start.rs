//! Starting a collective: what the calls of the families have in common, and the handle that they return. What is given is copied when it
//! is started, and a [request](super::request) goes on with it.

use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use shmem_core::context::{Endpoint, Initiator};
use shmem_core::observe::{Call, Family, Meeting};
use shmem_core::system::{Activity, MOST_SLOTS};
use shmem_core::text::Text;

use super::argument::Argument;
use super::choose::Pattern;
use super::engine::{Written, with_schedules};
use super::mismatch::place_of;
use super::placement::Slots;
use super::request::{Request, Task};
use super::schedule::{Cut, Schedule};
use crate::group::{END, Operation, Team};

/// The least chunk: a shorter one takes about as long.
const LEAST: usize = 2 << 10;

impl Team {
    /// The schedule of a started collective, with its credit counters: of data of a pattern, from a root, in items of so many bytes. None
    /// if there is nothing to bring. Chunks are short enough that several are under way.
    pub(super) fn steps(&self, pattern: Pattern, root: usize, item: usize) -> Option<(Written, usize)> {
        let members = self.size();
        if members == 1 || pattern.bytes() == 0 {
            return None;
        }
        let longest = Slots::of_request(self.index(), 0).bytes;
        let most = (pattern.stream(members) / 8).next_power_of_two().clamp(LEAST, longest);
        let cut = Cut { most, slots: MOST_SLOTS };
        with_schedules!(pattern, (members, self.rank(), root), cut, item, |schedules| {
            Some((Written::of(schedules, MOST_SLOTS), schedules[0].credits()))
        })
    }
}

impl<'t, K: Initiator + ?Sized> Argument<'t, K> {
    /// Starts a collective to which this PE gives so many bytes, and whose result `finish` writes to where it belongs. Members compare
    /// `words`; messages show `subject`.
    pub(super) fn start<const N: usize, R>(
        &self,
        operation: impl Into<Operation>,
        words: [u64; N],
        subject: &dyn Fn() -> String,
        (bytes, task): (usize, Task),
        finish: impl FnOnce(&[u8]) -> R + 't,
    ) -> Started<'t, R> {
        let (team, endpoint, location) = (self.team, self.token.endpoint(), self.location);
        let (words, compared) = self.compared(words);
        let operation = operation.into();
        let purpose = self.purpose(operation, &words[..compared], subject);
        let meeting = Meeting { team: team.index(), members: team.neighbours(), count: team.started() + 1 };
        let call = Call { bytes, ..Call::new(operation.family(), location).meets(meeting) };
        endpoint.tell(call, || {
            let collective = team.enter(endpoint, Some(location));
            let ((place, _), meetings) = (place_of(team.started() + 1), collective.next_meeting() - 1);
            if !team.uses().is_free(place) {
                let activity = purpose.activity(team.index(), meetings);
                wait_until(endpoint, || team.uses().is_free(place), || activity);
            }
            let request = Request::start(team, endpoint, &purpose, (collective.start(), meetings), task);
            Started { endpoint, request, meeting, finish: Some(Box::new(finish)), location }
        })
    }
}

impl Team {
    /// Waits until nothing that the team has started goes on.
    pub(crate) fn land(&self, endpoint: &Endpoint) {
        let activity = Activity { operation: Text::head("destroy"), ..Activity::NONE };
        wait_until(endpoint, || self.uses().has_landed(), || activity);
    }
}

/// Waits until nothing that any team of this PE has started goes on, before the program ends.
pub(crate) fn land_all(endpoint: &Endpoint) {
    let activity = Activity { operation: Text::head(END), ..Activity::NONE };
    wait_until(endpoint, || !endpoint.waiting().has_work(), || activity);
}

/// Waits until works of this PE have come somewhere.
pub(super) fn wait_until(endpoint: &Endpoint, done: impl FnMut() -> bool, activity: impl Fn() -> Activity) {
    // SAFETY: its bell is listened to, as by everybody who waits for a word of this PE.
    let bell = &unsafe { endpoint.system() }.doorbell;
    endpoint.waiting().until(endpoint, done, |timeout, done| bell.watch(timeout, done), activity);
}

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
    request: Arc<Request>,
    /// For who looks on.
    meeting: Meeting<'t>,
    /// Taken by who takes the result.
    finish: Option<Finish<'t, R>>,
    location: &'static Location<'static>,
}

impl<R> Started<'_, R> {
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
        match self.take() {
            Some(result) => result,
            None => given(),
        }
    }

    /// Whether the collective is complete on this PE: [`wait`](Self::wait) would return at once. Goes on with all that the PE
    /// has started, and does not wait.
    ///
    /// Source: MPI 4.1, `MPI_Test`.
    #[doc(alias = "MPI_Test")]
    pub fn is_complete(&self) -> bool {
        if !self.request.is_complete() {
            self.endpoint.waiting().go_on(self.endpoint);
        }
        if !self.request.is_complete() {
            return false;
        }
        // Whoever looks on is to know, as behind a wait.
        self.land();
        true
    }

    fn land(&self) {
        if self.finish.is_none() {
            return;
        }
        let Self { endpoint, request, meeting, location, .. } = self;
        let land = || wait_until(endpoint, || request.is_complete(), || request.activity());
        endpoint.tell(Call::new(Family::Started, location).meets(*meeting), land);
    }

    fn take(&mut self) -> Option<R> {
        let finish = self.finish.take()?;
        Some(finish(self.request.result()))
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

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        if !self.is_complete() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.take() {
            Some(result) => Poll::Ready(result),
            None => given(),
        }
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
