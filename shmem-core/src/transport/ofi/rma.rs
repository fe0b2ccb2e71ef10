//! The operations of the transport.

use core::time::Duration;

use super::operation::{Local, Target};
use super::port::{Posting, What};
use super::record::{BUFFER_BYTES, Landing, Purpose, Record};
use super::strided::Row;
use super::{Fabric, Ofi, signals};
use crate::libfabric::Refused;
use crate::libfabric::bindings::FI_INJECT;
use crate::pe::Pe;
use crate::shared;
use crate::strided::Pattern;
use crate::system::SYSTEM_BYTES;
use crate::transport::target::Target as Memory;
use crate::transport::{
    AtomicOp, Change, Channel, Elements, Lane, Remote, SignalOp, Transport, Until, Width,
};

/// How long a sleeper sleeps at most. The progress thread wakes it; but what a thread of the program has let in
/// while that one slept, nobody has told anybody.
const SLEEP: Duration = Duration::from_millis(10);

impl Fabric {
    pub(super) fn target(&self, to: Remote) -> Target {
        let (address, key) = self.keys.find(&self.domain.names, to);
        Target { peer: self.peer(to.pe.number()), address, key }
    }

    /// Writes bytes that have been copied, or have left, when it returns.
    ///
    /// # Safety
    ///
    /// As [`Transport::put`] until it returns.
    unsafe fn put_now(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize) {
        let pe = to.pe.number();
        let (at, most) = (self.target(to), self.domain.demands.max_message);
        if bytes <= BUFFER_BYTES.min(most) {
            let what = What { operation: "put", pe, bytes };
            // SAFETY: the caller's promise.
            return unsafe { self.put_copied(channel, at, source, what) };
        }
        let whole = self.keys.describe(&self.domain, source, bytes);
        let most = if whole.is_some() { most } else { most.min(BUFFER_BYTES) };
        for (from, bytes) in pieces(bytes, most) {
            let (at, source) = (at.plus(from), source.wrapping_add(from));
            let what = What { operation: "put", pe, bytes };
            let Some(description) = whole else {
                // SAFETY: the caller's promise, for a piece.
                unsafe { self.put_copied(channel, at, source, what) };
                continue;
            };
            let port = self.port(channel);
            let local = Local { from: source.cast_mut(), description };
            // SAFETY: the source is readable (caller) until it has been waited for.
            let write = |posting: &Posting<'_>| unsafe { at.write(posting, local, bytes, 0) };
            // SAFETY: one operation; it is waited for before anything returns.
            let number = unsafe { port.start_with(what, Purpose::Awaited, |_| {}, write) };
            port.wait_for(number, what, |_| {});
        }
    }

    /// Starts writing bytes.
    ///
    /// # Safety
    ///
    /// As [`Transport::put`] until quiet.
    unsafe fn start_put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize) {
        let pe = to.pe.number();
        let Some(description) = self.keys.describe(&self.domain, source, bytes) else {
            // SAFETY: the caller's promise. It is copied in pieces, none of which is waited for.
            return unsafe { self.put_now(channel, to, source, bytes) };
        };
        let (at, port) = (self.target(to), self.port(channel));
        for (from, bytes) in pieces(bytes, self.domain.demands.max_message) {
            let at = at.plus(from);
            let local = Local { from: source.wrapping_add(from).cast_mut(), description };
            let injects = bytes <= self.domain.demands.inject && !self.keeps(channel, bytes);
            let flags = if injects { FI_INJECT } else { 0 };
            // SAFETY: the source stays until quiet (caller).
            let write = |posting: &Posting<'_>| unsafe { at.write(posting, local, bytes, flags) };
            // SAFETY: one operation; what it reads stays until quiet (caller).
            unsafe { self.issue(channel, port, What { operation: "put", pe, bytes }, write) };
        }
    }

    /// Reads bytes, and waits for them.
    ///
    /// # Safety
    ///
    /// As [`Transport::get`] until it returns.
    unsafe fn get_now(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize) {
        let pe = from.pe.number();
        let (at, most) = (self.target(from), self.domain.demands.max_message);
        let (port, whole) = (self.port(channel), self.keys.describe(&self.domain, into, bytes));
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
                    unsafe { shared::copy(into, record.buffer(), bytes) };
                }
            });
        }
    }

    /// Starts reading bytes.
    ///
    /// # Safety
    ///
    /// As [`Transport::get`] until quiet.
    unsafe fn start_get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize) {
        let pe = from.pe.number();
        let Some(description) = self.keys.describe(&self.domain, into, bytes) else {
            // SAFETY: the caller's promise.
            return unsafe { self.get_landing(channel, into, from, bytes) };
        };
        let (at, port) = (self.target(from), self.port(channel));
        for (from, bytes) in pieces(bytes, self.domain.demands.max_message) {
            let at = at.plus(from);
            let local = Local { from: into.wrapping_add(from), description };
            // SAFETY: writable until quiet (caller).
            let read = |posting: &Posting<'_>| unsafe { at.read(posting, local, bytes) };
            // SAFETY: one operation; what it writes stays until quiet (caller).
            unsafe { self.issue(channel, port, What { operation: "get", pe, bytes }, read) };
        }
    }

    /// Writes a piece that is short enough to be copied first.
    ///
    /// # Safety
    ///
    /// As [`Transport::put`] until it returns, of at most [`BUFFER_BYTES`].
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
            // SAFETY: readable (caller), also if others write there meanwhile, and there is room for as many.
            unsafe { shared::copy(record.buffer(), source, bytes) };
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
    /// As [`Transport::get`] until quiet.
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
pub(super) fn pieces(bytes: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(most.max(1)).map(move |from| (from, most.min(bytes - from)))
}

