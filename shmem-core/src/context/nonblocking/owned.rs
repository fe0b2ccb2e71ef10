//! Transfers that own their buffers.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::panic::Location;

use crate::context::order::quiet_through;
use crate::context::place::{Place, check_len};
use crate::data::PlainData;
use crate::endpoint::Endpoint;
use crate::observe::Family;

/// Memory that a transfer can own: `Vec<T>` and `Box<[T]>`.
///
/// # Safety
///
/// `into_parts` must give memory of `len` items, which stays where it is and is nobody else's, until
/// `from_parts` makes it the buffer that it was.
pub unsafe trait Buffer: sealed::Sealed {
    /// What it holds.
    type Item: PlainData;

    /// Takes it apart. What is never put together again is never freed.
    #[doc(hidden)]
    fn into_parts(self) -> Parts<Self::Item>;

    /// Puts it together.
    ///
    /// # Safety
    ///
    /// The parts must be those of such a buffer, once.
    #[doc(hidden)]
    unsafe fn from_parts(parts: Parts<Self::Item>) -> Self;
}

/// A buffer that was taken apart. While others may use its memory, nothing here claims that it is its own.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parts<T> {
    start: *mut T,
    len: usize,
    capacity: usize,
}

mod sealed {
    pub trait Sealed: Sized {}
    impl<T> Sealed for Vec<T> {}
    impl<T> Sealed for Box<[T]> {}
}

// SAFETY: the items of a vector, which `Vec` keeps in one place unless it is told otherwise.
unsafe impl<T: PlainData> Buffer for Vec<T> {
    type Item = T;

    fn into_parts(self) -> Parts<T> {
        let mut buffer = ManuallyDrop::new(self);
        Parts { start: buffer.as_mut_ptr(), len: buffer.len(), capacity: buffer.capacity() }
    }

    unsafe fn from_parts(parts: Parts<T>) -> Self {
        // SAFETY: the parts of a vector (caller), whose items are values whatever was written to them.
        unsafe { Self::from_raw_parts(parts.start, parts.len, parts.capacity) }
    }
}

// SAFETY: the items of a box.
unsafe impl<T: PlainData> Buffer for Box<[T]> {
    type Item = T;

    fn into_parts(self) -> Parts<T> {
        let len = self.len();
        Parts { start: Self::into_raw(self).cast(), len, capacity: len }
    }

    unsafe fn from_parts(parts: Parts<T>) -> Self {
        // SAFETY: the parts of a box (caller), whose items are values whatever was written to them.
        unsafe { Self::from_raw(core::ptr::slice_from_raw_parts_mut(parts.start, parts.len)) }
    }
}

/// A transfer that owns its buffer until it is complete.
///
/// Dropping it waits, as [`wait`](Self::wait) does, and frees the buffer. Forgetting it forgets the buffer,
/// which is then never freed, so that whoever still uses it is right to. It stays with the thread that
/// has started it.
#[must_use = "the buffer comes back by `wait`; dropping it waits as well"]
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
        // SAFETY: as many items as the place has, which are there and unchanged until a quiet, or for ever.
        unsafe { place.put_from(endpoint, source, Family::PutNbi) };
        pending
    }

    #[track_caller]
    pub(super) fn get<P: Place<Contents = [B::Item]>>(endpoint: &'t Endpoint, buffer: B, place: P) -> Self {
        let pending = Self::of(endpoint, place, buffer);
        let into = pending.start();
        // SAFETY: as many items as the place has, which are nobody else's until a quiet, or for ever.
        unsafe { place.get_into(endpoint, into, Family::GetNbi) };
        pending
    }

    #[track_caller]
    fn of<P: Place<Contents = [B::Item]>>(endpoint: &'t Endpoint, place: P, buffer: B) -> Self {
        let parts = buffer.into_parts();
        let location = Location::caller();
        let pending = Self { endpoint, parts: Some(parts), location, _buffer: PhantomData };
        check_len::<[B::Item]>(place.len_of(), pending.parts.as_ref().map_or(0, |parts| parts.len));
        pending
    }

    fn start(&self) -> *mut B::Item {
        self.parts.as_ref().map_or(core::ptr::null_mut(), |parts| parts.start)
    }

    /// Waits until the transfer is complete, and with it all that its token has started; gives the buffer back.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[track_caller]
    pub fn wait(mut self) -> B {
        self.location = Location::caller();
        self.complete().unwrap_or_else(|| unreachable!("only `wait` and `drop` take the buffer"))
    }

    fn complete(&mut self) -> Option<B> {
        // If this unwinds, the parts are forgotten, and the buffer is there for ever.
        let parts = self.parts.take()?;
        quiet_through(self.endpoint, self.location);
        // SAFETY: the parts of the buffer, taken out once; after quiet nobody uses it.
        Some(unsafe { B::from_parts(parts) })
    }
}

impl<B: Buffer> Drop for Pending<'_, B> {
    fn drop(&mut self) {
        self.complete();
    }
}
