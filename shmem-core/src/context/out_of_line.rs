//! The parts of put, get, put with a signal and atomics that are not inlined: for jobs with an observer (such as a trace), and for
//! PEs of other nodes. Each function notifies the observer, and uses the node's shared memory or the transport.

use core::panic::Location;
use core::ptr::{self, NonNull};

use super::amo::{on_node, signal_on_node};
use crate::endpoint::Endpoint;
use crate::object::On;
use crate::observe::{Call, Effect, Family};
use crate::pe::Pe;
use crate::symmetric_data::PlainData;
use crate::transport::{AtomicOp, Remote, SignalOp, Until, Width, shm};

/// Writes `value` to a place. The value is not passed by reference, because it would then be in memory on the caller's fast path
/// too.
///
/// # Safety
///
/// At `offset`, every PE must have an aligned `T`. `segment` must be the place's [`On::tagged_segment`].
#[cold]
#[inline(never)]
pub(super) unsafe fn p_slow<T: PlainData>(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    value: T,
    family: Family,
    location: &'static Location<'static>,
) {
    let from = core::ptr::from_ref(&value).cast::<u8>();
    let (segment, is_named) = On::<T>::untagged(segment);
    let call = Call::new(family, location).at(pe, segment, offset, size_of::<T>());
    endpoint.tell(call, || {
        if let Some(to) = endpoint.mapped(pe, offset) {
            // SAFETY: `to` is an aligned `T` in a mapped slot (caller).
            return unsafe { shm::store(to.cast::<T>(), value, is_named) };
        }
        let (far, to) = (endpoint.far(), Remote { pe, segment, offset });
        // SAFETY: the place on every PE has the size of a `T` (caller), as `value` does, which lives until the put has returned.
        unsafe { far.transport.put(far.channel, to, from, size_of::<T>(), Until::Return) };
    });
}

/// # Safety
///
/// At `offset`, every PE must have an aligned `T`. `segment` must be the place's [`On::tagged_segment`].
#[cold]
#[inline(never)]
pub(super) unsafe fn g_slow<T: PlainData>(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    location: &'static Location<'static>,
) -> T {
    let (segment, is_named) = On::<T>::untagged(segment);
    let call = Call::new(Family::G, location).at(pe, segment, offset, size_of::<T>());
    endpoint.tell(call, || {
        if let Some(from) = endpoint.mapped(pe, offset) {
            // SAFETY: `from` is an aligned `T` in a mapped slot (caller).
            return unsafe { shm::load(from.cast::<T>(), is_named) };
        }
        let (far, from, mut value) = (endpoint.far(), Remote { pe, segment, offset }, T::zeroed());
        let to = (&raw mut value).cast();
        // SAFETY: the place on every PE has the size of a `T` (caller), as `value` does, which lives until the get has returned.
        unsafe { far.transport.get(far.channel, to, from, size_of::<T>(), Until::Return) };
        value
    })
}

macro_rules! slow {
    ($($safety:literal: $name:ident($local:ident: $pointer:ty) = $method:ident, |$place:ident| ($to:ident, $from:ident);)*) => {$(
        /// Transfers `bytes` bytes to or from `pe`.
        ///
        /// # Safety
        ///
        #[doc = $safety]
        #[cold]
        #[inline(never)]
        #[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
        pub(super) unsafe fn $name(
            endpoint: &Endpoint,
            pe: Pe,
            segment: u32,
            offset: usize,
            $local: $pointer,
            bytes: usize,
            family: Family,
            location: &'static Location<'static>,
        ) {
            let call = Call::new(family, location).at(pe, segment, offset, bytes).with($local);
            endpoint.tell(call, || {
                if let Some($place) = endpoint.mapped(pe, offset) {
                    // SAFETY: `$to` and `$from` are valid for `bytes` bytes (caller).
                    return unsafe { shm::$method($to, $from, bytes) };
                }
                let (far, $place) = (endpoint.far(), Remote { pe, segment, offset });
                // SAFETY: the remote range is in the segment, and `$local` is valid for as long as `family` requires (caller).
                unsafe { far.transport.$method(far.channel, $to, $from, bytes, family.until()) };
            });
        }
    )*};
}
slow! {
    "`bytes` bytes must be readable from `from` on for as long as the family says, and lie in the segment of every PE.":
    put_slow(from: *const u8) = put, |to| (to, from);
    "`bytes` bytes must be writable from `to` on for as long as the family says, and lie in the segment of every PE.":
    get_slow(to: *mut u8) = get, |from| (to, from);
}

