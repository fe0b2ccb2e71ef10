//! Access to the calling PE's own copy of an object by value, outside `World::local` and `World::frozen`.
//!
//! Other PEs and threads may write the copy at any time, so there are no references to it. Each number of up to 8 bytes is read or
//! written by a single access, so it is never torn, unless [`field`](Here::field) made the place: a number of another size may
//! overlap such a number. A larger value or a slice may be a mixture of the bytes of two writers. All such mixtures are valid
//! values. The module [`shared`](crate::shared) explains why this is no data race.

use core::panic::Location;

use super::index::{PlaceIndex, place_at};
use super::untyped_address::Extent;
use super::{On, SymAddr, SymBox, Symmetric};
use crate::endpoint::{Endpoint, Initiator};
use crate::observe::{Call, Family};
use crate::symmetric_data::{Contents, PlainData, SymmetricData, copied, zeroed_items};
use crate::transport::shm;

/// The calling PE's own copy of a symmetric object, or a part of the copy.
pub struct Here<'a, T: Contents + ?Sized> {
    place: On<'a, T>,
    start: *mut T::Item,
    token: &'a Endpoint,
}

copied! { [T: Contents + ?Sized] Here<'_, T>; }

impl<T: SymmetricData> Symmetric<T> {
    /// The calling PE's own copy of the object.
    #[inline(always)]
    pub fn here<'a>(&'a self, token: &'a (impl Initiator + ?Sized)) -> Here<'a, T> {
        Here::of(self.on(token.endpoint().me()), token.endpoint())
    }
}

impl<T: Contents + ?Sized> SymBox<T> {
    /// The calling PE's own copy of the object.
    #[inline(always)]
    pub fn here<'a>(&'a self, token: &'a (impl Initiator + ?Sized)) -> Here<'a, T> {
        Here::of(self.on(token.endpoint().me()), token.endpoint())
    }
}

impl<'a, T: Contents + ?Sized> Here<'a, T> {
    #[inline(always)]
    pub(crate) fn of(place: On<'a, T>, token: &'a Endpoint) -> Self {
        Self { place, start: token.mine(place.offset()).cast(), token }
    }

    #[inline(always)]
    fn part<P: Contents + ?Sized>(self, place: On<'a, P>) -> Here<'a, P> {
        let start = self.start.wrapping_byte_add(place.offset() - self.place.offset()).cast();
        Here { place, start, token: self.token }
    }

    /// Returns a part of the copy: an element by its index, or a slice by a range of indices.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline(always)]
    #[track_caller]
    pub fn index<I: PlaceIndex<T>>(self, index: I) -> Here<'a, I::Output> {
        self.part(self.place.index(index))
    }

    /// Number of items: 1 for a value, the length of a slice.
    #[inline(always)]
    #[expect(clippy::len_without_is_empty, reason = "a place of a value has no emptiness")]
    pub fn len(self) -> usize {
        self.place.len()
    }

    /// The symmetric address of the copy, for untyped operations such as [`putmem`](crate::context::Raw::putmem).
    #[inline(always)]
    pub fn addr(self) -> SymAddr {
        SymAddr::assume(self.start.cast())
    }

    /// A pointer to the contents. Reading or writing through the pointer is undefined behaviour if another PE or thread may write
    /// at the same time. `World::local` gives references instead.
    #[inline(always)]
    pub fn as_ptr(self) -> *mut T {
        T::from_raw(self.start, self.len())
    }

    pub(crate) fn offset(self) -> usize {
        self.place.offset()
    }

    pub(crate) fn extent(self) -> Extent {
        Extent { offset: self.offset(), bytes: self.place.bytes() }
    }

    #[inline(always)]
    pub(crate) fn endpoint(self) -> &'a Endpoint {
        self.token
    }

    /// Calls `access`, and notifies the observer, if there is one.
    #[inline(always)]
    fn tell<R>(self, family: Family, location: &'static Location<'static>, access: impl FnOnce() -> R) -> R {
        if self.token.observer().is_none() {
            return access();
        }
        let call = Call::new(family, location).at(self.token.me(), 0, self.offset(), self.place.bytes());
        self.token.tell(call, access)
    }
}

