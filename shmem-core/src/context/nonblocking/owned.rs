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

/// Memory that a transfer can own: `Vec<T>` and `Box<[T]>`. (A `Box` is converted to a `Vec` and back without a copy, because the
/// vector has no spare capacity.)
pub trait Buffer: sealed::Sealed + Into<Vec<Self::Item>> + From<Vec<Self::Item>> {
    /// Type of the buffer's items.
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

/// The raw parts of a vector. A `Vec` would claim to be alone in accessing its memory, but other PEs may access it during a
/// transfer. If the vector is not rebuilt from its parts, its memory is leaked.
struct Parts<T> {
    start: *mut T,
    len: usize,
    capacity: usize,
}

/// A transfer that owns its buffer until it is complete.
///
/// Dropping a transfer blocks until it is complete, as [`wait`](Self::wait) does, and frees the buffer. Forgetting a transfer leaks
/// the buffer. A transfer cannot be sent to another thread.
///
/// A transfer is also a future, whose output is the buffer, for any executor. On the same node it is complete at the first poll.
/// The library has no thread that waits for completions. So a poll of an incomplete transfer makes progress, and wakes its own task
/// at once: other tasks can run, but the executor does not sleep. Unlike [`wait`](Self::wait), polls have no timeout
/// (`SHMEM_TIMEOUT`).
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
    /// The buffer. `None` after `wait`, `drop` or the last poll.
    parts: Option<Parts<B::Item>>,
    location: &'static Location<'static>,
    _buffer: PhantomData<B>,
}

impl<'t, B: Buffer> Pending<'t, B> {
    #[track_caller]
    pub(super) fn put<P: Place<Contents = [B::Item]>>(endpoint: &'t Endpoint, place: P, buffer: B) -> Self {
        let pending = Self::of(endpoint, place, buffer);
        let source = pending.start();
        // SAFETY: `source` has the place's number of items, readable and unchanged until a quiet, or for ever.
        unsafe { place.put_from(endpoint, source, Family::PutNbi) };
        pending
    }

    #[track_caller]
    pub(super) fn get<P: Place<Contents = [B::Item]>>(endpoint: &'t Endpoint, buffer: B, place: P) -> Self {
        let pending = Self::of(endpoint, place, buffer);
        let into = pending.start();
        // SAFETY: `into` has the place's number of items. Nothing else accesses them until a quiet, or for ever.
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

    /// Blocks until the transfer and all other operations of its token are complete, and returns the buffer.
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

    /// Whether the transfer and all other operations of its token are complete, so that [`wait`](Self::wait) would return at once.
    /// Makes progress, and does not block.
    pub fn is_complete(&self) -> bool {
        if self.parts.is_none() {
            return true;
        }
        if self.endpoint.far_if_any().is_some_and(|far| !far.transport.is_quiet(far.channel)) {
            return false;
        }
        // This quiet returns at once. It completes the transfer for observers too.
        quiet_through(self.endpoint, self.location);
        true
    }

    fn complete(&mut self) -> Option<B> {
        // The parts are removed before the quiet. So if the quiet unwinds, the buffer is leaked, and not freed while the transfer
        // may still use it.
        let Parts { start, len, capacity } = self.parts.take()?;
        quiet_through(self.endpoint, self.location);
        // SAFETY: `of` made the parts from a vector, and they are removed only once. Bytes that a transfer wrote are valid items.
        // After the quiet, no transfer accesses the vector.
        Some(B::from(unsafe { Vec::from_raw_parts(start, len, capacity) }))
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn given_back() -> ! {
    panic!("the transfer is complete, and a poll has given its buffer back already: it is given back once")
}

/// The buffer is on the heap, so a move of the transfer does not move the buffer.
impl<B: Buffer> Unpin for Pending<'_, B> {}

/// Completes with the buffer. [`Pending`] says when the task is woken.
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
