//! Places: the remote side of put and get.

use core::panic::Location;

use super::amo::{signal_on_node, update_signal};
use super::fence_quiet::fence_through;
use super::out_of_line::{get_slow, p_slow, put_signal_slow, put_slow};
use crate::array::ArrayOn;
use crate::endpoint::Endpoint;
use crate::object::{AmoValue, Atomic, NAMELESS, On, Signal, place_at};
use crate::observe::Family;
use crate::pe::Pe;
use crate::planted_fault::mutant;
use crate::shared;
use crate::symmetric_data::{Contents, PlainData};
use crate::transport::{SignalOp, shm};

/// The remote side of put and get: a place on one PE, such as [`On`].
///
/// # Safety
///
/// `put_from` and `put_signal_from` must read at most `len_of` items, and `get_into` must write `len_of` items. They must do so
/// before they return, or, if the operation's family is non-blocking, before the endpoint is quiet.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a place that put and get can reach",
    label = "not a place",
    note = "places are `OBJECT.on(pe)`, and its parts: `OBJECT.on(pe).index(1..4)`",
    note = "no PE reaches what is private to another one, such as a `Vec`: declare the object with `#[symmetric]`, as a `static` or by `let`"
)]
pub unsafe trait Place: Copy {
    /// Type of the place's contents.
    type Contents: Contents<Item: PlainData> + ?Sized;

    /// Number of items in the place.
    fn len_of(self) -> usize;

    /// Bytes from the start of a PE's slot to the place, for panic texts.
    #[doc(hidden)]
    fn offset_of(self) -> usize;

    /// Writes the items at `source` to the place.
    ///
    /// # Safety
    ///
    /// `len_of` items at `source` must be readable, and nothing may change them, for as long as `family.until()` says.
    #[track_caller]
    unsafe fn put_from(
        self,
        endpoint: &Endpoint,
        source: *const <Self::Contents as Contents>::Item,
        family: Family,
    );

    /// Reads the items of the place to `into`.
    ///
    /// # Safety
    ///
    /// `len_of` items at `into` must be writable, and nothing else may access them, for as long as `family.until()` says.
    #[track_caller]
    unsafe fn get_into(
        self,
        endpoint: &Endpoint,
        into: *mut <Self::Contents as Contents>::Item,
        family: Family,
    );

    /// The PE of the place.
    fn pe_of(self) -> Pe;

    /// Writes the items at `source` to the place, then changes a signal. A PE that sees the signal's change sees the items.
    ///
    /// # Safety
    ///
    /// `len_of` items at `source` must be readable, and nothing may change them, for as long as `family.until()` says. `signal`
    /// must be on the PE of the place.
    #[track_caller]
    unsafe fn put_signal_from(
        self,
        endpoint: &Endpoint,
        source: *const <Self::Contents as Contents>::Item,
        signal: On<'_, Signal>,
        op: SignalOp,
        family: Family,
    );
}

/// A place of a slice of `T`s: the remote side of a [`Pending`](super::Pending) transfer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place of a slice, which a buffer can go to or come from",
    label = "not a slice of what the buffer holds",
    note = "a `Vec` and a `Box` match a place of a slice of the same elements",
    note = "an object that is an array is one value; its elements are a slice: `OBJECT.on(pe).index(..)`, or a part of them: `.index(1..4)`"
)]
pub trait SlicePlace<T: PlainData>: Place<Contents = [T]> {}

#[diagnostic::do_not_recommend]
impl<T: PlainData> SlicePlace<T> for On<'_, [T]> {}
#[diagnostic::do_not_recommend]
impl<T: PlainData, const D: usize> SlicePlace<T> for ArrayOn<'_, T, D> {}

/// The type of the value that `p` writes to a `Self`. `p` refuses atomic words and signals, but they have a value type here: so
/// rustc reports only the wrong place, and no second error about the value.
pub trait Valued {
    /// The type of the values.
    type Value;
}

impl<T: PlainData> Valued for T {
    type Value = T;
}

impl<T: AmoValue> Valued for Atomic<T> {
    type Value = T;
}

impl Valued for Signal {
    type Value = u64;
}

/// The remote side of [`p`](super::Rma::p): a place of one value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a place that `p` can write one value to",
    label = "not a place of plain data",
    note = "a place of one value is `OBJECT.on(pe)`, and of an array an element of it: `OBJECT.on(pe).index(i)`",
    note = "`Atomic` and `Signal` words are changed by atomic and signal operations only: `fetch_add`, `set`, `wait_until`"
)]
pub trait ValuePlace {
    /// Type of the value.
    type Value;

    /// Writes the value to the place.
    #[doc(hidden)]
    #[track_caller]
    fn store_value(self, endpoint: &Endpoint, value: Self::Value);
}

#[diagnostic::do_not_recommend]
impl<T: PlainData> ValuePlace for On<'_, T> {
    type Value = <T as Valued>::Value;

    #[inline(always)]
    fn store_value(self, endpoint: &Endpoint, value: T) {
        store(self, endpoint, || value, Family::P);
    }
}

/// Writes one item to a place, on this node by a single store. `value` is called after the branch, because this saves a cycle.
#[inline(always)]
#[track_caller]
fn store<C: Contents<Item: PlainData> + ?Sized>(
    place: On<'_, C>,
    endpoint: &Endpoint,
    value: impl FnOnce() -> C::Item,
    family: Family,
) {
    if let Some(to) = endpoint.address(place.pe(), place.offset()) {
        // SAFETY: `to` is the place in a mapped slot. A place is an aligned item on every PE.
        unsafe { shm::store(to.cast::<C::Item>(), value(), place.is_named()) };
    } else {
        let (segment, offset, location) = (place.tagged_segment(), place.offset(), Location::caller());
        // SAFETY: the place is an aligned item on every PE, and `segment` is its tagged segment.
        unsafe { p_slow(endpoint, place.pe(), segment, offset, value(), family, location) };
    }
}

