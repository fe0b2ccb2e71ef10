//! Put and get.

use std::ffi::c_int;
use std::panic::Location;

use shmem_core::context::untyped;
use shmem_core::observe::Family;
use shmem_core::transport::Remote;

use crate::symmetric;
use crate::table::routines;
use crate::types::{Ctx, Item};
use crate::world::stream;

routines! {
    numbers {
        ctx "" "_p" (dest: *mut T, value: T, pe: c_int) [shmem_p 0] = p::<T>;
        ctx "" "_g" (source: *const T, pe: c_int) -> T [shmem_g 0] = g::<T>;
    }
}

/// Where a PE has what lies at an address here, and where its slot starts, if an operation goes there straight away.
#[inline(always)]
pub(crate) fn near<T>(ctx: Ctx, routine: &str, pointer: *const T, pe: c_int) -> Option<(*mut T, *mut u8)> {
    let offset = symmetric::offset(pointer)?;
    let base = stream(ctx, routine).base(pe);
    let slot: *mut u8 = std::ptr::with_exposed_provenance_mut(base);
    (base != 0).then(|| (slot.wrapping_add(offset).cast(), slot))
}

/// The place of so many bytes of a PE, for the cold way; refused if there is none.
pub(crate) fn remote<T>(
    ctx: Ctx,
    routine: &str,
    pointer: *const T,
    bytes: usize,
    argument: &str,
    pe: c_int,
) -> Remote {
    let pe = stream(ctx, routine).pe(routine, pe);
    let place = symmetric::locate(pointer, bytes, routine, argument);
    Remote { pe, segment: place.segment, offset: place.offset }
}

#[inline(always)]
unsafe fn p<T: Item>(ctx: Ctx, routine: &'static str, dest: *mut T, value: T, pe: c_int) {
    let Some((to, slot)) = near(ctx, routine, dest, pe) else {
        // SAFETY: the caller's promise.
        return unsafe { p_far(ctx, routine, dest, value, pe) };
    };
    // SAFETY: the place is symmetric memory of a PE of this node (`near`).
    unsafe { untyped::store(to, value) };
    // SAFETY: the start of its slot (`near`).
    unsafe { untyped::ring(slot) };
}

#[cold]
#[inline(never)]
unsafe fn p_far<T: Item>(ctx: Ctx, routine: &'static str, dest: *mut T, value: T, pe: c_int) {
    let to = remote(ctx, routine, dest, size_of::<T>(), "dest", pe);
    let endpoint = stream(ctx, routine).endpoint(routine);
    // SAFETY: so many bytes lie in the segment (`remote`); a `p` is over when it returns.
    unsafe {
        untyped::put(endpoint, to, (&raw const value).cast(), size_of::<T>(), Family::P, Location::caller());
    }
}

#[inline(always)]
unsafe fn g<T: Item>(ctx: Ctx, routine: &'static str, source: *const T, pe: c_int) -> T {
    match near(ctx, routine, source, pe) {
        // SAFETY: the place is symmetric memory of a PE of this node (`near`).
        Some((from, _)) => unsafe { untyped::load(from) },
        // SAFETY: the caller's promise.
        None => unsafe { g_far(ctx, routine, source, pe) },
    }
}

#[cold]
#[inline(never)]
unsafe fn g_far<T: Item>(ctx: Ctx, routine: &'static str, source: *const T, pe: c_int) -> T {
    let from = remote(ctx, routine, source, size_of::<T>(), "source", pe);
    let endpoint = stream(ctx, routine).endpoint(routine);
    let mut value = T::zeroed();
    // SAFETY: so many bytes lie in the segment (`remote`); a `g` is over when it returns.
    unsafe {
        untyped::get(endpoint, (&raw mut value).cast(), from, size_of::<T>(), Family::G, Location::caller());
    }
    value
}