/// # Safety
///
/// `from` must be readable for `bytes` bytes for as long as `family.until()` says. Every PE must have that many bytes at `offset`
/// in the segment. At `signal_offset`, `pe` must have an aligned signal.
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
    let call = Call { signal: Some(signal_offset), ..call.word(Width::W8, op.into()) };
    endpoint.tell(call, || {
        if let Some(slot) = endpoint.mapped(pe, 0) {
            // SAFETY: `from` is readable for `bytes` bytes, and the slot has that many bytes at `offset` (caller).
            unsafe { shm::put(slot.wrapping_add(offset), from, bytes) };
            // SAFETY: the slot has a signal at `signal_offset` (caller).
            return unsafe { signal_on_node(slot, slot.wrapping_add(signal_offset), op) };
        }
        let (far, channel) = (&endpoint.far().transport, endpoint.far().channel);
        let to = Remote { pe, segment, offset };
        let signal = Remote { pe, segment: signal_segment, offset: signal_offset };
        // SAFETY: both places are on `pe`, and `from` is readable for as long as `family` requires (caller).
        unsafe { far.put_signal(channel, to, from, bytes, signal, op, family.until()) };
    });
}

/// Applies `op` to a word. A `family` that fetches returns the previous value, or writes it to `before` if the family is
/// non-blocking. For every other family `before` is `None`.
///
/// # Safety
///
/// At `offset`, every PE must have an aligned word of `width`. If `before` is `Some`, it must be aligned for `width` and writable
/// until the endpoint is quiet, and nothing else may access it.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "words travel in registers; see `into_words`")]
pub(super) unsafe fn change_slow(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    width: Width,
    code: u32,
    a: u64,
    b: u64,
    before: Option<NonNull<u8>>,
    family: Family,
    location: &'static Location<'static>,
) -> u64 {
    debug_assert_eq!(before.is_some(), family.until() == Until::Quiet, "{family}");
    let before = before.map(NonNull::as_ptr);
    let op = AtomicOp::from_words((code, a, b));
    let call = Call::new(family, location).at(pe, segment, offset, width.bytes()).word(width, op);
    endpoint.tell(call.with(before.unwrap_or(ptr::null_mut())), || {
        if let Some(slot) = endpoint.mapped(pe, 0) {
            // SAFETY: the mapped slot has an aligned word of `width` at `offset` (caller).
            let bits = unsafe { on_node(slot, slot.wrapping_add(offset), width, op) };
            if let Some(before) = before {
                // SAFETY: `before` is aligned for `width` and writable (caller).
                unsafe { width.write(before, bits) };
            }
            return bits;
        }
        let (far, word) = (endpoint.far(), Remote { pe, segment, offset });
        match (before, family.effect()) {
            // SAFETY: `word` is an aligned word of `width`, and `before` is valid until the endpoint is quiet (caller).
            (Some(before), _) => unsafe { far.transport.atomic_nbi(far.channel, word, width, op, before) },
            (None, Effect::Fetch) => {
                // SAFETY: `word` is an aligned word of `width` (caller).
                return unsafe { far.transport.atomic(far.channel, word, width, op) };
            }
            // SAFETY: `word` is an aligned word of `width` (caller).
            _ => unsafe { far.transport.atomic_update(far.channel, word, width, op) },
        }
        0
    })
}
