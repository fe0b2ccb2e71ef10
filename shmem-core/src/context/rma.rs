//! Typed put and get.

use core::panic::Location;

use crate::array::ArrayOn;
use crate::data::{Contents, PlainData};
use crate::endpoint::{Endpoint, Initiator};
use crate::object::On;
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::transport::shm;

/// What put writes to and get reads from: a place on one PE, see [`On`].
///
/// # Safety
///
/// `put_from` must read `len` items and no more, `get_into` write as many.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a place that put and get can reach",
    label = "not a place",
    note = "places are `OBJECT.on(pe)`, and its parts: `OBJECT.on(pe).index(1..4)`"
)]
pub unsafe trait Place: Copy {
    /// What lies there.
    type Contents: Contents<Item: PlainData> + ?Sized;

    /// Number of items.
    fn len_of(self) -> usize;

    /// Writes as many items from `source` on.
    ///
    /// # Safety
    ///
    /// They must be readable.
    #[track_caller]
    unsafe fn put_from(self, endpoint: &Endpoint, source: *const <Self::Contents as Contents>::Item);

    /// Reads them to `into`.
    ///
    /// # Safety
    ///
    /// As many items must be writable.
    #[track_caller]
    unsafe fn get_into(self, endpoint: &Endpoint, into: *mut <Self::Contents as Contents>::Item);
}

// SAFETY: a place has `len` items, each of the size of an `Item`.
unsafe impl<T: Contents<Item: PlainData> + ?Sized> Place for On<'_, T> {
    type Contents = T;

    #[inline(always)]
    fn len_of(self) -> usize {
        self.len()
    }

    #[inline(always)]
    unsafe fn put_from(self, endpoint: &Endpoint, source: *const T::Item) {
        let bytes = self.bytes();
        if let Some(to) = endpoint.address(self.pe(), self.offset()) {
            if !T::IS_SLICE && bytes <= 8 {
                // SAFETY: the caller's promise, for one item.
                let value = unsafe { source.read() };
                // SAFETY: the place is an aligned `Item` on every PE.
                unsafe { shm::store(to.cast::<T::Item>(), value) };
            } else {
                // SAFETY: the place reserves `bytes` bytes on every PE, and as many are readable (caller).
                unsafe { shm::put(to, source.cast(), bytes) };
            }
        } else {
            let location = Location::caller();
            if !T::IS_SLICE && bytes <= 8 {
                // SAFETY: the caller's promise, for one item.
                let value = unsafe { source.read() };
                // SAFETY: as for the store.
                return unsafe {
                    p_slow(endpoint, self.pe(), self.segment(), self.offset(), value, Family::Put, location)
                };
            }
            // SAFETY: as for the copy.
            unsafe {
                put_slow(
                    endpoint,
                    self.pe(),
                    self.segment(),
                    self.offset(),
                    source.cast(),
                    bytes,
                    Family::Put,
                    location,
                );
            }
        }
    }

    #[inline(always)]
    unsafe fn get_into(self, endpoint: &Endpoint, into: *mut T::Item) {
        let bytes = self.bytes();
        if let Some(from) = endpoint.address(self.pe(), self.offset()) {
            // SAFETY: the place holds `bytes` bytes on every PE, and as many are writable (caller).
            unsafe { shm::get(into.cast(), from, bytes) };
        } else {
            let location = Location::caller();
            // SAFETY: as for the copy.
            unsafe {
                get_slow(
                    endpoint,
                    into.cast(),
                    self.pe(),
                    self.segment(),
                    self.offset(),
                    bytes,
                    Family::Get,
                    location,
                );
            }
        }
    }
}

// SAFETY: the pieces have the range's elements, in order, and so have `source` and `into`.
unsafe impl<T: PlainData, const D: usize> Place for ArrayOn<'_, T, D> {
    type Contents = [T];

    fn len_of(self) -> usize {
        self.len()
    }

    unsafe fn put_from(self, endpoint: &Endpoint, source: *const T) {
        let mut done = 0;
        for piece in self.pieces() {
            // SAFETY: the caller's promise, for the next elements.
            unsafe { piece.put_from(endpoint, source.wrapping_add(done)) };
            done += piece.len();
        }
    }

    unsafe fn get_into(self, endpoint: &Endpoint, into: *mut T) {
        let mut done = 0;
        for piece in self.pieces() {
            // SAFETY: the caller's promise, for the next elements.
            unsafe { piece.get_into(endpoint, into.wrapping_add(done)) };
            done += piece.len();
        }
    }
}

/// Typed remote memory access. Destination first, as in SHMEM.
///
/// On the node every operation is a load, a store or a copy in the arena, inlined; the choice
/// between that and the network is one branch on the `Pe`.
pub trait Rma: Initiator {
    /// Writes `source` to a place. `source` may be reused on return; the data is visible to every
    /// PE after `quiet` or a barrier.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_put`.
    #[inline(always)]
    #[track_caller]
    fn put<P: Place>(&self, place: P, source: &P::Contents) {
        check_len::<P::Contents>(place.len_of(), source.len_of());
        // SAFETY: `source` is a reference to as many items as the place has.
        unsafe { place.put_from(self.endpoint(), source.start_of()) };
    }

