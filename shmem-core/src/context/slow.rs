//! Put, get and put with a signal where they cannot go straight to the arena: the observer is told, and they go there after
//! all, or through the transport. What a family calls non-blocking may then go on.

use core::panic::Location;

use super::amo::signal_on_node;
use crate::data::PlainData;
use crate::endpoint::Endpoint;
use crate::object::On;
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::transport::{SignalOp, shm};

/// Where a put cannot go straight to the arena: it is told to the observer, and goes there or through the
/// transport. By value: a reference to `value` would keep it in memory on the way to the store, too.
///
/// # Safety
///
/// The place must be an aligned `T` on every PE, and `segment` tell of it (`On::tagged_segment`).
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
    endpoint.tell(call, || match endpoint.mapped(pe, offset) {
        // SAFETY: the caller's promise.
        Some(to) => unsafe { shm::store(to.cast::<T>(), value, is_named) },
        // SAFETY: the place has so many bytes on every PE (caller), and so has `value`; a `p` is over when it returns.
        None => unsafe { send(endpoint, pe, segment, offset, from, size_of::<T>(), Family::P) },
    });
}

/// # Safety
///
/// As [`p_slow`].
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
            // SAFETY: the caller's promise.
            return unsafe { shm::load(from.cast::<T>(), is_named) };
        }
        let mut value = T::zeroed();
        // SAFETY: the place has so many bytes on every PE (caller), and so has `value`; a `g` is over when it returns.
        unsafe { fetch(endpoint, (&raw mut value).cast(), pe, segment, offset, size_of::<T>(), Family::G) };
        value
    })
}

/// # Safety
///
/// `bytes` bytes must be readable, and lie in the segment of every PE.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
pub(super) unsafe fn put_slow(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    bytes: usize,
    family: Family,
    location: &'static Location<'static>,
) {
    let call = Call::new(family, location).at(pe, segment, offset, bytes).with(from);
    endpoint.tell(call, || match endpoint.mapped(pe, offset) {
        // SAFETY: the caller's promise.
        Some(to) => unsafe { shm::put(to, from, bytes) },
        // SAFETY: the caller's promise.
        None => unsafe { send(endpoint, pe, segment, offset, from, bytes, family) },
    });
}

/// # Safety
///
/// `bytes` bytes must be writable, and lie in the segment of every PE.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as one, they would be written to memory before the branch")]
pub(super) unsafe fn get_slow(
    endpoint: &Endpoint,
    to: *mut u8,
    pe: Pe,
    segment: u32,
    offset: usize,
    bytes: usize,
    family: Family,
    location: &'static Location<'static>,
) {
    let call = Call::new(family, location).at(pe, segment, offset, bytes).with(to);
    endpoint.tell(call, || match endpoint.mapped(pe, offset) {
        // SAFETY: the caller's promise.
        Some(from) => unsafe { shm::get(to, from, bytes) },
        // SAFETY: the caller's promise.
        None => unsafe { fetch(endpoint, to, pe, segment, offset, bytes, family) },
    });
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
        if let Some(slot) = endpoint.mapped(pe, 0) {
            // SAFETY: the caller's promise.
            unsafe { shm::put(slot.wrapping_add(offset), from, bytes) };
            signal_on_node(slot, signal_offset, op);
            return;
        }
        let (far, channel) = (&endpoint.far().transport, endpoint.far().channel);
        let to = Endpoint::remote(pe, segment, offset);
        let signal = Endpoint::remote(pe, signal_segment, signal_offset);
        // SAFETY: the caller's promise, for as long as the family says.
        unsafe { far.put_signal(channel, to, from, bytes, signal, op, family.until()) };
    });
}

/// # Safety
///
/// As [`put_slow`].
unsafe fn send(
    endpoint: &Endpoint,
    pe: Pe,
    segment: u32,
    offset: usize,
    from: *const u8,
    bytes: usize,
    family: Family,
) {
    let (far, to) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
    // SAFETY: the caller's promise, for as long as the family says.
    unsafe { far.transport.put(far.channel, to, from, bytes, family.until()) };
}

/// # Safety
///
/// As [`get_slow`].
unsafe fn fetch(
    endpoint: &Endpoint,
    to: *mut u8,
    pe: Pe,
    segment: u32,
    offset: usize,
    bytes: usize,
    family: Family,
) {
    let (far, from) = (endpoint.far(), Endpoint::remote(pe, segment, offset));
    // SAFETY: the caller's promise, for as long as the family says.
    unsafe { far.transport.get(far.channel, to, from, bytes, family.until()) };
}
