//! Typed put and get, put with a signal, and the types of private data that match a place.

use core::panic::Location;

use super::out_of_line::g_slow;
use super::remote_place::{Place, ValuePlace, check_len};
use crate::endpoint::{Initiator, Stores};
use crate::object::{On, Signal};
use crate::observe::Family;
use crate::pe::Pe;
use crate::symmetric_data::{Contents, PlainData};
use crate::transport::{SignalOp, shm};

/// Typed remote memory access. As in OpenSHMEM, the destination is the first argument.
///
/// To a PE of the same node, every operation is a load, a store or a copy in shared memory, inlined. One branch on the `Pe` decides
/// whether to use shared memory or the network.
pub trait Rma: Initiator {
    /// Writes `source` to a place. If the place is a slice, `source` is a slice, a `Vec`, a `Box` or an array. `source` may be
    /// reused on return. The data is visible to every PE after `quiet` or a barrier.
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
        check_len(place, source.len_of());
        // SAFETY: `source` is a reference to as many items as the place has (`check_len`).
        unsafe { place.put_from(self.endpoint(), source.start_of(), Family::Put) };
    }

    /// Reads a place into `into`. For a slice, `into` is a slice, a `Vec`, a `Box` or an array. The data has arrived on return.
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
        check_len(place, into.len_of());
        // `start_of` would return a pointer from a shared reference, through which writing is undefined behaviour.
        let to: *mut C::Item = core::ptr::from_mut(into).cast();
        // SAFETY: `into` is an exclusive reference to as many items as the place has (`check_len`).
        unsafe { place.get_into(self.endpoint(), to, Family::Get) };
    }

    /// Writes one value to a place.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_p`.
    #[inline(always)]
    #[track_caller]
    fn p<P: ValuePlace>(&self, place: P, value: P::Value)
    where
        Self: Stores,
    {
        place.store_value(self.endpoint(), value);
    }

    /// Returns the value of a place.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_g`.
    #[inline(always)]
    #[track_caller]
    fn g<T: PlainData>(&self, place: On<'_, T>) -> T {
        let endpoint = self.endpoint();
        if let Some(from) = endpoint.address(place.pe(), place.offset()) {
            // SAFETY: `from` is the place in a mapped slot. A place is an aligned `T` on every PE.
            unsafe { shm::load(from.cast::<T>(), place.is_named()) }
        } else {
            let location = Location::caller();
            // SAFETY: a place is an aligned `T` on every PE, and the segment is its tagged segment.
            unsafe { g_slow(endpoint, place.pe(), place.tagged_segment(), place.offset(), location) }
        }
    }
}

impl<I: Initiator + ?Sized> Rma for I {}

/// Put with a signal, on which the target PE can wait.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{On, PutSignal, Signal, SignalOp, Stores};
///
/// /// Sends a row, and counts it.
/// fn send(world: &impl Stores, to: On<'_, [f64]>, row: &[f64], rows: On<'_, Signal>) {
///     world.put_signal(to, row, rows, SignalOp::Add(1));
/// }
/// ```
pub trait PutSignal: Initiator {
    /// Writes `source` to a place, then changes `signal` on the same PE. A PE that sees the signal's change by `wait_until` or
    /// `test` sees the data. `source` may be reused on return. If `source` has no elements, only the signal is changed. Writes of
    /// other operations are ordered before the signal only by fence and quiet.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length, or the place and the signal are on different PEs.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_put_signal`.
    #[inline(always)]
    #[track_caller]
    fn put_signal<P: Place<Contents = C>, C: Contents<Item: PlainData> + ?Sized>(
        &self,
        place: P,
        source: &(impl Matching<C> + ?Sized),
        signal: On<'_, Signal>,
        op: SignalOp,
    ) where
        Self: Stores,
    {
        let source = source.source();
        check_len(place, source.len_of());
        check_pe(place.pe_of(), signal.pe());
        // SAFETY: `source` refers to the place's number of items (`check_len`). The signal is on its PE (`check_pe`).
        unsafe { place.put_signal_from(self.endpoint(), source.start_of(), signal, op, Family::PutSignal) };
    }
}

impl<I: Initiator + ?Sized> PutSignal for I {}

#[inline(always)]
#[track_caller]
pub(super) fn check_pe(place: Pe, signal: Pe) {
    if place.number() != signal.number() {
        apart(place, signal);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn apart(place: Pe, signal: Pe) -> ! {
    panic!(
        "the place is on PE {place} and the signal on PE {signal}; a signal follows data on the same PE: name it `.on(..)` that PE"
    )
}

/// Private data that matches a place with contents `C`: a `C`, and for a slice also a `Vec`, a `Box` or an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not match a place that holds `{C}`",
    label = "not what the place holds",
    note = "a place of a value takes and gives that value; a place of a slice, as `OBJECT.on(pe).index(..)`, takes and gives a slice (`&values[..]`), a `Vec`, a `Box` or an array; elements are of the same type, since nothing is converted"
)]
pub trait Matching<C: ?Sized> {
    /// The data as the source of a put.
    #[doc(hidden)]
    fn source(&self) -> &C;

    /// The data as the destination of a get.
    #[doc(hidden)]
    fn destination(&mut self) -> &mut C;
}

macro_rules! matching {
    ($(($($generics:tt)*) $whole:ty: $contents:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> Matching<$contents> for $whole {
            #[inline(always)]
            fn source(&self) -> &$contents {
                self
            }

            #[inline(always)]
            fn destination(&mut self) -> &mut $contents {
                self
            }
        }
    )*};
}
matching! {
    (C: Contents + ?Sized) C: C;
    (T: PlainData) Vec<T>: [T];
    (T: PlainData) Box<[T]>: [T];
    (T: PlainData, const N: usize) [T; N]: [T];
}

/// A type that no place contains. Every type matches `Nothing` beside its own contents. So no data determines a place's type for
/// rustc, and a mistake is reported as a mismatch of place and data.
#[derive(Debug)]
pub enum Nothing {}

#[diagnostic::do_not_recommend]
impl<M: ?Sized> Matching<Nothing> for M {
    fn source(&self) -> &Nothing {
        unreachable!("no place holds it")
    }

    fn destination(&mut self) -> &mut Nothing {
        unreachable!("no place holds it")
    }
}
