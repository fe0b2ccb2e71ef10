//! Operations on addresses, for the C library. They have raw pointers and offsets as arguments, and borrow nothing.
//!
//! A program in C accesses the memory of PEs of its own node directly, by [`store`], [`load`], [`copy`], [`on_node`] and
//! [`signal_on_node`]. The other functions have an endpoint, notify its observer, and choose between shared memory and transport.
//!
//! Programs in C may wait for the data of a put and for plain stores of other threads, not only for atomic words. Before [`wait`]
//! sleeps, it announces itself, makes all running threads of all processes that called [`expect_fences`] execute a fence
//! (membarrier), and checks again. Due to that fence a put needs none of its own: after its stores, a load and a branch suffice to
//! find a waiter ([`ring`]). Sleeps are short, because plain stores do not wake a waiter.

use core::panic::Location;
use core::ptr::NonNull;
use core::time::Duration;

use bytemuck::Pod;

pub use super::amo::{on_node, signal_on_node};
use super::fence_quiet::quiet_through;
pub use super::fence_quiet::{fence_through as fence, quiet_pe_through as quiet_pe};
use super::out_of_line::{change_slow, get_slow, put_signal_slow, put_slow};
use super::strided;
pub use super::strided::get_blocks;
pub use super::wait::{Relation, look};
pub use super::wait_set::WordSet;
use crate::endpoint::Endpoint;
use crate::observe::{Call, Family};
use crate::pe::Pe;
pub use crate::shared::{copy, read as load};
use crate::strided::Level;
use crate::system_area::Activity;
use crate::transport::{AtomicOp, Remote, SignalOp, Width, shm};

/// The longest sleep of a waiter, and therefore the longest delay until the waiter sees a plain store.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// Commands of membarrier(2), as in `linux/membarrier.h`.
const GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
const REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

/// Writes a value to symmetric memory of this node.
///
/// # Safety
///
/// `to` must be writable for the size of a `T`, in symmetric memory of a PE of this node.
#[inline(always)]
pub unsafe fn store<T: Pod>(to: *mut T, value: T) {
    // `true` is `is_named`, because C programs may access `to` in several sizes, and without Rust's alignment.
    // SAFETY: `to` is writable for a `T` (caller), and with `is_named` a store needs no alignment.
    unsafe { shm::store(to, value, true) };
}

/// Wakes the PE whose slot starts at `slot`, if it waits. Called after stores to the slot.
///
/// # Safety
///
/// `slot` must be the start of a mapped slot.
#[inline(always)]
pub unsafe fn ring(slot: *mut u8) {
    // SAFETY: `slot` is the start of a mapped slot (caller).
    unsafe { Endpoint::bell_at(slot) }.ring_behind_any_store();
}

/// Writes bytes to a PE of any node.
///
/// # Safety
///
/// `from` must be readable for `bytes` bytes for as long as `family.until()` says. The segment of `to` must have `bytes` bytes at
/// the offset of `to`, on every PE.
pub unsafe fn put(endpoint: &Endpoint, to: Remote, from: *const u8, bytes: usize, family: Family) {
    // SAFETY: the caller guarantees what `put_slow` requires.
    unsafe { put_slow(endpoint, to.pe, to.segment, to.offset, from, bytes, family, Location::caller()) };
    wake(endpoint, to.pe);
}

/// Reads bytes from a PE of any node.
///
/// # Safety
///
/// `to` must be writable for `bytes` bytes for as long as `family.until()` says. The segment of `from` must have `bytes` bytes at
/// the offset of `from`, on every PE.
pub unsafe fn get(endpoint: &Endpoint, to: *mut u8, from: Remote, bytes: usize, family: Family) {
    // SAFETY: the caller guarantees what `get_slow` requires.
    unsafe { get_slow(endpoint, from.pe, from.segment, from.offset, to, bytes, family, Location::caller()) };
}