impl<'a, T: SymmetricData> Here<'a, T> {
    /// Returns a field of a struct, or a part of a field, as [`On::field`](super::On::field) does.
    ///
    /// # Panics
    ///
    /// If the closure returns a reference outside its argument, or to a type for which the field is not aligned.
    #[inline(always)]
    #[track_caller]
    pub fn field<F: Contents + ?Sized>(self, name: impl for<'x> FnOnce(&'x T) -> &'x F) -> Here<'a, F> {
        self.part(self.place.field(name))
    }
}

impl<T: PlainData> Here<'_, T> {
    /// Returns the value.
    #[inline(always)]
    #[track_caller]
    pub fn load(self) -> T {
        // Reported to the observer in debug builds only, so that a load is one instruction in optimised builds.
        if cfg!(debug_assertions) {
            self.tell(Family::HereLoad, Location::caller(), || ());
        }
        // SAFETY: `start` is an aligned `T` in the token's mapped arena. Only a place that `field` made (`is_named`) may be
        // accessed elsewhere as a number of another size.
        unsafe { shm::load(self.start, self.place.is_named()) }
    }

    /// Writes the value.
    #[inline(always)]
    #[track_caller]
    pub fn store(self, value: T) {
        if cfg!(debug_assertions) {
            self.tell(Family::HereStore, Location::caller(), || ());
        }
        // SAFETY: `start` is an aligned `T` in the token's mapped arena. Only a place that `field` made (`is_named`) may be
        // accessed elsewhere as a number of another size.
        unsafe { shm::store(self.start, value, self.place.is_named()) }
    }
}

impl<T: PlainData> Here<'_, [T]> {
    /// Returns a copy of the elements, as in `TABLE.here(world).index(..8).to_vec()`.
    #[track_caller]
    pub fn to_vec(self) -> Vec<T> {
        let mut to = zeroed_items(self.len());
        self.copy_to(&mut to);
        to
    }

    /// Writes `value` to every element.
    #[track_caller]
    pub fn fill(self, value: T) {
        // A slice of elements of size 0 may be too long for a loop.
        let written = if size_of::<T>() == 0 { 0 } else { self.len() };
        self.tell(Family::HereStore, Location::caller(), || {
            for i in 0..written {
                // SAFETY: element `i` is an aligned `T` of this place, in the token's mapped arena. Only a place that `field` made
                // (`is_named`) may be accessed elsewhere as a number of another size.
                unsafe { shm::store(self.start.wrapping_add(i), value, self.place.is_named()) };
            }
        });
    }
}

impl<T: Contents<Item: PlainData> + ?Sized> Here<'_, T> {
    /// Copies the contents to `to`.
    ///
    /// # Panics
    ///
    /// If the lengths of `to` and the place differ.
    #[track_caller]
    pub fn copy_to(self, to: &mut [T::Item]) {
        self.require_len(to.len(), "the destination");
        self.tell(Family::HereLoad, Location::caller(), || {
            // SAFETY: `to` and the place both have `len` items. The place is in the token's mapped arena.
            unsafe { shm::get(to.as_mut_ptr().cast(), self.start.cast(), size_of_val(to)) }
        });
    }

    #[track_caller]
    fn require_len(self, len: usize, other: &str) {
        let own = self.len();
        assert_eq!(own, len, "{} has {own} elements, {other} {len}", place_at(self.offset()));
    }

    /// Copies `from` to the contents.
    ///
    /// # Panics
    ///
    /// If the lengths of `from` and the place differ.
    #[track_caller]
    pub fn copy_from(self, from: &[T::Item]) {
        self.require_len(from.len(), "the source");
        self.tell(Family::HereStore, Location::caller(), || {
            // SAFETY: `from` and the place both have `len` items. The place is in the token's mapped arena.
            unsafe { shm::put(self.start.cast(), from.as_ptr().cast(), size_of_val(from)) }
        });
    }
}