    /// Reads a place into `into`; the data is there on return.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_get`.
    #[inline(always)]
    #[track_caller]
    fn get<P: Place>(&self, into: &mut P::Contents, place: P) {
        check_len::<P::Contents>(place.len_of(), into.len_of());
        // Not by `start_of`: through a pointer from a shared reference nothing may be written.
        let to: *mut <P::Contents as Contents>::Item = core::ptr::from_mut(into).cast();
        // SAFETY: `into` is an exclusive reference to as many items as the place has.
        unsafe { place.get_into(self.endpoint(), to) };
    }

    /// Writes one value.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_p`.
    #[inline(always)]
    #[track_caller]
    fn p<T: PlainData>(&self, place: On<'_, T>, value: T) {
        let endpoint = self.endpoint();
        if let Some(to) = endpoint.address(place.pe(), place.offset()) {
            // SAFETY: the place is an aligned `T` on every PE.
            unsafe { shm::store(to.cast::<T>(), value) };
        } else {
            let location = Location::caller();
            // SAFETY: as for the store.
            unsafe {
                p_slow(endpoint, place.pe(), place.segment(), place.offset(), value, Family::P, location)
            };
        }
    }

    /// Reads one value.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_g`.
    #[inline(always)]
    #[track_caller]
    fn g<T: PlainData>(&self, place: On<'_, T>) -> T {
        let endpoint = self.endpoint();
        if let Some(from) = endpoint.address(place.pe(), place.offset()) {
            // SAFETY: the place is an aligned `T` on every PE.
            unsafe { shm::load(from.cast::<T>()) }
        } else {
            let location = Location::caller();
            // SAFETY: as for the load.
            unsafe { g_slow(endpoint, place.pe(), place.segment(), place.offset(), location) }
        }
    }
}

impl<I: Initiator + ?Sized> Rma for I {}

#[inline(always)]
#[track_caller]
fn check_len<T: Contents + ?Sized>(place: usize, local: usize) {
    if T::IS_SLICE && place != local {
        differ(place, local);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn differ(place: usize, local: usize) -> ! {
    panic!("the place has {place} elements, the local slice {local}")
}

/// Where a put cannot go straight to the arena: it is told to the observer, and goes there or through the
/// transport. By value: a reference to `value` would keep it in memory on the way to the store, too.
///
/// # Safety
///
/// The place must be an aligned `T` on every PE.
#[cold]
#[inline(never)]
unsafe fn p_slow<T: PlainData>(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    value: T,
    family: Family,
    location: &'static Location<'static>,
) {
    let from = core::ptr::from_ref(&value).cast::<u8>();
    let call = Call::new(family, location).at(pe, segment, offset, size_of::<T>());
    endpoint.tell(call, || match endpoint.mapped(pe, offset) {
        // SAFETY: the caller's promise.
        Some(to) => unsafe { shm::store(to.cast::<T>(), value) },
        // SAFETY: as above.
        None => unsafe { send(endpoint, pe, segment, offset, from, size_of::<T>()) },
    });
}

/// # Safety
///
/// As [`p_slow`].
#[cold]
#[inline(never)]
unsafe fn g_slow<T: PlainData>(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    location: &'static Location<'static>,
) -> T {
    let call = Call::new(Family::G, location).at(pe, segment, offset, size_of::<T>());
    endpoint.tell(call, || {
        if let Some(from) = endpoint.mapped(pe, offset) {
            // SAFETY: the caller's promise.
            return unsafe { shm::load(from.cast::<T>()) };
        }
        let mut value = T::zeroed();
        // SAFETY: as above; `value` has as many bytes.
        unsafe { fetch(endpoint, (&raw mut value).cast(), pe, segment, offset, size_of::<T>()) };
        value
    })
}

/// # Safety
///
/// `bytes` bytes must be readable, and lie in the segment of every PE.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
pub(super) unsafe fn put_slow(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    bytes: usize,
    family: Family,
    location: &'static Location<'static>,
) {
    let call = Call::new(family, location).at(pe, segment, offset, bytes).with(from);
    endpoint.tell(call, || match endpoint.mapped(pe, offset) {
        // SAFETY: the caller's promise.
        Some(to) => unsafe { shm::put(to, from, bytes) },
        // SAFETY: as above.
        None => unsafe { send(endpoint, pe, segment, offset, from, bytes) },
    });
}

/// # Safety
///
/// `bytes` bytes must be writable, and lie in the segment of every PE.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
pub(super) unsafe fn get_slow(
    endpoint: &Endpoint,
    to: *mut u8,
    pe: Pe,
    segment: u32,
    offset: usize,
    bytes: usize,
    family: Family,
    location: &'static Location<'static>,
) {
    let call = Call::new(family, location).at(pe, segment, offset, bytes).with(to);
    endpoint.tell(call, || match endpoint.mapped(pe, offset) {
        // SAFETY: the caller's promise.
        Some(from) => unsafe { shm::get(to, from, bytes) },
        // SAFETY: as above.
        None => unsafe { fetch(endpoint, to, pe, segment, offset, bytes) },
    });
}

/// # Safety
///
/// As [`put_slow`].
unsafe fn send(endpoint: &Endpoint, pe: Pe, segment: u32, offset: usize, from: *const u8, bytes: usize) {
    let (far, to) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
    // SAFETY: the caller's promise.
    unsafe { far.transport.put(far.channel, to, from, bytes) };
}

/// # Safety
///
/// As [`get_slow`].
unsafe fn fetch(endpoint: &Endpoint, to: *mut u8, pe: Pe, segment: u32, offset: usize, bytes: usize) {
    let (far, from) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
    // SAFETY: the caller's promise.
    unsafe { far.transport.get(far.channel, to, from, bytes) };
}
