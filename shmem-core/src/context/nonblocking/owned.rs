//! Transfers that own their buffers.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::context::fence_quiet::quiet_through;
use crate::context::remote_place::{Place, check_len};
use crate::endpoint::Endpoint;
use crate::observe::Family;
use crate::symmetric_data::PlainData;

/// Memory that a transfer can own: `Vec<T>` and `Box<[T]>`. (A conversion from `Box` to
/// `Vec` and back copies nothing, because the vector has no spare capacity.)
pub trait Buffer: sealed::Sealed + Into<Vec<Self::Item>> + From<Vec<Self::Item>> {
    /// Type of items.
    type Item: PlainData;
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for Vec<T> {}
    impl<T> Sealed for Box<[T]> {}
}

impl<T: PlainData> Buffer for Vec<T> {
    type Item = T;
}

impl<T: PlainData> Buffer for Box<[T]> {
    type Item = T;
}

/// The raw parts of a vector. While other PEs may use its memory, no value owns that memory. Parts that are not reassembled are
/// leaked.
struct Parts<T> {
    start: *mut T,
    len: usize,
    capacity: usize,
}

/// A transfer that owns its buffer until it is complete.
///
/// A drop waits, as [`wait`](Self::wait) does, and frees the buffer. Forgetting the transfer leaks the buffer. A transfer cannot
/// leave its thread.
///
/// It is also a future of the buffer, for any executor. On the node a transfer is complete at the first poll. No thread of the library
/// waits for completions, so a poll of an unfinished transfer makes progress, and wakes its own task at once: other tasks run in
/// between, and the executor does not sleep while a transfer is pending. A poll does not give up after `SHMEM_TIMEOUT`;
/// [`wait`](Self::wait) does.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{NonBlocking, On, Stores};
///
/// /// Brings a row of another PE, changes it, and takes it back.
/// async fn double(world: &impl Stores, row: On<'_, [f64]>) {
///     let mut cells = world.get_owned(vec![0.0; row.len()], row).await;
///     cells.iter_mut().for_each(|cell| *cell *= 2.0);
///     world.put_owned(row, cells).await;
/// }
/// ```
#[must_use = "the buffer comes back by `wait` or `.await`; dropping it waits as well"]
pub struct Pending<'t, B: Buffer> {
    endpoint: &'t Endpoint,
    /// Taken by `wait` and `drop`.
    parts: Option<Parts<B::Item>>,
    location: &'static Location<'static>,
    _buffer: PhantomData<B>,
}

impl<'t, B: Buffer> Pending<'t, B> {
    #[track_caller]
    pub(super) fn put<P: Place<Contents = [B::Item]>>(endpoint: &'t Endpoint, place: P, buffer: B) -> Self {
        let pending = Self::of(endpoint, place, buffer);
        let source = pending.start();
        // SAFETY: the place's number of items, readable and unchanged until a quiet, or for ever.
        unsafe { place.put_from(endpoint, source, Family::PutNbi) };
        pending
    }

    #[track_caller]
    pub(super) fn get<P: Place<Contents = [B::Item]>>(endpoint: &'t Endpoint, buffer: B, place: P) -> Self {
        let pending = Self::of(endpoint, place, buffer);
        let into = pending.start();
        // SAFETY: the place's number of items, used by no one else until a quiet, or for ever.
        unsafe { place.get_into(endpoint, into, Family::GetNbi) };
        pending
    }

    #[track_caller]
    fn of<P: Place<Contents = [B::Item]>>(endpoint: &'t Endpoint, place: P, buffer: B) -> Self {
        let location = Location::caller();
        endpoint.require_open(location);
        let mut items = ManuallyDrop::new(buffer.into());
        let (start, len, capacity) = (items.as_mut_ptr(), items.len(), items.capacity());
        let parts = Some(Parts { start, len, capacity });
        let pending = Self { endpoint, parts, location, _buffer: PhantomData };
        check_len(place, len);
        pending
    }

    fn start(&self) -> *mut B::Item {
        self.parts.as_ref().map_or(core::ptr::null_mut(), |parts| parts.start)
    }

    /// Waits until the transfer and all other operations of its token are complete; returns the buffer.
    ///
    /// # Panics
    ///
    /// If a poll has returned the buffer.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[track_caller]
    pub fn wait(mut self) -> B {
        self.location = Location::caller();
        self.complete().unwrap_or_else(|| given_back())
    }

    /// Whether the transfer and all other operations of its token are complete: [`wait`](Self::wait) would return at once. Makes
    /// progress, and does not wait.
    pub fn is_complete(&self) -> bool {
        if self.parts.is_none() {
            return true;
        }
        if self.endpoint.far_if_any().is_some_and(|far| !far.transport.is_quiet(far.channel)) {
            return false;
        }
        // A quiet confirms completion, also to observers.
        quiet_through(self.endpoint, self.location);
        true
    }

    fn complete(&mut self) -> Option<B> {
        // If the quiet unwinds, the parts are forgotten, so the buffer is leaked.
        let Parts { start, len, capacity } = self.parts.take()?;
        quiet_through(self.endpoint, self.location);
        // SAFETY: the parts of a vector (`of`), taken out once; any written bytes are items. After the quiet, no transfer
        // uses the vector.
        Some(B::from(unsafe { Vec::from_raw_parts(start, len, capacity) }))
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn given_back() -> ! {
    panic!("the transfer is complete, and a poll has given its buffer back already: it is given back once")
}

/// A move leaves the buffer in place.
impl<B: Buffer> Unpin for Pending<'_, B> {}

/// See [`Pending`] for wake-ups.
///
/// # Panics
///
/// A poll, if an earlier poll has returned the buffer.
impl<B: Buffer> Future for Pending<'_, B> {
    type Output = B;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<B> {
        if !self.is_complete() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.complete().unwrap_or_else(|| given_back()))
    }
}

impl<B: Buffer> Drop for Pending<'_, B> {
    fn drop(&mut self) {
        self.complete();
    }
}
