//! Put with a signal behind it.

use core::panic::Location;

use super::amo::{on_node, update_bits};
use super::place::Place;
use super::rma::check_len;
use crate::data::Contents;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{On, Signal};
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::transport::{SignalOp, Width, shm};

/// Put that ends in a signal, on which the target can wait.
///
/// ```
/// use shmem_core::context::{PutSignal, SignalOp, Stores};
/// use shmem_core::object::{On, Signal};
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
    fn put_signal<P: Place>(&self, place: P, source: &P::Contents, signal: On<'_, Signal>, op: SignalOp)
    where
        Self: Stores,
    {
        check_len::<P::Contents>(place.len_of(), source.len_of());
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

/// Changes the signal behind data that is there.
#[inline(always)]
#[track_caller]
pub(super) fn update_signal(endpoint: &Endpoint, signal: On<'_, Signal>, op: SignalOp) {
    let family = match op {
        SignalOp::Set(_) => Family::SignalSet,
        SignalOp::Add(_) => Family::SignalAdd,
    };
    update_bits(endpoint, signal, Width::W8, op.into(), family);
}

/// # Safety
///
/// `bytes` bytes must be readable from `from` on, and lie at `offset` in the segment of every PE; the signal
/// must be one on the same PE.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
pub(super) unsafe fn put_signal_slow(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    bytes: usize,
    signal_segment: u32,
    signal_offset: usize,
    op: SignalOp,
    family: Family,
    location: &'static Location<'static>,
) {
    let call = Call::new(family, location).at(pe, segment, offset, bytes).with(from);
    let call = call.signalled(signal_offset, op.into());
    endpoint.tell(call, || {
        if let Some(place) = endpoint.mapped(pe, 0) {
            // SAFETY: the caller's promise.
            unsafe { shm::put(place.wrapping_add(offset), from, bytes) };
            on_node(place, signal_offset, Width::W8, op.into());
            return;
        }
        let (far, channel) = (&endpoint.far().transport, endpoint.far().channel);
        let to = Endpoint::remote(pe, segment, offset);
        let signal = Endpoint::remote(pe, signal_segment, signal_offset);
        if family.is_nonblocking() {
            // SAFETY: the caller's promise, for as long as the family says.
            unsafe { far.put_signal_nbi(channel, to, from, bytes, signal, op) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { far.put_signal(channel, to, from, bytes, signal, op) };
        }
    });
}
