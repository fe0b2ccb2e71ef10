//! The operations of the transport.

use core::time::Duration;
use std::sync::PoisonError;

use super::blocks::Until;
use super::operation::{Local, Target};
use super::port::{Posting, What};
use super::record::{BUFFER_BYTES, Landing, Purpose, Record};
use super::{Fabric, Ofi};
use crate::libfabric::bindings::FI_INJECT;
use crate::pe::Pe;
use crate::strided::Pattern;
use crate::system::SYSTEM_BYTES;
use crate::transport::target::Target as Memory;
use crate::transport::{AtomicOp, Channel, Lane, Remote, SignalOp, Transport, Width};

/// How long a sleeper sleeps at most. The progress thread wakes it; but what a thread of the program has let in
/// while that one slept, nobody has told anybody.
const SLEEP: Duration = Duration::from_millis(10);

impl Fabric {
    pub(super) fn target(&self, to: Remote) -> Target {
        let (address, key) = self.keys.find(to);
        Target { peer: self.domain.peer(to.pe.number()), address, key }
    }

    /// Writes a piece that is short enough to be copied first.
    ///
    /// # Safety
    ///
    /// As [`Transport::put`], of at most [`BUFFER_BYTES`].
    unsafe fn put_copied(&self, channel: Channel, at: Target, source: *const u8, what: What) {
        let (port, bytes) = (self.port(channel), what.bytes);
        if bytes <= self.domain.demands.inject && !self.keeps(channel, bytes) {
            let local = Local { from: source.cast_mut(), description: core::ptr::null_mut() };
            // SAFETY: the provider copies the source (FI_INJECT), which is readable (caller).
            let write = |posting: &Posting<'_>| unsafe { at.write(posting, local, bytes, FI_INJECT) };
            // SAFETY: one operation, of which nothing stays here.
            return unsafe { self.issue(channel, port, what, write) };
        }
        let copy = |record: &Record| {
            // SAFETY: readable (caller), and there is room for as many.
            unsafe { core::ptr::copy_nonoverlapping(source, record.buffer(), bytes) };
        };
        let write = |posting: &Posting<'_>| {
            let record = posting.record.unwrap_or_else(|| unreachable!("it keeps a record"));
            let local = Local { from: record.buffer(), description: posting.description };
            // SAFETY: the buffer is the operation's until it is complete.
            unsafe { at.write(posting, local, bytes, 0) }
        };
        // SAFETY: one operation, whose source is its record's buffer.
        unsafe { self.issue_with(channel, what, copy, write) };
    }

    /// Reads to memory that the provider does not know, by way of the records' buffers.
    ///
    /// # Safety
    ///
    /// As [`Transport::get_nbi`].
    unsafe fn get_landing(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize) {
        let (at, most) = (self.target(from), BUFFER_BYTES.min(self.domain.demands.max_message));
        for (offset, bytes) in pieces(bytes, most) {
            let (at, what) = (at.plus(offset), What { operation: "get", pe: from.pe.number(), bytes });
            let read = |posting: &Posting<'_>| {
                let record = posting.record.unwrap_or_else(|| unreachable!("it keeps a record"));
                let local = Local { from: record.buffer(), description: posting.description };
                // SAFETY: the buffer is the operation's until it is complete.
                unsafe { at.read(posting, local, bytes) }
            };
            let landing = Landing { into: into.wrapping_add(offset), bytes };
            // SAFETY: one operation to its record's buffer; the destination is writable until quiet (caller).
            unsafe { self.issue_landing(channel, what, landing, |_| {}, read) };
        }
    }
}

/// The pieces in which a transfer goes: offset and length of each.
fn pieces(bytes: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(most.max(1)).map(move |from| (from, most.min(bytes - from)))
}

