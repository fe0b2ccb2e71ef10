//! Atomic operations on words of other PEs.

use core::panic::Location;

use crate::data::SymmetricData;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue, On, Signal};
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::transport::{AtomicOp, SignalOp, Width, shm};

/// The bit operations, each with the form that gives what was there before.
macro_rules! bits {
    ($($(#[$doc:meta])* $name:ident = $family:ident / $fetch:ident = $fetch_family:ident, $op:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        fn $name<W: AtomicWord<Value: BitValue>>(&self, word: On<'_, W>, value: W::Value)
    where
        Self: Stores,
    {
            update(self.endpoint(), word, AtomicOp::$op(value.to_bits64()), Family::$family);
        }

        $(#[$doc])*
        ///
        /// Gives what was there before.
        #[inline(always)]
        #[track_caller]
        fn $fetch<W: AtomicWord<Value: BitValue>>(&self, word: On<'_, W>, value: W::Value) -> W::Value
    where
        Self: Stores,
    {
            fetching(self.endpoint(), word, AtomicOp::$op(value.to_bits64()), Family::$fetch_family)
        }
    )*};
}

/// The operations that keep one of two numbers, each with the form that gives what was there before.
macro_rules! bounds {
    ($($(#[$doc:meta])* $name:ident = $family:ident / $fetch:ident = $fetch_family:ident, $op:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        fn $name<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value)
        where
            Self: Stores,
        {
            let op = AtomicOp::$op(W::Value::NUMBER, value.to_bits64());
            update(self.endpoint(), word, op, Family::$family);
        }

        $(#[$doc])*
        ///
        /// Gives what was there before.
        #[inline(always)]
        #[track_caller]
        fn $fetch<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value) -> W::Value
        where
            Self: Stores,
        {
            let op = AtomicOp::$op(W::Value::NUMBER, value.to_bits64());
            fetching(self.endpoint(), word, op, Family::$fetch_family)
        }
    )*};
}

/// Atomic memory operations. All are atomic with respect to each other, between PEs and threads;
/// an update that a PE waits for wakes it.
///
/// The operations that give nothing back (`set`, `add`, ...) are visible to every PE after `quiet`;
/// the others have happened on return.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, object::*}; }
/// use shmem::{Amo, Atomic, On, Stores};
///
/// /// Takes a sample in: all samples' sum, and the least of them.
/// fn take_in(world: &impl Stores, sum: On<'_, Atomic<f64>>, least: On<'_, Atomic<f64>>, sample: f64) {
///     world.add(sum, sample);
///     world.set_min(least, sample);
/// }
/// ```
pub trait Amo: Initiator {
    /// Reads.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch`.
    #[inline(always)]
    #[track_caller]
    fn fetch<W: AtomicWord>(&self, word: On<'_, W>) -> W::Value {
        fetching(self.endpoint(), word, AtomicOp::Fetch, Family::AtomicFetch)
    }

    /// Writes.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_set`.
    #[inline(always)]
    #[track_caller]
    fn set<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value)
    where
        Self: Stores,
    {
        update(self.endpoint(), word, AtomicOp::Set(value.to_bits64()), Family::AtomicSet);
    }

    /// Writes, and gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_swap`.
    #[inline(always)]
    #[track_caller]
    fn swap<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value) -> W::Value
    where
        Self: Stores,
    {
        fetching(self.endpoint(), word, AtomicOp::Swap(value.to_bits64()), Family::AtomicSwap)
    }

    /// Writes `desired` if the word is `expected`, bit for bit; gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_compare_swap`.
    #[inline(always)]
    #[track_caller]
    fn compare_swap<W: AtomicWord>(&self, word: On<'_, W>, expected: W::Value, desired: W::Value) -> W::Value
    where
        Self: Stores,
    {
        let op = AtomicOp::CompareSwap { expected: expected.to_bits64(), desired: desired.to_bits64() };
        fetching(self.endpoint(), word, op, Family::AtomicCompareSwap)
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
        fetching_bits(self.endpoint(), signal, Width::W8, AtomicOp::Fetch, Family::SignalFetch)
    }

    /// Adds one.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_inc`.
    #[inline(always)]
    #[track_caller]
    fn inc<W: AtomicWord>(&self, word: On<'_, W>)
    where
        Self: Stores,
    {
        update(self.endpoint(), word, W::Value::ONE.addition(), Family::AtomicInc);
    }

    /// Adds one, and gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch_inc`.
    #[inline(always)]
    #[track_caller]
    fn fetch_inc<W: AtomicWord>(&self, word: On<'_, W>) -> W::Value
    where
        Self: Stores,
    {
        fetching(self.endpoint(), word, W::Value::ONE.addition(), Family::AtomicFetchInc)
    }

    /// Adds; integers wrap. Floating-point numbers are added in the order in which their additions come, so that sums
    /// may differ in their last digits from run to run; a sum that is no number is `NAN`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_add`.
    #[inline(always)]
    #[track_caller]
    fn add<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value)
    where
        Self: Stores,
    {
        update(self.endpoint(), word, value.addition(), Family::AtomicAdd);
    }

    /// As [`add`](Self::add), and gives what was there.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch_add`.
    #[inline(always)]
    #[track_caller]
    fn fetch_add<W: AtomicWord>(&self, word: On<'_, W>, value: W::Value) -> W::Value
    where
        Self: Stores,
    {
        fetching(self.endpoint(), word, value.addition(), Family::AtomicFetchAdd)
    }

    bounds! {
        /// Leaves the smaller one of the word and `value` in the word. Of floating-point numbers, a NaN loses against
        /// every number, and -0 is smaller than 0.
        set_min = AtomicSetMin / fetch_min = AtomicFetchMin, Min;
        /// Leaves the larger one of the word and `value` in the word. Of floating-point numbers, a NaN loses against
        /// every number, and 0 is larger than -0.
        set_max = AtomicSetMax / fetch_max = AtomicFetchMax, Max;
    }

    bits! {
        /// Bitwise and.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_atomic_and`.
        and = AtomicAnd / fetch_and = AtomicFetchAnd, And;
        /// Bitwise or.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_atomic_or`.
        or = AtomicOr / fetch_or = AtomicFetchOr, Or;
        /// Bitwise exclusive or.
        ///
        /// Source: OpenSHMEM 1.6, `shmem_atomic_xor`.
        xor = AtomicXor / fetch_xor = AtomicFetchXor, Xor;
    }
}

impl<I: Initiator + ?Sized> Amo for I {}

fn width_of<V: AmoValue>() -> Width {
    if size_of::<V>() == 8 { Width::W8 } else { Width::W4 }
}

#[inline(always)]
#[track_caller]
fn fetching<W: AtomicWord>(endpoint: &Endpoint, word: On<'_, W>, op: AtomicOp, family: Family) -> W::Value {
    W::Value::from_bits64(fetching_bits(endpoint, word, width_of::<W::Value>(), op, family))
}

#[inline(always)]
#[track_caller]
fn update<W: AtomicWord>(endpoint: &Endpoint, word: On<'_, W>, op: AtomicOp, family: Family) {
    update_bits(endpoint, word, width_of::<W::Value>(), op, family);
}

#[inline(always)]
#[track_caller]
fn fetching_bits<W: SymmetricData>(
    endpoint: &Endpoint,
    word: On<'_, W>,
    width: Width,
    op: AtomicOp,
    family: Family,
) -> u64 {
    match endpoint.slot_of(word.pe()) {
        Some(slot) => on_node(endpoint.start_of(slot), word.offset(), width, op),
        None => {
            let ((code, a, b), location) = (op.into_words(), Location::caller());
            let (pe, segment, offset) = (word.pe(), word.segment(), word.offset());
            fetching_slow(endpoint, pe, segment, offset, width, code, a, b, family, location)
        }
    }
}

#[inline(always)]
#[track_caller]
fn update_bits<W: SymmetricData>(
    endpoint: &Endpoint,
    word: On<'_, W>,
    width: Width,
    op: AtomicOp,
    family: Family,
) {
    match endpoint.slot_of(word.pe()) {
        Some(slot) => {
            on_node(endpoint.start_of(slot), word.offset(), width, op);
        }
        None => {
            let ((code, a, b), location) = (op.into_words(), Location::caller());
            let (pe, segment, offset) = (word.pe(), word.segment(), word.offset());
            update_slow(endpoint, pe, segment, offset, width, code, a, b, family, location);
        }
    }
}

/// Changes a signal, behind data that is there.
#[inline(always)]
#[track_caller]
pub(super) fn update_signal(endpoint: &Endpoint, signal: On<'_, Signal>, op: SignalOp) {
    if let Some(slot) = endpoint.slot_of(signal.pe()) {
        return signal_on_node(endpoint.start_of(slot), signal.offset(), op);
    }
    let family = match op {
        SignalOp::Set(_) => Family::SignalSet,
        SignalOp::Add(_) => Family::SignalAdd,
    };
    update_bits(endpoint, signal, Width::W8, op.into(), family);
}

/// `slot` is the start of the slot of a PE on this node.
#[inline(always)]
pub(super) fn signal_on_node(slot: *mut u8, offset: usize, op: SignalOp) {
    // SAFETY: `slot` is the start of a slot that a `Pe` carries.
    let bell = unsafe { Endpoint::bell_at(slot) };
    // SAFETY: callers pass the offset of a signal, which is an aligned word of 8 bytes in every slot.
    unsafe { shm::signal(slot.wrapping_add(offset), op, bell) };
}

/// As [`fetching`], with a result that is written later.
///
/// # Safety
///
/// `before` must be writable, and nobody else's, until the endpoint is quiet.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn fetch_nbi<W: AtomicWord>(
    endpoint: &Endpoint,
    before: *mut W::Value,
    word: On<'_, W>,
    op: AtomicOp,
    family: Family,
) {
    let width = width_of::<W::Value>();
    match endpoint.slot_of(word.pe()) {
        Some(slot) => {
            let bits = on_node(endpoint.start_of(slot), word.offset(), width, op);
            // SAFETY: the caller's promise.
            unsafe { before.write(W::Value::from_bits64(bits)) };
        }
        None => {
            let ((code, a, b), location) = (op.into_words(), Location::caller());
            let (pe, segment, offset) = (word.pe(), word.segment(), word.offset());
            // SAFETY: the caller's promise; a value is as wide as its word.
            unsafe {
                fetch_nbi_slow(
                    endpoint,
                    pe,
                    segment,
                    offset,
                    width,
                    code,
                    a,
                    b,
                    before.cast(),
                    family,
                    location,
                );
            }
        }
    }
}

/// # Safety
///
/// `before` must be aligned for the width, writable, and nobody else's, until the endpoint is quiet.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "words travel in registers; see `into_words`")]
pub(super) unsafe fn fetch_nbi_slow(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    width: Width,
    code: u32,
    a: u64,
    b: u64,
    before: *mut u8,
    family: Family,
    location: &'static Location<'static>,
) {
    let op = AtomicOp::from_words((code, a, b));
    let call =
        Call::new(family, location).at(pe, segment, offset, width.bytes()).word(width, op).with(before);
    endpoint.tell(call, || {
        if let Some(slot) = endpoint.mapped(pe, 0) {
            let bits = on_node(slot, offset, width, op);
            // SAFETY: the caller's promise.
            return unsafe { width.write(before, bits) };
        }
        let (far, word) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
        // SAFETY: the caller's promise; the word is one, see `slow`.
        unsafe { far.transport.atomic_nbi(far.channel, word, width, op, before) };
    });
}

macro_rules! slow {
    ($($name:ident = $method:ident, $near:expr, $result:ty;)*) => {$(
        #[cold]
        #[inline(never)]
        #[expect(clippy::too_many_arguments, reason = "words travel in registers; see `into_words`")]
        pub(super) fn $name(
            endpoint: &Endpoint,
            pe: Pe,
            segment: u32,
            offset: usize,
            width: Width,
            code: u32,
            a: u64,
            b: u64,
            family: Family,
            location: &'static Location<'static>,
        ) -> $result {
            let op = AtomicOp::from_words((code, a, b));
            let call = Call::new(family, location).at(pe, segment, offset, width.bytes()).word(width, op);
            endpoint.tell(call, || {
                if let Some(slot) = endpoint.mapped(pe, 0) {
                    return ($near)(on_node(slot, offset, width, op));
                }
                let (far, word) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
                // SAFETY: callers pass an aligned word of that width on every PE: `AtomicWord` is sealed
                // to words that are laid out as their number.
                unsafe { far.transport.$method(far.channel, word, width, op) }
            })
        }
    )*};
}
slow! {
    fetching_slow = atomic, |before| before, u64;
    update_slow = atomic_update, |_| (), ();
}

/// `slot` is the start of the slot of a PE on this node.
#[inline(always)]
fn on_node(slot: *mut u8, offset: usize, width: Width, op: AtomicOp) -> u64 {
    // SAFETY: `slot` is the start of a slot that a `Pe` carries.
    let bell = unsafe { Endpoint::bell_at(slot) };
    // SAFETY: callers pass the offset of an aligned word of that width in every slot.
    unsafe { shm::atomic(slot.wrapping_add(offset), width, op, bell) }
}
