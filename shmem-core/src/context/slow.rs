//! Put and get where they cannot go straight to the arena: the observer is told, and they go there after all,
//! or through the transport. What a family calls non-blocking may then go on.

use core::panic::Location;

use crate::data::PlainData;
use crate::endpoint::Endpoint;
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::transport::shm;

/// Where a put cannot go straight to the arena: it is told to the observer, and goes there or through the
/// transport. By value: a reference to `value` would keep it in memory on the way to the store, too.
///
/// # Safety
///
/// The place must be an aligned `T` on every PE.
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
    let call = Call::new(family, location).at(pe, segment, offset, size_of::<T>());
    endpoint.tell(call, || match endpoint.mapped(pe, offset) {
        // SAFETY: the caller's promise.
        Some(to) => unsafe { shm::store(to.cast::<T>(), value) },
        // SAFETY: as above.
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
    let call = Call::new(Family::G, location).at(pe, segment, offset, size_of::<T>());
    endpoint.tell(call, || {
        if let Some(from) = endpoint.mapped(pe, offset) {
            // SAFETY: the caller's promise.
            return unsafe { shm::load(from.cast::<T>()) };
        }
        let mut value = T::zeroed();
        // SAFETY: as above; `value` has as many bytes.
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
        // SAFETY: as above.
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
        // SAFETY: as above.
        None => unsafe { fetch(endpoint, to, pe, segment, offset, bytes, family) },
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
    if family.is_nonblocking() {
        // SAFETY: the caller's promise.
        unsafe { far.transport.put_nbi(far.channel, to, from, bytes) };
    } else {
        // SAFETY: as above.
        unsafe { far.transport.put(far.channel, to, from, bytes) };
    }
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
    if family.is_nonblocking() {
        // SAFETY: the caller's promise.
        unsafe { far.transport.get_nbi(far.channel, to, from, bytes) };
    } else {
        // SAFETY: as above.
        unsafe { far.transport.get(far.channel, to, from, bytes) };
    }
}
