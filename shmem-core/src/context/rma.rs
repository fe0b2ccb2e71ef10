//! Typed put and get.

use super::order::fence_through;
use super::signal::{put_signal_far, update_signal};
use crate::array::ArrayOn;
use crate::data::{Contents, PlainData};
use crate::endpoint::{Endpoint, Initiator};
use crate::object::{On, Signal};
use crate::pe::Pe;
use crate::transport::{SignalOp, shm};

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
    unsafe fn put_from(self, endpoint: &Endpoint, source: *const <Self::Contents as Contents>::Item);

    /// Reads them to `into`.
    ///
    /// # Safety
    ///
    /// As many items must be writable.
    unsafe fn get_into(self, endpoint: &Endpoint, into: *mut <Self::Contents as Contents>::Item);

    /// The PE.
    fn pe_of(self) -> Pe;

    /// Writes as many items from `source` on, then changes a signal: whoever sees the change sees them.
    ///
    /// # Safety
    ///
    /// As [`put_from`](Self::put_from), and `signal` must be on the PE of the place.
    unsafe fn put_signal_from(
        self,
        endpoint: &Endpoint,
        source: *const <Self::Contents as Contents>::Item,
        signal: On<'_, Signal>,
        op: SignalOp,
    );
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
            put_far(endpoint, self.pe(), self.segment(), self.offset(), source.cast(), bytes);
        }
    }

    #[inline(always)]
    unsafe fn get_into(self, endpoint: &Endpoint, into: *mut T::Item) {
        let bytes = self.bytes();
        if let Some(from) = endpoint.address(self.pe(), self.offset()) {
            // SAFETY: the place holds `bytes` bytes on every PE, and as many are writable (caller).
            unsafe { shm::get(into.cast(), from, bytes) };
        } else {
            get_far(endpoint, into.cast(), self.pe(), self.segment(), self.offset(), bytes);
        }
    }

    #[inline(always)]
    fn pe_of(self) -> Pe {
        self.pe()
    }

    #[inline(always)]
    unsafe fn put_signal_from(
        self,
        endpoint: &Endpoint,
        source: *const T::Item,
        signal: On<'_, Signal>,
        op: SignalOp,
    ) {
        if self.pe().slot().is_some() {
            // SAFETY: the caller's promise.
            unsafe { self.put_from(endpoint, source) };
            // A read-modify-write: it releases what stands before, and wakes who waits.
            update_signal(endpoint, signal, op);
        } else {
            // In pieces: as wholes they would be written to memory before the branch.
            let (place, signal) = ((self.segment(), self.offset()), (signal.segment(), signal.offset()));
            // SAFETY: the caller's promise, for as many bytes as the place has.
            unsafe { put_signal_far(endpoint, self.pe(), place, source.cast(), self.bytes(), signal, op) };
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

    fn pe_of(self) -> Pe {
        self.pe()
    }

    unsafe fn put_signal_from(
        self,
        endpoint: &Endpoint,
        source: *const T,
        signal: On<'_, Signal>,
        op: SignalOp,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.put_from(endpoint, source) };
        // The signal comes behind the last piece alone, and the others may be elsewhere still.
        fence_through(endpoint);
        update_signal(endpoint, signal, op);
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
    fn p<T: PlainData>(&self, place: On<'_, T>, value: T) {
        let endpoint = self.endpoint();
        if let Some(to) = endpoint.address(place.pe(), place.offset()) {
            // SAFETY: the place is an aligned `T` on every PE.
            unsafe { shm::store(to.cast::<T>(), value) };
        } else {
            p_far(endpoint, place.pe(), place.segment(), place.offset(), value);
        }
    }

    /// Reads one value.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_g`.
    #[inline(always)]
    fn g<T: PlainData>(&self, place: On<'_, T>) -> T {
        let endpoint = self.endpoint();
        if let Some(from) = endpoint.address(place.pe(), place.offset()) {
            // SAFETY: the place is an aligned `T` on every PE.
            unsafe { shm::load(from.cast::<T>()) }
        } else {
            g_far(endpoint, place.pe(), place.segment(), place.offset())
        }
    }
}

impl<I: Initiator + ?Sized> Rma for I {}

#[inline(always)]
#[track_caller]
pub(super) fn check_len<T: Contents + ?Sized>(place: usize, local: usize) {
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

// By value: a reference to `value` would keep it in memory on the way to the store, too.
#[cold]
#[inline(never)]
fn p_far<T: PlainData>(endpoint: &Endpoint, pe: Pe, segment: u32, offset: usize, value: T) {
    let from = core::ptr::from_ref(&value).cast();
    put_far(endpoint, pe, segment, offset, from, size_of::<T>());
}

#[cold]
#[inline(never)]
fn g_far<T: PlainData>(endpoint: &Endpoint, pe: Pe, segment: u32, offset: usize) -> T {
    let mut value = T::zeroed();
    let to = core::ptr::from_mut(&mut value).cast();
    get_far(endpoint, to, pe, segment, offset, size_of::<T>());
    value
}

#[cold]
#[inline(never)]
pub(super) fn put_far(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    bytes: usize,
) {
    let far = endpoint.far();
    let to = Endpoint::remote(pe, segment, offset);
    // SAFETY: callers pass readable bytes and a place of the same size.
    unsafe { far.transport.put(far.channel, to, from, bytes) };
}

#[cold]
#[inline(never)]
pub(super) fn get_far(endpoint: &Endpoint, to: *mut u8, pe: Pe, segment: u32, offset: usize, bytes: usize) {
    let far = endpoint.far();
    let from = Endpoint::remote(pe, segment, offset);
    // SAFETY: callers pass writable bytes and a place of the same size.
    unsafe { far.transport.get(far.channel, to, from, bytes) };
}