// SAFETY: the provider touches the bytes that an operation names, and is done with them when it says so: sources
// that must be free on return are copied, injected or waited for, and `quiet` waits until all that the unit (or,
// of events, the stream) has started is complete, which is asked to mean delivered.
unsafe impl Transport for Ofi {
    fn name(&self) -> &'static str {
        "ofi"
    }

    fn units(&self) -> Option<usize> {
        Some(self.fabric.units.len())
    }

    fn open(&self, lane: Lane) -> Result<Channel, String> {
        self.fabric.open_stream(lane)
    }

    fn close(&self, channel: Channel) {
        self.fabric.streams.close(channel);
    }

    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize) {
        let (fabric, pe) = (&*self.fabric, to.pe.number());
        let (at, most) = (fabric.target(to), fabric.domain.demands.max_message);
        if bytes <= BUFFER_BYTES.min(most) {
            let what = What { operation: "put", pe, bytes };
            // SAFETY: the caller's promise.
            return unsafe { fabric.put_copied(channel, at, source, what) };
        }
        let whole = fabric.keys.describe(&fabric.domain, source, bytes);
        let most = if whole.is_some() { most } else { most.min(BUFFER_BYTES) };
        for (from, bytes) in pieces(bytes, most) {
            let (at, source) = (at.plus(from), source.wrapping_add(from));
            let what = What { operation: "put", pe, bytes };
            let Some(description) = whole else {
                // SAFETY: the caller's promise, for a piece.
                unsafe { fabric.put_copied(channel, at, source, what) };
                continue;
            };
            let port = fabric.port(channel);
            let local = Local { from: source.cast_mut(), description };
            // SAFETY: the source is readable (caller) until it has been waited for.
            let write = |posting: &Posting<'_>| unsafe { at.write(posting, local, bytes, 0) };
            // SAFETY: one operation; it is waited for before anything returns.
            let number = unsafe { port.start_with(what, Purpose::Awaited, |_| {}, write) };
            port.wait_for(number, what, |_| {});
        }
    }

    unsafe fn get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize) {
        let (fabric, pe) = (&*self.fabric, from.pe.number());
        let (at, most) = (fabric.target(from), fabric.domain.demands.max_message);
        let (port, whole) = (fabric.port(channel), fabric.keys.describe(&fabric.domain, into, bytes));
        let most = if whole.is_some() { most } else { most.min(BUFFER_BYTES) };
        for (from, bytes) in pieces(bytes, most) {
            let (at, into) = (at.plus(from), into.wrapping_add(from));
            let what = What { operation: "get", pe, bytes };
            let read = |posting: &Posting<'_>| {
                let local = match (whole, posting.record) {
                    (None, Some(record)) => Local { from: record.buffer(), description: posting.description },
                    (description, _) => {
                        Local { from: into, description: description.unwrap_or(core::ptr::null_mut()) }
                    }
                };
                // SAFETY: writable (caller), or the record's own, until it has been waited for.
                unsafe { at.read(posting, local, bytes) }
            };
            // SAFETY: one operation; it is waited for before anything returns.
            let number = unsafe { port.start_with(what, Purpose::Awaited, |_| {}, read) };
            port.wait_for(number, what, |record| {
                if whole.is_none() {
                    // SAFETY: the piece was read to the buffer; `into` is writable (caller).
                    unsafe { core::ptr::copy_nonoverlapping(record.buffer(), into, bytes) };
                }
            });
        }
    }

    unsafe fn put_strided(&self, channel: Channel, to: Remote, source: *const u8, pattern: &Pattern) {
        // SAFETY: the caller's promise.
        unsafe { self.put_blocks(channel, to, source, pattern, Until::Return) };
    }

    unsafe fn put_strided_nbi(&self, channel: Channel, to: Remote, source: *const u8, pattern: &Pattern) {
        // SAFETY: the caller's promise.
        unsafe { self.put_blocks(channel, to, source, pattern, Until::Quiet) };
    }

    unsafe fn get_strided(&self, channel: Channel, into: *mut u8, from: Remote, pattern: &Pattern) {
        // SAFETY: the caller's promise.
        unsafe { self.get_blocks(channel, into, from, pattern, Until::Return) };
    }

    unsafe fn get_strided_nbi(&self, channel: Channel, into: *mut u8, from: Remote, pattern: &Pattern) {
        // SAFETY: the caller's promise.
        unsafe { self.get_blocks(channel, into, from, pattern, Until::Quiet) };
    }

    unsafe fn put_signal(
        &self,
        channel: Channel,
        to: Remote,
        source: *const u8,
        bytes: usize,
        signal: Remote,
        op: SignalOp,
    ) {
        let Fabric { engine, .. } = &*self.fabric;
        if engine.fits(bytes) && self.fabric.row().prefers_one_message(bytes) {
            // SAFETY: the caller's promise.
            return unsafe { engine.put_signal(&self.fabric.line(), channel, to, source, bytes, signal, op) };
        }
        if bytes > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.put(channel, to, source, bytes) };
            self.fence(channel);
        }
        // SAFETY: the caller's promise; a signal has 64 bits.
        unsafe { self.atomic_update(channel, signal, Width::W8, op.into()) };
    }

    unsafe fn atomic(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.fetch(channel, word, width, op) }
    }

    unsafe fn atomic_update(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.update(channel, word, width, op) };
    }

    unsafe fn atomic_nbi(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp, result: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.fetch_nbi(channel, word, width, op, result) };
    }

    unsafe fn put_nbi(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize) {
        let (fabric, pe) = (&*self.fabric, to.pe.number());
        let Some(description) = fabric.keys.describe(&fabric.domain, source, bytes) else {
            // SAFETY: the caller's promise. It is copied in pieces, none of which is waited for.
            return unsafe { self.put(channel, to, source, bytes) };
        };
        let (at, port) = (fabric.target(to), fabric.port(channel));
        for (from, bytes) in pieces(bytes, fabric.domain.demands.max_message) {
            let at = at.plus(from);
            let local = Local { from: source.wrapping_add(from).cast_mut(), description };
            let injects = bytes <= fabric.domain.demands.inject && !fabric.keeps(channel, bytes);
            let flags = if injects { FI_INJECT } else { 0 };
            // SAFETY: the source stays until quiet (caller).
            let write = |posting: &Posting<'_>| unsafe { at.write(posting, local, bytes, flags) };
            // SAFETY: one operation; what it reads stays until quiet (caller).
            unsafe { fabric.issue(channel, port, What { operation: "put", pe, bytes }, write) };
        }
    }

    unsafe fn get_nbi(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize) {
        let (fabric, pe) = (&*self.fabric, from.pe.number());
        let Some(description) = fabric.keys.describe(&fabric.domain, into, bytes) else {
            // SAFETY: the caller's promise.
            return unsafe { fabric.get_landing(channel, into, from, bytes) };
        };
        let (at, port) = (fabric.target(from), fabric.port(channel));
        for (from, bytes) in pieces(bytes, fabric.domain.demands.max_message) {
            let at = at.plus(from);
            let local = Local { from: into.wrapping_add(from), description };
            // SAFETY: writable until quiet (caller).
            let read = |posting: &Posting<'_>| unsafe { at.read(posting, local, bytes) };
            // SAFETY: one operation; what it writes stays until quiet (caller).
            unsafe { fabric.issue(channel, port, What { operation: "get", pe, bytes }, read) };
        }
    }

    fn fence(&self, channel: Channel) {
        // No provider here promises that writes stay in order, so those before are waited for, if there are any.
        self.fabric.quiet(channel);
    }

    fn quiet(&self, channel: Channel) {
        self.fabric.quiet(channel);
    }

    fn quiet_pe(&self, channel: Channel, pe: Pe) {
        self.fabric.quiet_pe(channel, pe.number());
    }

    fn progress(&self) {
        self.fabric.progress();
    }

    unsafe fn register(
        &self,
        segment: u32,
        place: *mut u8,
        offset: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        let Fabric { domain, keys, place: known, .. } = &*self.fabric;
        // SAFETY: the start of this PE's place, whose system area is mapped until `finish` (caller).
        known.get_or_init(|| unsafe { Memory::new(place, SYSTEM_BYTES) });
        let (endpoint, memory) = (self.fabric.first().unit.endpoint(), (place.wrapping_add(offset), bytes));
        // SAFETY: mapped until `forget` (caller).
        let said = unsafe { keys.register(domain, endpoint, segment, offset, memory) };
        let said = said.map_err(|error| domain.refused("fi_mr_reg", error).to_string())?;
        // SAFETY: the caller's promise; the engine forgets the segment before anybody unmaps it.
        let target = unsafe { Memory::later(place, offset, bytes) };
        self.fabric.engine.register(segment, target);
        Ok(said)
    }

    fn learn(&self, segment: u32, pe: Pe, key: &[u8]) {
        self.fabric.keys.learn(segment, pe.number(), key);
    }

    fn sleeps(&self) -> Duration {
        self.fabric.handover.to_thread();
        match self.fabric.first().unit.descriptor() {
            Some(_) => SLEEP,
            None => Duration::from_millis(1),
        }
    }

    fn finish(&self) {
        drop(self.thread.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn forget(&self, segment: u32) {
        self.fabric.engine.forget(segment);
        self.fabric.keys.forget(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_transfer_once() {
        assert_eq!(pieces(10, 4).collect::<Vec<_>>(), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(pieces(8, 8).collect::<Vec<_>>(), [(0, 8)]);
        assert_eq!(pieces(5, usize::MAX).collect::<Vec<_>>(), [(0, 5)]);
        assert_eq!(pieces(0, 8).count(), 0);
    }
}
