//! Atomic operations on words of other PEs.

use core::panic::Location;
use core::ptr::NonNull;

use super::out_of_line::change_slow;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue, On, Signal};
use crate::observe::Family;
use crate::symmetric_data::SymmetricData;
use crate::transport::{AtomicOp, SignalOp, Until, Width, shm};

/// Passes the atomic operations that change a word to a macro, which defines methods. An `update` returns nothing, a `fetch`
/// returns the previous value. The brackets contain further bounds of the value's type.
macro_rules! changes {
    ($then:ident) => {
        $then! {
            /// Sets the word to `value`.
            update set(value) [] = AtomicOp::Set(value.to_bits64()), AtomicSet;
            /// Sets the word to `value`, and returns the previous value.
            fetch swap(value) [] = AtomicOp::Swap(value.to_bits64()), AtomicSwap;
            /// Sets the word to `desired` if its bits are those of `expected`; returns the previous value.
            fetch compare_swap(expected, desired) []
                = AtomicOp::CompareSwap { expected: expected.to_bits64(), desired: desired.to_bits64() },
                AtomicCompareSwap;
            /// Adds one to the word.
            update inc() [] = W::Value::ONE.addition(), AtomicInc;
            /// Adds one to the word, and returns the previous value.
            fetch fetch_inc() [] = W::Value::ONE.addition(), AtomicFetchInc;
            /// Adds `value` to the word. Integers wrap. Floating-point numbers are added in the order of their arrival, so that the
            /// last digits of sums may differ from run to run. A sum that is not a number is always stored as the same NaN, `NAN`.
            update add(value) [] = value.addition(), AtomicAdd;
            /// As [`add`](Amo::add), and returns the previous value.
            fetch fetch_add(value) [] = value.addition(), AtomicFetchAdd;
            /// Sets the word to the smaller one of the word and `value`. For floating-point numbers, a number wins against a NaN,
            /// -0 against 0.
            update set_min(value) [] = AtomicOp::Min(W::Value::NUMBER, value.to_bits64()), AtomicSetMin;
            /// As [`set_min`](Amo::set_min), and returns the previous value.
            fetch fetch_min(value) []
                = AtomicOp::Min(W::Value::NUMBER, value.to_bits64()), AtomicFetchMin;
            /// Sets the word to the larger one of the word and `value`. For floating-point numbers, a number wins against a NaN,
            /// and 0 against -0.
            update set_max(value) [] = AtomicOp::Max(W::Value::NUMBER, value.to_bits64()), AtomicSetMax;
            /// As [`set_max`](Amo::set_max), and returns the previous value.
            fetch fetch_max(value) []
                = AtomicOp::Max(W::Value::NUMBER, value.to_bits64()), AtomicFetchMax;
            /// Sets the word to the bitwise and of the word and `value`.
            update and(value) [Value: BitValue] = AtomicOp::And(value.to_bits64()), AtomicAnd;
            /// As [`and`](Amo::and), and returns the previous value.
            fetch fetch_and(value) [Value: BitValue]
                = AtomicOp::And(value.to_bits64()), AtomicFetchAnd;
            /// Sets the word to the bitwise or of the word and `value`.
            update or(value) [Value: BitValue] = AtomicOp::Or(value.to_bits64()), AtomicOr;
            /// As [`or`](Amo::or), and returns the previous value.
            fetch fetch_or(value) [Value: BitValue] = AtomicOp::Or(value.to_bits64()), AtomicFetchOr;
            /// Sets the word to the bitwise exclusive or of the word and `value`.
            update xor(value) [Value: BitValue] = AtomicOp::Xor(value.to_bits64()), AtomicXor;
            /// As [`xor`](Amo::xor), and returns the previous value.
            fetch fetch_xor(value) [Value: BitValue]
                = AtomicOp::Xor(value.to_bits64()), AtomicFetchXor;
        }
    };
}
pub(super) use changes;

macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $kind:ident $name:ident($($value:ident),*) [$($bound:tt)*] = $op:expr, $family:ident;
    )*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        fn $name<W: AtomicWord<$($bound)*>>(&self, word: On<'_, W> $(, $value: W::Value)*) -> methods!(@$kind)
        where
            Self: Stores,
        {
            methods!(@$kind change(self.endpoint(), word, $op, Family::$family))
        }
    )*};
    (@update) => {
        ()
    };
    (@fetch) => {
        W::Value
    };
    (@update $change:expr) => {
        _ = $change
    };
    (@fetch $change:expr) => {
        $change
    };
}

/// Atomic memory operations on words: atomic with respect to each other, between PEs and between threads. An update of a word wakes
/// a PE that waits for it.
///
/// An operation without a result (`set`, `add`, ...) is visible to every PE after `quiet`. The others are complete on return.
///
/// Source: OpenSHMEM 1.6, `shmem_atomic_add` and other routines of the same names. Minimum and maximum are extensions.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{Amo, Atomic, On, Stores};
///
/// /// Updates the sum and the minimum of all samples.
/// fn take_in(world: &impl Stores, sum: On<'_, Atomic<f64>>, least: On<'_, Atomic<f64>>, sample: f64) {
///     world.add(sum, sample);
///     world.set_min(least, sample);
/// }
/// ```
pub trait Amo: Initiator {
    /// Returns the value of the word.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch`.
    #[inline(always)]
    #[track_caller]
    fn fetch<W: AtomicWord>(&self, word: On<'_, W>) -> W::Value {
        change(self.endpoint(), word, AtomicOp::Fetch, Family::AtomicFetch)
    }