// SAFETY: every method transfers `bytes()` bytes: `len` items of the size of an `Item`.
unsafe impl<T: Contents<Item: PlainData> + ?Sized> Place for On<'_, T> {
    type Contents = T;

    #[inline(always)]
    fn len_of(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn offset_of(self) -> usize {
        self.offset()
    }

    #[inline(always)]
    unsafe fn put_from(self, endpoint: &Endpoint, source: *const T::Item, family: Family) {
        let (from, bytes) = (source.cast(), self.bytes());
        if !T::IS_SLICE && bytes <= 8 {
            // `shared::read`, not a plain read, because `source` may be symmetric memory.
            // SAFETY: one item is readable at `source` (caller).
            store(self, endpoint, || unsafe { shared::read(source) }, family);
        } else if let Some(to) = endpoint.address(self.pe(), self.offset()) {
            // SAFETY: the place has `bytes` bytes on every PE, and `source` is readable for `bytes` bytes (caller).
            unsafe { shm::put(to, from, bytes) };
        } else {
            let (pe, segment, offset) = (self.pe(), self.segment(), self.offset());
            // SAFETY: the place has `bytes` bytes on every PE, and `source` is readable as long as `family` requires (caller).
            unsafe { put_slow(endpoint, pe, segment, offset, from, bytes, family, Location::caller()) };
        }
    }

    #[inline(always)]
    unsafe fn get_into(self, endpoint: &Endpoint, into: *mut T::Item, family: Family) {
        let (to, bytes) = (into.cast(), self.bytes());
        if let Some(from) = endpoint.address(self.pe(), self.offset()) {
            // SAFETY: the place has `bytes` bytes on every PE, and `to` is writable for `bytes` bytes (caller).
            unsafe { shm::get(to, from, bytes) };
        } else {
            let (pe, segment, offset) = (self.pe(), self.segment(), self.offset());
            // SAFETY: the place has `bytes` bytes on every PE, and `to` is writable for as long as `family` requires (caller).
            unsafe { get_slow(endpoint, pe, segment, offset, to, bytes, family, Location::caller()) };
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
        family: Family,
    ) {
        if let Some(slot) = endpoint.slot_of(self.pe()) {
            // Changes the signal with release ordering, and wakes a waiter. The slot's address is computed after the copy: if it is
            // kept across the copy, puts of 4 KiB with a signal are 10 % slower.
            let change = || {
                let slot = endpoint.start_of(slot);
                // SAFETY: `slot_of` returned the mapped slot of the PE. A signal is an aligned word of 8 bytes in every slot.
                unsafe { signal_on_node(slot, slot.wrapping_add(signal.offset()), op) }
            };
            if mutant("signal-first") {
                change();
            }
            // SAFETY: `source` is valid as `put_from` requires (caller).
            unsafe { self.put_from(endpoint, source, family) };
            if !mutant("signal-first") {
                change();
            }
        } else {
            // Passed as separate arguments, because structs would be written to memory before the branch.
            let (pe, segment, offset, from) = (self.pe(), self.segment(), self.offset(), source.cast());
            let (bytes, location) = (self.bytes(), Location::caller());
            let (at_segment, at) = (signal.segment(), signal.offset());
            // SAFETY: `source` is valid for the place's bytes, and the signal is on the place's PE (caller).
            unsafe {
                put_signal_slow(
                    endpoint, pe, segment, offset, from, bytes, at_segment, at, op, family, location,
                );
            }
        }
    }
}

// SAFETY: the place's pieces have `len_of` items together. `source` and `into` have the same items in the same order.
unsafe impl<T: PlainData, const D: usize> Place for ArrayOn<'_, T, D> {
    type Contents = [T];

    fn len_of(self) -> usize {
        self.len()
    }

    fn offset_of(self) -> usize {
        NAMELESS
    }

    unsafe fn put_from(self, endpoint: &Endpoint, source: *const T, family: Family) {
        let mut done = 0;
        for piece in self.pieces() {
            // SAFETY: `source` is valid for all items of the place (caller). The piece has the next `piece.len()` of them.
            unsafe { piece.put_from(endpoint, source.wrapping_add(done), family) };
            done += piece.len();
        }
    }

    unsafe fn get_into(self, endpoint: &Endpoint, into: *mut T, family: Family) {
        let mut done = 0;
        for piece in self.pieces() {
            // SAFETY: `into` is valid for all items of the place (caller). The piece has the next `piece.len()` of them.
            unsafe { piece.get_into(endpoint, into.wrapping_add(done), family) };
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
        family: Family,
    ) {
        // SAFETY: `source` is valid as `put_from` requires (caller).
        unsafe { self.put_from(endpoint, source, family) };
        // The fence orders the signal after the puts of all pieces.
        fence_through(endpoint);
        update_signal(endpoint, signal, op);
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn check_len<P: Place>(place: P, local: usize) {
    if P::Contents::IS_SLICE && place.len_of() != local {
        differ(place.len_of(), local, place.offset_of());
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn differ(len: usize, local: usize, offset: usize) -> ! {
    panic!("{} has {len} elements, the local slice {local}", place_at(offset))
}
