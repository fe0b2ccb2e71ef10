//! Blocks and elements one by one: what a transport does with them where it has nothing better.
//!
//! What is read is all under way before the first of it is waited for.

use super::indexed::position;
use super::{Change, Channel, Completes, Elements, Remote, Transport, Until};
use crate::pe::Pe;
use crate::strided::Pattern;

/// Until when each of so many reads may go on, and what waits for them at the end if that must be done.
fn together<T: Transport + ?Sized>(
    transport: &T,
    (channel, pe): (Channel, Pe),
    count: usize,
    until: Until,
) -> (Until, Option<Completes<impl Fn()>>) {
    let waits = until == Until::Return && count > 1;
    let end = waits.then(|| Completes(move || transport.quiet_pe(channel, pe)));
    (if waits { Until::Quiet } else { until }, end)
}

/// As [`Transport::put_strided`], a put for each block.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn put_blocks<T: Transport + ?Sized>(
    transport: &T,
    channel: Channel,
    to: Remote,
    source: *const u8,
    pattern: &Pattern,
    until: Until,
) {
    pattern.each_block(|at, of| {
        let to = Remote { offset: to.offset + at, ..to };
        // SAFETY: the caller's promise covers each block.
        unsafe { transport.put(channel, to, source.wrapping_add(of), pattern.block(), until) };
    });
}

/// As [`Transport::get_strided`], a get for each block.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn get_blocks<T: Transport + ?Sized>(
    transport: &T,
    channel: Channel,
    into: *mut u8,
    from: Remote,
    pattern: &Pattern,
    until: Until,
) {
    let (until, _end) = together(transport, (channel, from.pe), pattern.count(), until);
    pattern.each_block(|at, of| {
        let from = Remote { offset: from.offset + of, ..from };
        // SAFETY: the caller's promise covers each block; what goes on is complete when `_end` is dropped.
        unsafe { transport.get(channel, into.wrapping_add(at), from, pattern.block(), until) };
    });
}

/// As [`Transport::pick`], a get for each element.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn pick<T: Transport + ?Sized>(
    transport: &T,
    channel: Channel,
    into: *mut u8,
    positions: Option<&[u32]>,
    from: Elements<'_>,
    until: Until,
) {
    let (until, _end) = together(transport, (channel, from.first.pe), from.len(), until);
    for (k, place) in from.places().enumerate() {
        let to = into.wrapping_add(position(positions, k) * from.size);
        // SAFETY: the caller's promise, for one element; what goes on is complete when `_end` is dropped.
        unsafe { transport.get(channel, to, place, from.size, until) };
    }
}

/// As [`Transport::place`], a put for each element.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn place<T: Transport + ?Sized>(
    transport: &T,
    channel: Channel,
    to: Elements<'_>,
    source: *const u8,
    until: Until,
) {
    for (k, place) in to.places().enumerate() {
        // SAFETY: the caller's promise, for one element.
        unsafe { transport.put(channel, place, source.wrapping_add(k * to.size), to.size, until) };
    }
}

/// As [`Transport::each`], an update of each word.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn each<T: Transport + ?Sized>(
    transport: &T,
    channel: Channel,
    words: Elements<'_>,
    change: Change<'_>,
) {
    for (k, word) in words.places().enumerate() {
        // SAFETY: the caller's promise, for one word.
        unsafe { transport.atomic_update(channel, word, change.width, change.at(k)) };
    }
}

/// As [`Transport::fetch_each`], an atomic operation on each word.
///
/// # Safety
///
/// As there.
pub(super) unsafe fn fetch_each<T: Transport + ?Sized>(
    transport: &T,
    channel: Channel,
    before: *mut u8,
    positions: Option<&[u32]>,
    words: Elements<'_>,
    change: Change<'_>,
    until: Until,
) {
    let width = change.width;
    let (until, _end) = together(transport, (channel, words.first.pe), words.len(), until);
    for (k, word) in words.places().enumerate() {
        let to = before.wrapping_add(position(positions, k) * width.bytes());
        if until == Until::Quiet {
            // SAFETY: the caller's promise, for one word, and for its result until quiet, which comes when `_end` is
            // dropped, or later.
            unsafe { transport.atomic_nbi(channel, word, width, change.at(k), to) };
            continue;
        }
        // SAFETY: the caller's promise, for one word.
        let found = unsafe { transport.atomic(channel, word, width, change.at(k)) };
        // SAFETY: aligned and writable for a value (caller).
        unsafe { width.write(to, found) };
    }
}
