//! Typed put and get.

use core::panic::Location;

use super::matching::Matching;
use super::place::{Place, check_len};
use super::slow::{g_slow, p_slow};
use crate::data::{Contents, PlainData};
use crate::endpoint::{Initiator, Stores};
use crate::object::On;
use crate::observe::Family;
use crate::transport::shm;

/// Typed remote memory access. Destination first, as in SHMEM.
///
/// On the node every operation is a load, a store or a copy in the arena, inlined; the choice
/// between that and the network is one branch on the `Pe`.
pub trait Rma: Initiator {
    /// Writes `source` to a place, which for a slice is a slice, a `Vec`, a `Box` or an array. `source` may be reused on return; the data is visible to every
    /// PE after `quiet` or a barrier.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_put`.
    #[inline(always)]
    #[track_caller]
    fn put<P: Place<Contents = C>, C: Contents<Item: PlainData> + ?Sized>(
        &self,
        place: P,
        source: &(impl Matching<C> + ?Sized),
    ) where
        Self: Stores,
    {
        let source = source.source();
        check_len::<C>(place.len_of(), source.len_of());
        // SAFETY: `source` is a reference to as many items as the place has.
        unsafe { place.put_from(self.endpoint(), source.start_of(), Family::Put) };
    }

    /// Reads a place into `into`, which for a slice is a slice, a `Vec`, a `Box` or an array; the data is there on return.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_get`.
    #[inline(always)]
    #[track_caller]
    fn get<P: Place<Contents = C>, C: Contents<Item: PlainData> + ?Sized>(
        &self,
        into: &mut (impl Matching<C> + ?Sized),
        place: P,
    ) {
        let into = into.destination();
        check_len::<C>(place.len_of(), into.len_of());
        // Not by `start_of`: through a pointer from a shared reference nothing may be written.
        let to: *mut C::Item = core::ptr::from_mut(into).cast();
        // SAFETY: `into` is an exclusive reference to as many items as the place has.
        unsafe { place.get_into(self.endpoint(), to, Family::Get) };
    }

    /// Writes one value.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_p`.
    #[inline(always)]
    #[track_caller]
    fn p<T: PlainData>(&self, place: On<'_, T>, value: T)
    where
        Self: Stores,
    {
        let endpoint = self.endpoint();
        if let Some(to) = endpoint.address(place.pe(), place.offset()) {
            // SAFETY: the place is an aligned `T` on every PE.
            unsafe { shm::store(to.cast::<T>(), value, place.is_named()) };
        } else {
            let location = Location::caller();
            // SAFETY: the place is an aligned `T` on every PE.
            unsafe {
                p_slow(
                    endpoint,
                    place.pe(),
                    place.tagged_segment(),
                    place.offset(),
                    value,
                    Family::P,
                    location,
                )
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
            unsafe { shm::load(from.cast::<T>(), place.is_named()) }
        } else {
            let location = Location::caller();
            // SAFETY: the place is an aligned `T` on every PE.
            unsafe { g_slow(endpoint, place.pe(), place.tagged_segment(), place.offset(), location) }
        }
    }
}

impl<I: Initiator + ?Sized> Rma for I {}
