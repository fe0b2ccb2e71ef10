//! Atomic operations on words of other PEs.

use crate::data::SymmetricData;
use crate::endpoint::{Endpoint, Initiator};
use crate::object::{AmoValue, AtomicWord, BitValue, NumberValue, On, Signal};
use crate::pe::Pe;
use crate::transport::{AtomicOp, Width, shm};

/// The bit operations, each with the form that gives what was there before.
macro_rules! bits {
    ($($(#[$doc:meta])* $name:ident / $fetch:ident = $op:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        fn $name<W: AtomicWord<Value: BitValue>>(&self, word: On<'_, W>, value: W::Value) {
            update(self.endpoint(), word, AtomicOp::$op(value.to_bits64()));
        }

        $(#[$doc])*
        ///
        /// Gives what was there before.
        #[inline]
        fn $fetch<W: AtomicWord<Value: BitValue>>(&self, word: On<'_, W>, value: W::Value) -> W::Value {
            fetching(self.endpoint(), word, AtomicOp::$op(value.to_bits64()))
        }
    )*};
}

/// Atomic memory operations. All are atomic with respect to each other, between PEs and threads;
/// an update that a PE waits for wakes it.
///
/// The operations that give nothing back (`set`, `add`, ...) are visible to every PE after `quiet`;
/// the others have happened on return.
pub trait Amo: Initiator {
    /// Reads.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch`.
    #[inline]
    fn fetch<W: AtomicWord>(&self, word: On<'_, W>) -> W::Value {
        fetching(self.endpoint(), word, AtomicOp::Fetch)
    }

    /// Writes.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_set`.
    #[inline]
    fn set<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value) {
        update(self.endpoint(), word, AtomicOp::Set(value.to_bits64()));
    }

    /// Writes, and gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_swap`.
    #[inline]
    fn swap<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value) -> W::Value {
        fetching(self.endpoint(), word, AtomicOp::Swap(value.to_bits64()))
    }

    /// Writes `desired` if the word is `expected`, bit for bit; gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_compare_swap`.
    #[inline]
    fn compare_swap<W: AtomicWord>(
        &self,
        word: On<'_, W>,
        expected: W::Value,
        desired: W::Value,
    ) -> W::Value {
        let op = AtomicOp::CompareSwap { expected: expected.to_bits64(), desired: desired.to_bits64() };
        fetching(self.endpoint(), word, op)
    }

    /// Writes a signal.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_signal_set`.
    #[inline]
    fn signal_set(&self, signal: On<'_, Signal>, value: u64) {
        update_bits(self.endpoint(), signal, Width::W8, AtomicOp::Set(value));
    }

    /// Adds to a signal.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_signal_add`.
    #[inline]
    fn signal_add(&self, signal: On<'_, Signal>, value: u64) {
        update_bits(self.endpoint(), signal, Width::W8, AtomicOp::Add(value));
    }

    /// Reads a signal.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_signal_fetch`.
    #[inline]
    fn signal_fetch(&self, signal: On<'_, Signal>) -> u64 {
        fetching_bits(self.endpoint(), signal, Width::W8, AtomicOp::Fetch)
    }

    /// Adds one.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_inc`.
    #[inline]
    fn inc<W: AtomicWord<Value: NumberValue>>(&self, word: On<'_, W>) {
        self.add(word, W::Value::ONE);
    }

    /// Adds one, and gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch_inc`.
    #[inline]
    fn fetch_inc<W: AtomicWord<Value: NumberValue>>(&self, word: On<'_, W>) -> W::Value {
        self.fetch_add(word, W::Value::ONE)
    }

    /// Adds, wrapping.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_add`.
    #[inline]
    fn add<W: AtomicWord<Value: NumberValue>>(&self, word: On<'_, W>, value: W::Value) {
        update(self.endpoint(), word, AtomicOp::Add(value.to_bits64()));
    }

    /// Adds, wrapping, and gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch_add`.
    #[inline]
    fn fetch_add<W: AtomicWord<Value: NumberValue>>(&self, word: On<'_, W>, value: W::Value) -> W::Value {
        fetching(self.endpoint(), word, AtomicOp::Add(value.to_bits64()))
    }

    bits! {
        /// Bitwise and.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_atomic_and`.
        and / fetch_and = And;
        /// Bitwise or.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_atomic_or`.
        or / fetch_or = Or;
        /// Bitwise exclusive or.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_atomic_xor`.
        xor / fetch_xor = Xor;
    }
}

impl<I: Initiator + ?Sized> Amo for I {}

fn width_of<V: AmoValue>() -> Width {
    if size_of::<V>() == 8 { Width::W8 } else { Width::W4 }
}

#[inline(always)]
fn fetching<W: AtomicWord>(endpoint: &Endpoint, word: On<'_, W>, op: AtomicOp) -> W::Value {
    W::Value::from_bits64(fetching_bits(endpoint, word, width_of::<W::Value>(), op))
}

#[inline(always)]
fn update<W: AtomicWord>(endpoint: &Endpoint, word: On<'_, W>, op: AtomicOp) {
    update_bits(endpoint, word, width_of::<W::Value>(), op);
}

#[inline(always)]
fn fetching_bits<W: SymmetricData>(endpoint: &Endpoint, word: On<'_, W>, width: Width, op: AtomicOp) -> u64 {
    match word.pe().slot() {
        Some(slot) => on_node(endpoint, slot, word.offset(), width, op),
        None => {
            let (code, a, b) = op.into_words();
            fetching_far(endpoint, word.pe(), word.segment(), word.offset(), width, code, a, b)
        }
    }
}

#[inline(always)]
pub(super) fn update_bits<W: SymmetricData>(
    endpoint: &Endpoint,
    word: On<'_, W>,
    width: Width,
    op: AtomicOp,
) {
    match word.pe().slot() {
        Some(slot) => {
            on_node(endpoint, slot, word.offset(), width, op);
        }
        None => {
            let (code, a, b) = op.into_words();
            update_far(endpoint, word.pe(), word.segment(), word.offset(), width, code, a, b);
        }
    }
}

macro_rules! far {
    ($($name:ident = $method:ident -> $result:ty;)*) => {$(
        #[cold]
        #[inline(never)]
        #[expect(clippy::too_many_arguments, reason = "words travel in registers; see `into_words`")]
        fn $name(
            endpoint: &Endpoint,
            pe: Pe,
            segment: u32,
            offset: usize,
            width: Width,
            code: u32,
            a: u64,
            b: u64,
        ) -> $result {
            let (far, word) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
            let op = AtomicOp::from_words((code, a, b));
            // SAFETY: callers pass an aligned word of that width on every PE: `AtomicWord` is sealed
            // to words that are laid out as their number.
            unsafe { far.transport.$method(far.channel, word, width, op) }
        }
    )*};
}
far! {
    fetching_far = atomic -> u64;
    update_far = atomic_update -> ();
}

#[inline(always)]
fn on_node(endpoint: &Endpoint, slot: usize, offset: usize, width: Width, op: AtomicOp) -> u64 {
    let place = endpoint.place(slot);
    // SAFETY: `place` is the start of the place of a slot that a `Pe` carries.
    let bell = unsafe { Endpoint::bell_at(place) };
    // SAFETY: callers pass the offset of an aligned word of that width in every place.
    unsafe { shm::atomic(place.wrapping_add(offset), width, op, bell) }
}