/// Writes bytes, then applies `op` to a signal.
///
/// # Safety
///
/// As [`put`]. In addition, `signal` must be an aligned signal of eight bytes on the PE of `to`.
pub unsafe fn put_signal(
    endpoint: &Endpoint,
    to: Remote,
    from: *const u8,
    bytes: usize,
    signal: Remote,
    op: SignalOp,
    family: Family,
) {
    let (Remote { pe, segment, offset }, (to_segment, to)) = (to, (signal.segment, signal.offset));
    let location = Location::caller();
    // SAFETY: the caller guarantees what `put_signal_slow` requires.
    unsafe {
        put_signal_slow(endpoint, pe, segment, offset, from, bytes, to_segment, to, op, family, location);
    };
}

/// Applies `op` to a word. A `family` that fetches returns the previous value, or writes it to `before` if the family is
/// non-blocking. For every other family, pass `None`.
///
/// # Safety
///
/// `word` must be an aligned word of `width` on every PE. If `before` is `Some`, it must be aligned for `width` and writable until
/// the endpoint is quiet, and nothing else may access it.
pub unsafe fn atomic(
    endpoint: &Endpoint,
    before: Option<NonNull<u8>>,
    word: Remote,
    width: Width,
    op: AtomicOp,
    family: Family,
) -> u64 {
    let (Remote { pe, segment, offset }, (code, a, b)) = (word, op.into_words());
    let location = Location::caller();
    // SAFETY: the caller guarantees what `change_slow` requires.
    unsafe { change_slow(endpoint, pe, segment, offset, width, code, a, b, before, family, location) }
}

/// Writes blocks of `block` bytes. All addresses and strides must be multiples of `align`.
///
/// # Safety
///
/// As [`put`], for every block. Destination blocks must not overlap, and gaps between blocks of the source must be readable.
#[inline]
#[track_caller]
pub unsafe fn put_blocks(
    endpoint: &Endpoint,
    to: Remote,
    from: *const u8,
    block: usize,
    level: Level,
    align: usize,
    family: Family,
) {
    // SAFETY: the caller guarantees what `put` requires, for every block, and that destination blocks do not overlap.
    unsafe { strided::put_blocks(endpoint, to, from, block, level, align, family) };
    wake(endpoint, to.pe);
}

/// Blocks until an endpoint's operations are complete.
#[inline]
#[track_caller]
pub fn quiet(endpoint: &Endpoint) {
    quiet_through(endpoint, Location::caller());
}

/// Blocks until `done`, which checks words of the calling PE, is true. Observers get `call`. Reports of long waits show `activity`.
pub fn wait<'c>(
    endpoint: &Endpoint,
    call: impl FnOnce() -> Call<'c>,
    mut done: impl FnMut() -> bool,
    activity: impl Fn() -> Activity,
) {
    if endpoint.is_plain() && done() {
        return;
    }
    let rest = || {
        endpoint.waiting().until(
            0,
            endpoint,
            done,
            |timeout, done| {
                let timeout = timeout.map_or(LONGEST_SLEEP, |limit| limit.min(LONGEST_SLEEP));
                endpoint.bell().watch(Some(timeout), || {
                    membarrier(GLOBAL_EXPEDITED);
                    done()
                });
            },
            activity,
        );
    };
    match endpoint.observer() {
        None => rest(),
        Some(_) => endpoint.tell(call(), rest),
    }
}

/// Registers this process for membarrier, so that waiters of other processes can make its threads execute a fence.
pub fn expect_fences() {
    membarrier(REGISTER_GLOBAL_EXPEDITED);
}

/// Calls membarrier. On kernels without membarrier, a waiter that missed a put sees it after one short sleep.
fn membarrier(command: libc::c_int) {
    // SAFETY: these commands of membarrier access no memory of the caller.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
}

/// Wakes a PE of this node after plain stores, if it waits.
fn wake(endpoint: &Endpoint, pe: Pe) {
    if let Some(slot) = endpoint.mapped(pe, 0) {
        // SAFETY: `slot` is the start of a mapped slot, because `mapped` returned it for offset 0.
        unsafe { ring(slot) };
    }
}