    /// Sets the signal to `value`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_signal_set`.
    #[inline(always)]
    #[track_caller]
    fn signal_set(&self, signal: On<'_, Signal>, value: u64)
    where
        Self: Stores,
    {
        update_signal(self.endpoint(), signal, SignalOp::Set(value));
    }

    /// Adds `value` to the signal.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_signal_add`.
    #[inline(always)]
    #[track_caller]
    fn signal_add(&self, signal: On<'_, Signal>, value: u64)
    where
        Self: Stores,
    {
        update_signal(self.endpoint(), signal, SignalOp::Add(value));
    }

    /// Returns the value of the signal.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_signal_fetch`.
    #[inline(always)]
    #[track_caller]
    fn signal_fetch(&self, signal: On<'_, Signal>) -> u64 {
        change_bits(self.endpoint(), signal, AtomicOp::Fetch, Family::SignalFetch)
    }

    changes!(methods);
}

impl<I: Initiator + ?Sized> Amo for I {}

#[inline(always)]
#[track_caller]
fn change<W: AtomicWord>(endpoint: &Endpoint, word: On<'_, W>, op: AtomicOp, family: Family) -> W::Value {
    W::Value::from_bits64(change_bits(endpoint, word, op, family))
}

/// Applies `op` to `word`, an [`Atomic`](crate::object::Atomic) or [`Signal`]. Returns the previous value if `family` fetches.
#[inline(always)]
#[track_caller]
fn change_bits<W: SymmetricData>(endpoint: &Endpoint, word: On<'_, W>, op: AtomicOp, family: Family) -> u64 {
    let width = Width::of::<W>();
    match endpoint.slot_of(word.pe()) {
        Some(slot) => {
            let slot = endpoint.start_of(slot);
            // SAFETY: `slot_of` returned the mapped slot of the PE. At the offset, every slot has an aligned `W`: an `Atomic` or a
            // `Signal` (callers), so a word of `width`.
            unsafe { on_node(slot, slot.wrapping_add(word.offset()), width, op) }
        }
        None => {
            let ((code, a, b), location) = (op.into_words(), Location::caller());
            let (pe, segment, offset) = (word.pe(), word.segment(), word.offset());
            // SAFETY: at the offset, every PE has an aligned `W`: an `Atomic` or a `Signal` (callers), so a word of `width`.
            unsafe { change_slow(endpoint, pe, segment, offset, width, code, a, b, None, family, location) }
        }
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn update_signal(endpoint: &Endpoint, signal: On<'_, Signal>, op: SignalOp) {
    if let Some(slot) = endpoint.slot_of(signal.pe()) {
        let slot = endpoint.start_of(slot);
        // SAFETY: `slot_of` returned the mapped slot of the PE. A signal is an aligned word of 8 bytes in every slot.
        return unsafe { signal_on_node(slot, slot.wrapping_add(signal.offset()), op) };
    }
    let family = match op {
        SignalOp::Set(_) => Family::SignalSet,
        SignalOp::Add(_) => Family::SignalAdd,
    };
    change_bits(endpoint, signal, op.into(), family);
}

/// Applies `op` to a signal of a PE on this node.
///
/// # Safety
///
/// `slot` must be the start of a mapped slot, and `signal` an aligned word of 8 bytes in this slot.
#[inline(always)]
pub unsafe fn signal_on_node(slot: *mut u8, signal: *mut u8, op: SignalOp) {
    // SAFETY: `slot` is the start of a mapped slot (caller).
    let bell = unsafe { Endpoint::bell_at(slot) };
    // SAFETY: `signal` is an aligned word of 8 bytes in a mapped slot (caller).
    unsafe { shm::signal(signal, op, bell) };
}

/// Applies `op` to a word of a PE on this node, and returns the previous value.
///
/// # Safety
///
/// `slot` must be the start of a mapped slot, and `word` an aligned word of `width` in this slot.
#[inline(always)]
pub unsafe fn on_node(slot: *mut u8, word: *mut u8, width: Width, op: AtomicOp) -> u64 {
    // SAFETY: `slot` is the start of a mapped slot (caller).
    let bell = unsafe { Endpoint::bell_at(slot) };
    // SAFETY: `word` is an aligned word of `width` in a mapped slot (caller).
    unsafe { shm::atomic(word, width, op, bell) }
}

/// Applies `op` to a word. The previous value is in `before` when the endpoint is quiet.
///
/// # Safety
///
/// Until the endpoint is quiet, `before` must be aligned and writable, and nothing else may access it.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn change_nbi<W: AtomicWord>(
    endpoint: &Endpoint,
    before: NonNull<W::Value>,
    word: On<'_, W>,
    op: AtomicOp,
    family: Family,
) {
    let width = Width::of::<W>();
    match endpoint.slot_of(word.pe()) {
        Some(slot) => {
            let slot = endpoint.start_of(slot);
            // SAFETY: `slot_of` returned the mapped slot of the PE. An `AtomicWord` is an aligned word of its width in every slot.
            let bits = unsafe { on_node(slot, slot.wrapping_add(word.offset()), width, op) };
            // SAFETY: `before` is aligned and writable, and nothing else accesses it (caller).
            unsafe { before.write(W::Value::from_bits64(bits)) };
        }
        None => {
            let ((code, a, b), location) = (op.into_words(), Location::caller());
            let (pe, segment, offset, to) = (word.pe(), word.segment(), word.offset(), Some(before.cast()));
            let family = family.form(Until::Quiet);
            // SAFETY: an `AtomicWord` is an aligned word of its width on every PE, and its value is as wide. Until the endpoint is
            // quiet, `before` is aligned and writable, and nothing else accesses it (caller).
            unsafe { change_slow(endpoint, pe, segment, offset, width, code, a, b, to, family, location) };
        }
    }
}