/// Operations that functions of other modules carry out.
macro_rules! carried_out {
    ($($name:ident = $($by:ident).+($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        unsafe fn $name(&self, channel: Channel, $($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller's promise, which that function asks for.
            unsafe { self.$($by).+(channel, $($argument),*) }
        }
    )*};
}

// SAFETY: the provider touches the bytes that an operation names, and is done with them when it says so: sources
// that must be free on return are copied, injected or waited for, and `quiet` waits until all that the unit (or,
// of events, the stream) has started is complete, which is asked to mean delivered.
unsafe impl Transport for Ofi {
    fn name(&self) -> &'static str {
        "ofi"
    }

    fn costs(&self) -> Row {
        *self.fabric.row()
    }

    fn units(&self) -> Option<usize> {
        Some(self.fabric.units.len())
    }

    fn open(&self, lane: Lane) -> Result<Channel, String> {
        self.fabric.open_stream(lane)
    }

    unsafe fn close(&self, channel: Channel) {
        self.fabric.streams.close(channel);
    }

    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize, until: Until) {
        match until {
            // SAFETY: the caller's promise, until the operation returns.
            Until::Return => unsafe { self.fabric.put_now(channel, to, source, bytes) },
            // SAFETY: the caller's promise, until quiet.
            Until::Quiet => unsafe { self.fabric.start_put(channel, to, source, bytes) },
        }
    }

    unsafe fn get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize, until: Until) {
        match until {
            // SAFETY: the caller's promise, until the operation returns.
            Until::Return => unsafe { self.fabric.get_now(channel, into, from, bytes) },
            // SAFETY: the caller's promise, until quiet.
            Until::Quiet => unsafe { self.fabric.start_get(channel, into, from, bytes) },
        }
    }

    unsafe fn put_signal(
        &self,
        channel: Channel,
        to: Remote,
        source: *const u8,
        bytes: usize,
        signal: Remote,
        op: SignalOp,
        until: Until,
    ) {
        let change = signals::Change { channel, signal, op };
        // SAFETY: the caller's promise.
        unsafe { self.fabric.put_before(change, to, source, bytes, until) };
    }

    carried_out! {
        put_strided = put_blocks(to: Remote, source: *const u8, pattern: &Pattern, until: Until);
        get_strided = get_blocks(into: *mut u8, from: Remote, pattern: &Pattern, until: Until);
        atomic = fabric.fetch(word: Remote, width: Width, op: AtomicOp) -> u64;
        atomic_update = fabric.update(word: Remote, width: Width, op: AtomicOp);
        atomic_nbi = fabric.fetch_nbi(word: Remote, width: Width, op: AtomicOp, result: *mut u8);
        pick = pick_elements(into: *mut u8, positions: Option<&[u32]>, from: Elements<'_>, until: Until);
        place = place_elements(to: Elements<'_>, source: *const u8, until: Until);
        each = change_words(words: Elements<'_>, change: Change<'_>);
        fetch_each = fetch_words(
            before: *mut u8, positions: Option<&[u32]>, words: Elements<'_>, change: Change<'_>, until: Until
        );
    }

    fn fence(&self, channel: Channel) {
        // No provider here promises that writes stay in order, so those before are waited for, if there are any.
        self.fabric.quiet(channel);
    }

    fn quiet(&self, channel: Channel) {
        self.fabric.quiet(channel);
    }

    fn is_quiet(&self, channel: Channel) -> bool {
        self.fabric.is_quiet(channel)
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
        slot: *mut u8,
        offset: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        let Fabric { domain, keys, slot: known, .. } = &*self.fabric;
        // SAFETY: the start of this PE's slot, whose system area is mapped until `finish` (caller).
        known.get_or_init(|| unsafe { Memory::new(slot, SYSTEM_BYTES) });
        let (endpoint, memory) = (&self.fabric.first().unit.endpoint, (slot.wrapping_add(offset), bytes));
        // SAFETY: mapped until `forget` (caller).
        let said = unsafe { keys.register(domain, endpoint, segment, offset, memory) };
        let said = said.map_err(|error| domain.refused(Refused::of("fi_mr_reg", error)).to_string())?;
        // SAFETY: the caller's promise; the engine forgets the segment before anybody unmaps it.
        let target = unsafe { Memory::later(slot, offset, bytes) };
        self.fabric.engine.register(segment, target);
        Ok(said)
    }

    unsafe fn learn(&self, segment: u32, pe: Pe, key: &[u8]) {
        self.fabric.keys.learn(segment, pe.number(), key);
    }

    fn threads(&self) -> Option<usize> {
        Some(1)
    }

    fn is_idle(&self) -> bool {
        !self.fabric.awaits()
    }

    unsafe fn tell(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        let mut asides = self.fabric.asides.lock();
        asides.channel = Some(channel);
        asides.sent += 1;
        // SAFETY: the caller's promise.
        unsafe { self.fabric.update(channel, word, width, op) };
    }

    fn strangers(&self) -> u64 {
        self.fabric.engine.strangers()
    }

    fn sleeps(&self) -> Duration {
        self.fabric.handover.to_thread();
        match self.fabric.first().unit.descriptor() {
            Some(_) => SLEEP,
            None => Duration::from_millis(1),
        }
    }

    unsafe fn finish(&self) {
        drop(self.thread.lock().take());
    }

    unsafe fn forget(&self, segment: u32) {
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
