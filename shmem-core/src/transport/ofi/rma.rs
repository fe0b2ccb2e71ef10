//! The operations of the transport.
//!
//! A PE that sees the **signal of a put** must see the put's data, even on networks that order neither operations nor bytes. There
//! are two ways. In neither does the caller wait if the data is one piece, and its source stays unchanged until quiet:
//!
//! * **One message**, if the data fits: the target's [engine](super::engine) copies the data to its place, then changes the signal.
//! * **Delivered, then signalled**: the signal is sent [after the completion of its data](super::put_signal), a round trip later.
//!
//! **Blocks and elements** are sent in messages of the engine or one by one, as the [cost model](super::strided::Row) says.

use core::time::Duration;

use super::engine::Sent;
use super::operation::{LocalMemory, RemoteMemory};
use super::posting::{OperationInfo, Posting};
use super::put_signal::SignalUpdate;
use super::record::{BUFFER_BYTES, OnCompletion, ReadDestination, Record};
use super::strided::{self, Blocks, Row, Way};
use super::{Fabric, Ofi};
use crate::libfabric::Refused;
use crate::libfabric::bindings::FI_INJECT;
use crate::pe::Pe;
use crate::shared;
use crate::strided::{Algorithm, Pattern, settings};
use crate::system_area::SYSTEM_BYTES;
use crate::transport::target::Target as Memory;
use crate::transport::{
    AtomicOp, Channel, ChannelOptions, Elements, ListRequest, Remote, SignalOp, Transport, Until, Width,
    singly,
};

/// Longest sleep of a waiter. The progress thread wakes it, but misses a completion that another thread of the program has read.
const SLEEP: Duration = Duration::from_millis(10);

#[derive(Clone, Copy)]
enum Transfer {
    Put,
    Get,
    PutBefore(SignalUpdate),
}

impl Fabric {
    pub(super) fn target(&self, to: Remote) -> RemoteMemory {
        let (address, key) = self.keys.find(&self.domain.job_keys, to);
        RemoteMemory { peer: self.peer(to.pe.number()), address, key }
    }

