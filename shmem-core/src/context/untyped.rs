//! Operations on addresses, for the C library. Arguments replace the types of Rust, and nothing is borrowed.
//!
//! On the node a program in C uses the arena directly, by [`store`], [`load`], [`copy`], [`on_node`] and [`signal_on_node`].
//! The other functions take the endpoint, notify its observer, and choose between the arena and the transport.
//!
//! Programs in C may wait for data of a put, and for plain stores of other threads; programs in Rust wait for atomic words only.
//! So [`wait`] announces itself, then makes all running threads of all processes that called [`expect_fences`] execute a
//! fence (membarrier), and looks a last time. So a put needs only a load and a branch to find a waiter ([`ring`]). Sleeps are short,
//! because plain stores ring no bell.

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

/// The longest sleep of a waiter, and so the longest delay until it sees a plain store.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// Commands of membarrier(2) (`linux/membarrier.h`).
const GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
const REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

/// Writes a value.
///
/// # Safety
///
/// `to` must be writable symmetric memory of a PE of this node, for the size of a `T`.
#[inline(always)]
pub unsafe fn store<T: Pod>(to: *mut T, value: T) {
    // C programs may use other sizes at the same place, and need no alignment where their compiler needs none.
    // SAFETY: the caller's promise; a named place needs no alignment.
    unsafe { shm::store(to, value, true) };
}

/// Rings the bell of the PE whose slot starts at `slot`, after stores, if the PE waits.
///
/// # Safety
///
/// `slot` must be the start of a mapped slot.
#[inline(always)]
pub unsafe fn ring(slot: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { Endpoint::bell_at(slot) }.ring_behind_any_store();
}

/// Writes bytes to a PE wherever it is.
///
/// # Safety
///
/// `bytes` bytes must be readable for as long as the family says, and lie in the segment of every PE.
pub unsafe fn put(endpoint: &Endpoint, to: Remote, from: *const u8, bytes: usize, family: Family) {
    // SAFETY: the caller's promise.
    unsafe { put_slow(endpoint, to.pe, to.segment, to.offset, from, bytes, family, Location::caller()) };
    wake(endpoint, to.pe);
}

/// Reads bytes of a PE wherever it is.
///
/// # Safety
///
/// `bytes` bytes must be writable for as long as the family says, and lie in the segment of every PE.
pub unsafe fn get(endpoint: &Endpoint, to: *mut u8, from: Remote, bytes: usize, family: Family) {
    // SAFETY: the caller's promise.
    unsafe { get_slow(endpoint, from.pe, from.segment, from.offset, to, bytes, family, Location::caller()) };
}

/// Writes bytes, then changes a signal.
///
/// # Safety
///
/// As [`put`]; the signal must be an aligned one of eight bytes, on the PE of `to`.
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
    // SAFETY: the caller's promise.
    unsafe {
        put_signal_slow(endpoint, pe, segment, offset, from, bytes, to_segment, to, op, family, location);
    };
}

/// Changes a word. A fetching family returns the previous value; a non-blocking one writes it to `before`, and no other family has
/// a `before`.
///
/// # Safety
///
/// The word must be an aligned one of that width on every PE. `before`, if it is given, must be aligned for the width, writable, and
/// nobody else's, until the endpoint is quiet.
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
    // SAFETY: the caller's promise.
    unsafe { change_slow(endpoint, pe, segment, offset, width, code, a, b, before, family, location) }
}

/// Writes blocks of `block` bytes. All addresses and strides must be multiples of `align`.
///
/// # Safety
///
/// As [`put`], for every block; destination blocks must not overlap.
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
    // SAFETY: the caller's promise.
    unsafe { strided::put_blocks(endpoint, to, from, block, level, align, family) };
    wake(endpoint, to.pe);
}

/// Completes an endpoint's operations.
#[inline]
#[track_caller]
pub fn quiet(endpoint: &Endpoint) {
    quiet_through(endpoint, Location::caller());
}

/// Waits until `done`, which looks at words of the calling PE. Observers are notified of `call`; `activity` describes a long wait.
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

/// Registers this process for membarrier: waiters of other processes can make its threads execute a fence.
pub fn expect_fences() {
    membarrier(REGISTER_GLOBAL_EXPEDITED);
}

/// Calls membarrier. On kernels without it, waiters see a put a short sleep later.
fn membarrier(command: libc::c_int) {
    // SAFETY: these commands take no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
}

/// Rings the bell of a PE of this node after plain stores.
fn wake(endpoint: &Endpoint, pe: Pe) {
    if let Some(slot) = endpoint.mapped(pe, 0) {
        // SAFETY: the start of the slot of a PE.
        unsafe { ring(slot) };
    }
}
