//! Put with a signal behind it.

use super::matching::Matching;
use super::place::{Place, check_len};
use crate::data::{Contents, PlainData};
use crate::endpoint::{Initiator, Stores};
use crate::object::{On, Signal};
use crate::observe::Family;
use crate::pe::Pe;
use crate::transport::SignalOp;

/// Put that ends in a signal, on which the target can wait.
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
    /// Writes `source` to a place, then changes `signal` on the same PE: a PE that sees the change, by
    /// `wait_until` or `test`, sees the data. `source` may be reused on return. Of no elements, the signal
    /// alone is changed. Signals are ordered with what other operations write by fence and quiet only.
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
        check_len::<C>(place.len_of(), source.len_of());
        check_pe(place.pe_of(), signal.pe());
        // SAFETY: `source` is a reference to as many items as the place has; the signal is on its PE.
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