    /// Transfers bytes between this PE and another, in pieces of a size that the provider allows.
    ///
    /// A put whose source may change on return is injected if it is counted (no event) and the provider allows it, copied if it is
    /// short, and otherwise awaited. Also awaited are a get that must be complete on return, and the pieces before a signal if
    /// there are several. Pieces go through buffers (of [`Record`]s) if local memory must be registered, but is not.
    ///
    /// # Safety
    ///
    /// As the method that `transfer` stands for ([`Transport::put`], [`Transport::get`] or [`Transport::put_signal`]). There must
    /// be at least one byte.
    unsafe fn transfer(
        &self,
        channel: Channel,
        transfer: Transfer,
        remote: Remote,
        local: *mut u8,
        bytes: usize,
        until: Until,
    ) {
        let demands = &self.domain.demands;
        let (at, port) = (self.target(remote), self.port(channel));
        let is_put = !matches!(transfer, Transfer::Get);
        let copies = is_put && until == Until::Return && bytes <= BUFFER_BYTES;
        let described = if copies { None } else { self.keys.describe(&self.domain, local, bytes) };
        let most = if described.is_some() { usize::MAX } else { BUFFER_BYTES }.min(demands.max_message);
        let waits = match transfer {
            Transfer::Get => until == Until::Return,
            Transfer::Put => until == Until::Return && described.is_some(),
            Transfer::PutBefore(_) => bytes > most || until == Until::Return && described.is_some(),
        };
        for (from, bytes) in pieces(bytes, most) {
            let (at, local) = (at.plus(from), local.wrapping_add(from));
            let operation = match transfer {
                Transfer::Put => "put",
                Transfer::Get => "get",
                Transfer::PutBefore(_) => "put with a signal",
            };
            let what = OperationInfo { operation, pe: remote.pe.number(), bytes };
            let on_completion = match transfer {
                Transfer::PutBefore(signal) => OnCompletion::Signalled(signal),
                Transfer::Get if described.is_none() => {
                    OnCompletion::ReadToBuffer(channel, ReadDestination(local))
                }
                Transfer::Get | Transfer::Put => self.on_completion(channel, bytes),
            };
            // Only counted operations: ofi_rxm counts injected ones, but does not report them, and an event would wait for the
            // report.
            let injects =
                is_put && !waits && matches!(on_completion, OnCompletion::Counted) && bytes <= demands.inject;
            let prepare = |record: &Record| {
                if is_put && described.is_none() {
                    // SAFETY: `local` is readable (caller), even while others write to it. The buffer has room for `bytes` bytes.
                    unsafe { shared::copy(record.buffer(), local, bytes) };
                }
            };
            let attempt = |posting: &Posting<'_>| {
                let local = match (described, posting.record) {
                    (None, Some(record)) => {
                        LocalMemory { from: record.buffer(), description: posting.description }
                    }
                    (description, _) => {
                        LocalMemory { from: local, description: description.unwrap_or(core::ptr::null_mut()) }
                    }
                };
                let flags = if injects { FI_INJECT } else { 0 };
                // SAFETY: `local` is the record's buffer, which is the operation's until completion, or a source that the provider
                // copies (`FI_INJECT`), or a source or destination that stays until the wait below, or until quiet (caller).
                unsafe { at.transfer(posting, is_put, local, bytes, (flags, 0)) }
            };
            if !waits {
                if matches!(on_completion, OnCompletion::Signalled(_)) {
                    self.signals.expect();
                }
                let keeps = described.is_none() && !injects;
                // SAFETY: `attempt` starts one operation, whose local memory stays (see `attempt`).
                unsafe { port.issue(channel, what, on_completion, (keeps, true), prepare, attempt) };
                continue;
            }
            let read = |record: &Record| {
                if !is_put && described.is_none() {
                    // SAFETY: the piece was read to the buffer. The destination is writable (caller).
                    unsafe { shared::copy(local, record.buffer(), bytes) };
                }
            };
            // SAFETY: `attempt` starts one operation, whose local memory stays (see `attempt`).
            let done = unsafe { port.carry_out(what, prepare, attempt, read) };
            done.unwrap_or_else(|error| port.refuse(what, error));
        }
        if let Transfer::PutBefore(SignalUpdate { signal, op, .. }) = transfer
            && waits
        {
            // SAFETY: the caller's promise; a signal has 64 bits.
            unsafe { self.update(channel, signal, Width::W8, op.into(), true) };
        }
    }

    /// Sends the signals whose data is delivered, as far as there is room.
    pub(super) fn send_signals(&self) {
        self.signals.send(|SignalUpdate { channel, signal, op }| {
            // SAFETY: the caller of `put_signal` has promised an aligned signal.
            let sent = unsafe { self.update(channel, signal, Width::W8, op.into(), false) };
            if sent == Sent::Done {
                // The signal stops counting as unfinished only now. So a thread that sees none sees the update in flight, or
                // complete.
                self.stream(channel).ended();
            }
            sent == Sent::Done
        });
    }

    /// What to do when an operation of `bytes` bytes without signal or buffer is complete: nothing, if only the unit's counter
    /// counts it, or else count its event as ended.
    pub(super) fn on_completion(&self, channel: Channel, bytes: usize) -> OnCompletion {
        let is_event = self.stream(channel).tracking().is_event(bytes);
        if is_event { OnCompletion::Event(channel) } else { OnCompletion::Counted }
    }

    fn row(&self) -> &Row {
        strided::forced().unwrap_or(&self.domain.demands.known.row)
    }

    /// Whether it is faster to pack blocks into messages, each with room for `message` bytes.
    fn packs(&self, pattern: &Pattern, message: usize) -> bool {
        // With algorithm 1 (`SHMEM_STRIDED_ALGORITHM`), each block is a put, on all transports.
        let is_split = pattern.levels().is_empty() || settings().algorithm == Algorithm::One;
        let blocks = Blocks { count: pattern.count(), bytes: pattern.block() };
        !is_split && self.row().choose(blocks, message) == Way::Messages
    }

    /// Whether an operation on a list is sent in messages.
    fn lists(&self, elements: Elements<'_>, request: ListRequest<'_>) -> bool {
        let limits = &self.engine.limits;
        let fits = match request {
            _ if elements.len() < 2 => return false,
            ListRequest::Pick(_) => limits.picks(elements.size),
            ListRequest::Place(_) => limits.places(elements.size),
            // The provider cannot make this change, so the engine does, and would send a message for each word if there were no
            // list.
            ListRequest::Change(change, _) if self.word(change.width, change.at(0)).is_none() => return true,
            ListRequest::Change(..) => true,
        };
        let blocks = Blocks { count: elements.len(), bytes: elements.size };
        let message = limits.carries(blocks.count.saturating_mul(blocks.bytes), false);
        fits && self.row().choose(blocks, message) == Way::Messages
    }
}

/// Offset and length of each piece of a transfer.
fn pieces(bytes: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(most.max(1)).map(move |from| (from, most.min(bytes - from)))
}

