//! Atomic operations on words of other PEs.

use core::panic::Location;
use core::ptr::NonNull;

use super::out_of_line::change_slow;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue, On, Signal};
use crate::observe::Family;
use crate::symmetric_data::SymmetricData;
use crate::transport::{AtomicOp, SignalOp, Until, Width, shm};

/// The operations that change a word, for a macro that defines methods: `update` returns nothing, `fetch` returns the previous
/// value. In brackets: further bounds of the value.
macro_rules! changes {
    ($then:ident) => {
        $then! {
            /// Writes the word.
            update set(value) [] = AtomicOp::Set(value.to_bits64()), AtomicSet;
            /// Writes the word, and returns the previous value.
            fetch swap(value) [] = AtomicOp::Swap(value.to_bits64()), AtomicSwap;
            /// Writes `desired` if the word is `expected`, bit for bit; returns the previous value.
            fetch compare_swap(expected, desired) []
                = AtomicOp::CompareSwap { expected: expected.to_bits64(), desired: desired.to_bits64() },
                AtomicCompareSwap;
            /// Adds one.
            update inc() [] = W::Value::ONE.addition(), AtomicInc;
            /// Adds one, and returns the previous value.
            fetch fetch_inc() [] = W::Value::ONE.addition(), AtomicFetchInc;
            /// Adds; integers wrap. Floating-point numbers are added in the order in which they arrive, so that sums may differ in their
            /// last digits from run to run; a sum that is not a number is `NAN`.
            update add(value) [] = value.addition(), AtomicAdd;
            /// As [`add`](Amo::add), and returns the previous value.
            fetch fetch_add(value) [] = value.addition(), AtomicFetchAdd;
            /// Sets the word to the smaller one of the word and `value`. For floating-point numbers, a number wins against a NaN, and -0 is
            /// smaller than 0.
            update set_min(value) [] = AtomicOp::Min(W::Value::NUMBER, value.to_bits64()), AtomicSetMin;
            /// As [`set_min`](Amo::set_min), and returns the previous value.
            fetch fetch_min(value) []
                = AtomicOp::Min(W::Value::NUMBER, value.to_bits64()), AtomicFetchMin;
            /// Sets the word to the larger one of the word and `value`. For floating-point numbers, a number wins against a NaN, and 0 is
            /// larger than -0.
            update set_max(value) [] = AtomicOp::Max(W::Value::NUMBER, value.to_bits64()), AtomicSetMax;
            /// As [`set_max`](Amo::set_max), and returns the previous value.
            fetch fetch_max(value) []
                = AtomicOp::Max(W::Value::NUMBER, value.to_bits64()), AtomicFetchMax;
            /// Bitwise and.
            update and(value) [Value: BitValue] = AtomicOp::And(value.to_bits64()), AtomicAnd;
            /// Bitwise and; returns the previous value.
            fetch fetch_and(value) [Value: BitValue]
                = AtomicOp::And(value.to_bits64()), AtomicFetchAnd;
            /// Bitwise or.
            update or(value) [Value: BitValue] = AtomicOp::Or(value.to_bits64()), AtomicOr;
            /// Bitwise or; returns the previous value.
            fetch fetch_or(value) [Value: BitValue] = AtomicOp::Or(value.to_bits64()), AtomicFetchOr;
            /// Bitwise exclusive or.
            update xor(value) [Value: BitValue] = AtomicOp::Xor(value.to_bits64()), AtomicXor;
            /// Bitwise exclusive or; returns the previous value.
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

/// Atomic memory operations. They are atomic with respect to each other, between PEs and between threads. An update of a word wakes
/// a PE that waits for the word.
///
/// Operations without a result (`set`, `add`, ...) are visible to every PE after `quiet`; the others are complete on return.
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
    /// Reads the word.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch`.
    #[inline(always)]
    #[track_caller]
    fn fetch<W: AtomicWord>(&self, word: On<'_, W>) -> W::Value {
        change(self.endpoint(), word, AtomicOp::Fetch, Family::AtomicFetch)
    }

    /// Writes a signal.
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

    /// Adds to a signal.
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

    /// Reads a signal.
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

/// Changes a word, an [`Atomic`](crate::object::Atomic) or a [`Signal`]; returns the previous value if the family fetches.
#[inline(always)]
#[track_caller]
fn change_bits<W: SymmetricData>(endpoint: &Endpoint, word: On<'_, W>, op: AtomicOp, family: Family) -> u64 {
    let width = Width::of::<W>();
    match endpoint.slot_of(word.pe()) {
        Some(slot) => {
            let slot = endpoint.start_of(slot);
            // SAFETY: `slot_of` found the mapped slot of a PE, in which the place is an aligned `W`: an `Atomic` or a `Signal` (callers),
            // so a word of its size.
            unsafe { on_node(slot, slot.wrapping_add(word.offset()), width, op) }
        }
        None => {
            let ((code, a, b), location) = (op.into_words(), Location::caller());
            let (pe, segment, offset) = (word.pe(), word.segment(), word.offset());
            // SAFETY: the place is an aligned `W` on every PE: an `Atomic` or a `Signal` (callers), so a word of its size. There is no
            // `before`.
            unsafe { change_slow(endpoint, pe, segment, offset, width, code, a, b, None, family, location) }
        }
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn update_signal(endpoint: &Endpoint, signal: On<'_, Signal>, op: SignalOp) {
    if let Some(slot) = endpoint.slot_of(signal.pe()) {
        let slot = endpoint.start_of(slot);
        // SAFETY: `slot_of` found the mapped slot of a PE. A signal is an aligned word of 8 bytes in every slot.
        return unsafe { signal_on_node(slot, slot.wrapping_add(signal.offset()), op) };
    }
    let family = match op {
        SignalOp::Set(_) => Family::SignalSet,
        SignalOp::Add(_) => Family::SignalAdd,
    };
    change_bits(endpoint, signal, op.into(), family);
}

/// Changes a signal of a PE on this node.
///
/// # Safety
///
/// As [`on_node`], of 8 bytes.
#[inline(always)]
pub unsafe fn signal_on_node(slot: *mut u8, signal: *mut u8, op: SignalOp) {
    // SAFETY: the caller's promise.
    let bell = unsafe { Endpoint::bell_at(slot) };
    // SAFETY: the caller's promise.
    unsafe { shm::signal(signal, op, bell) };
}

/// Changes a word of a PE on this node; returns the previous value.
///
/// # Safety
///
/// `slot` must be the start of a mapped slot, and `word` an aligned word of that width in it.
#[inline(always)]
pub unsafe fn on_node(slot: *mut u8, word: *mut u8, width: Width, op: AtomicOp) -> u64 {
    // SAFETY: the caller's promise.
    let bell = unsafe { Endpoint::bell_at(slot) };
    // SAFETY: the caller's promise.
    unsafe { shm::atomic(word, width, op, bell) }
}

/// Changes a word as [`change`] does, and writes the previous value to `before` until the endpoint is quiet.
///
/// # Safety
///
/// `before` must be aligned, writable, and nobody else's, until the endpoint is quiet.
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
            // SAFETY: `slot_of` found the mapped slot of a PE. An `AtomicWord` is an aligned word of its width in every slot.
            let bits = unsafe { on_node(slot, slot.wrapping_add(word.offset()), width, op) };
            // SAFETY: the caller's promise.
            unsafe { before.write(W::Value::from_bits64(bits)) };
        }
        None => {
            let ((code, a, b), location) = (op.into_words(), Location::caller());
            let (pe, segment, offset, to) = (word.pe(), word.segment(), word.offset(), Some(before.cast()));
            let family = family.form(Until::Quiet);
            // SAFETY: an `AtomicWord` is an aligned word of its width on every PE, and its value is as wide; `before` is the caller's
            // promise.
            unsafe { change_slow(endpoint, pe, segment, offset, width, code, a, b, to, family, location) };
        }
    }
}