// SAFETY: the provider touches only the bytes that an operation names, and only until completion. Sources that must be free on
// return are copied, injected or awaited. `quiet` waits until all operations of the unit (or events of the stream) are complete.
// Completion means delivery: writes and changes request it, and the data of a complete read or fetch has arrived.
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

    fn open(&self, lane: ChannelOptions) -> Result<Channel, String> {
        self.fabric.open_stream(lane)
    }

    unsafe fn close(&self, channel: Channel) {
        self.fabric.engine.streams.close(channel);
    }

    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize, until: Until) {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.transfer(channel, Transfer::Put, to, source.cast_mut(), bytes, until) };
    }

    unsafe fn get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize, until: Until) {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.transfer(channel, Transfer::Get, from, into, bytes, until) };
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
        let (fabric, change) = (&*self.fabric, SignalUpdate { channel, signal, op });
        let wire = fabric.wire();
        if fabric.row().prefers_one_message(bytes) && fabric.engine.fits(&wire, to.pe.number(), bytes) {
            let patient = fabric.stream(channel).is_patient();
            let initiator = fabric.engine.on(&wire, channel);
            // SAFETY: the caller's promise.
            return unsafe { initiator.put_signal(to, source, bytes, (signal, op), patient) };
        }
        if bytes == 0 {
            // SAFETY: the caller's promise; a signal has 64 bits.
            unsafe { fabric.update(channel, signal, Width::W8, op.into(), true) };
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { fabric.transfer(channel, Transfer::PutBefore(change), to, source.cast_mut(), bytes, until) };
    }

    unsafe fn put_strided(
        &self,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
        until: Until,
    ) {
        let Fabric { engine, .. } = &*self.fabric;
        if self.fabric.packs(pattern, engine.carries(to.pe.number(), pattern.bytes())) {
            // SAFETY: the caller's promise.
            return unsafe { engine.on(&self.fabric.wire(), channel).put(to, source, pattern) };
        }
        // SAFETY: the caller's promise.
        unsafe { singly::put_blocks(self, channel, to, source, pattern, until) };
    }

    unsafe fn get_strided(
        &self,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
        until: Until,
    ) {
        let Fabric { engine, .. } = &*self.fabric;
        if self.fabric.packs(pattern, engine.limits.carries(pattern.bytes(), false)) {
            // SAFETY: the caller's promise.
            return unsafe { engine.on(&self.fabric.wire(), channel).get(into, from, pattern, until) };
        }
        // SAFETY: the caller's promise.
        unsafe { singly::get_blocks(self, channel, into, from, pattern, until) };
    }

    unsafe fn atomic_update(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.update(channel, word, width, op, true) };
    }

    unsafe fn atomic(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.fetch(channel, word, width, op) }
    }

    unsafe fn atomic_nbi(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp, result: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.fabric.fetch_nbi(channel, word, width, op, result) };
    }

    unsafe fn list(
        &self,
        channel: Channel,
        elements: Elements<'_>,
        request: ListRequest<'_>,
        positions: Option<&[u32]>,
        until: Until,
    ) {
        let fabric = &*self.fabric;
        if fabric.lists(elements, request) {
            // SAFETY: the caller's promise.
            return unsafe {
                fabric.engine.on(&fabric.wire(), channel).list(elements, request, positions, until)
            };
        }
        // SAFETY: the caller's promise.
        unsafe { singly::list(self, channel, elements, request, positions, until) };
    }

    fn fence(&self, channel: Channel) {
        // Providers do not order writes, so a fence waits for earlier operations.
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
        // SAFETY: `slot` is the start of this PE's slot, whose system area is mapped until `finish` (caller).
        known.get_or_init(|| unsafe { Memory::new(slot, 0..SYSTEM_BYTES) });
        let (endpoint, memory) = (&self.fabric.first().unit.endpoint, (slot.wrapping_add(offset), bytes));
        // SAFETY: the memory is mapped until `forget` (caller).
        let said = unsafe { keys.register(domain, endpoint, segment, offset, memory) };
        let said = said.map_err(|error| domain.refused(Refused::of("fi_mr_reg", error)).to_string())?;
        // SAFETY: the caller's promise; the engine forgets the segment before anybody unmaps it.
        let target = unsafe { Memory::new(slot, offset..offset + bytes) };
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
        let mut unawaited = self.fabric.unawaited.lock();
        unawaited.channel = Some(channel);
        unawaited.sent += 1;
        // SAFETY: the caller's promise.
        unsafe { self.fabric.update(channel, word, width, op, true) };
    }

    fn strangers(&self) -> u64 {
        self.fabric.engine.strangers()
    }

    fn sleeps(&self) -> Duration {
        // The progress thread may be parked, so this thread sends the acknowledgements of messages that it received, before it
        // sleeps.
        self.fabric.flush_answers();
        self.fabric.handover.to_thread();
        match self.fabric.first().unit.endpoint.descriptor() {
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
