//! The initiator's side, which sends operations as messages.
//!
//! Sources are copied before these functions return. Only results may still arrive afterwards, until the channel is quiet.

use super::super::streams::Due;
use super::Engine;
use super::bounce_slots::Borrowed;
use super::flow_control::{Destination, Ticket};
use super::message::{BEFORE_ANSWER, List, Message, Task};
use super::wire::{Malformed, Sent, Wire};
use crate::shared;
use crate::strided::{self, Pattern, TransferPlan};
use crate::transport::in_flight::Incomplete;
use crate::transport::{AtomicOp, Channel, Elements, ListRequest, Remote, SignalOp, Until, Width};

/// One channel of a PE, and the wire for its messages.
#[derive(Clone, Copy)]
pub(crate) struct Initiator<'e> {
    engine: &'e Engine,
    wire: &'e dyn Wire,
    channel: Channel,
}

impl Engine {
    pub(crate) fn on<'e>(&'e self, wire: &'e dyn Wire, channel: Channel) -> Initiator<'e> {
        Initiator { engine: self, wire, channel }
    }

    /// Whether this PE has a grant (bounce slots lent) from PE `pe`. If none was requested yet, requests one, and does not wait for
    /// the answer.
    pub(crate) fn has_borrowed(&self, wire: &dyn Wire, pe: usize) -> bool {
        if self.limits.grants == 0 {
            return false;
        }
        let peer = self.peer(pe);
        let mut borrowed = peer.borrowed.lock();
        match *borrowed {
            Borrowed::Slots { .. } => return true,
            Borrowed::Unasked if peer.requests.lock().start(&self.limits, None).is_some() => {
                *borrowed = Borrowed::Asked;
            }
            Borrowed::Unasked | Borrowed::Asked | Borrowed::Refused => return false,
        }
        // Unlocked, because the answer may come before the wire returns.
        drop(borrowed);
        if self.hand_over(wire, pe, 0, &Message::Borrow, &mut |_| {}, false) == Sent::Full {
            let withdrawn = peer.requests.lock().withdraw(None);
            withdrawn.unwrap_or_else(|flaw| answered_unsent(pe, flaw));
            peer.borrowed.lock().withdraw();
        }
        false
    }

    /// Bytes of data that fit each message of a transfer of `bytes` bytes to PE `pe`. Assumes a grant, unless that PE has refused
    /// one.
    pub(crate) fn carries(&self, pe: usize, bytes: usize) -> usize {
        let borrows = self.limits.lends(bytes) && *self.peer(pe).borrowed.lock() != Borrowed::Refused;
        self.limits.carries(bytes, borrows)
    }

    /// Whether [`put_signal`](Initiator::put_signal) can send `bytes` bytes to PE `pe`. For long data this PE needs a grant. If
    /// none was requested yet, this call requests one, and does not wait for the answer.
    pub(crate) fn fits(&self, wire: &dyn Wire, pe: usize, bytes: usize) -> bool {
        let has_room = |borrows| bytes <= self.limits.carries(bytes, borrows);
        has_room(false) || self.limits.grants > 0 && has_room(true) && self.has_borrowed(wire, pe)
    }

    /// Sends a message whose data `fill` writes: through the wire, or, if `borrows`, to a free slot of the grant.
    pub(super) fn hand_over(
        &self,
        wire: &dyn Wire,
        pe: usize,
        number: u32,
        message: &Message<'_>,
        fill: &mut dyn FnMut(&mut [u8]),
        borrows: bool,
    ) -> Sent {
        let (from, bytes) = (self.peer(pe).sender, message.bytes());
        let write = &mut |buffer: &mut [u8]| fill(message.write(from, number, buffer));
        if !borrows {
            return wire.try_send(pe, bytes, write);
        }
        let taken = self.peer(pe).borrowed.lock().take();
        let Some(slot) = taken else { return Sent::Full };
        let sent = wire.try_write(pe, slot, bytes, write);
        if sent == Sent::Full {
            let untouched = self.peer(pe).borrowed.lock().give_back(1 << slot.index);
            untouched.unwrap_or_else(|flaw| unreachable!("slot {} was taken: {flaw}", slot.number));
        }
        sent
    }
}

impl Initiator<'_> {
    /// Writes the blocks of a pattern by messages.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_strided`](crate::transport::Transport::put_strided), until this returns.
    pub(crate) unsafe fn put(self, to: Remote, source: *const u8, pattern: &Pattern) {
        let (limits, bytes) = (&self.engine.limits, pattern.bytes());
        let borrows = limits.lends(bytes) && self.engine.has_borrowed(self.wire, to.pe.number());
        strided::each_fitting(pattern, limits.carries(bytes, borrows), |at, of, pattern| {
            let to = Remote { offset: to.offset + at, ..to };
            let message = Message::Put { at: to.into(), pattern, signal: None, is_patient: false };
            // SAFETY: the blocks of the part are blocks of the whole pattern (caller).
            unsafe { self.send_put(to.pe.number(), &message, source.wrapping_add(of), &pattern, borrows) };
        });
    }

    /// Writes bytes, then changes a signal of the same PE, in one message. The bytes must [fit](Engine::fits) the message. If
    /// `is_patient`, the acknowledgement may be late, because quiet is called only after the channel's last operation.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_signal`](crate::transport::Transport::put_signal), until this returns.
    pub(crate) unsafe fn put_signal(
        self,
        to: Remote,
        source: *const u8,
        bytes: usize,
        (signal, op): (Remote, SignalOp),
        is_patient: bool,
    ) {
        let borrows = self.engine.limits.lends(bytes);
        let (pattern, signal) = (Pattern::contiguous(bytes), Some((signal.into(), op)));
        let message = Message::Put { at: to.into(), pattern, signal, is_patient };
        // SAFETY: the pattern is one block, the bytes at `source` (caller).
        unsafe { self.send_put(to.pe.number(), &message, source, &pattern, borrows) };
    }

    /// Reads the blocks of a pattern. The read is complete on return or when the channel is quiet, as `until` says.
    ///
    /// # Safety
    ///
    /// As [`Transport::get_strided`](crate::transport::Transport::get_strided).
    pub(crate) unsafe fn get(self, into: *mut u8, from: Remote, pattern: &Pattern, until: Until) {
        let mut asking = Asking::new(self, from.pe.number(), until);
        let most = self.engine.limits.message - BEFORE_ANSWER;
        strided::each_fitting(pattern, most, |at, of, pattern| {
            let from = Remote { offset: from.offset + of, ..from };
            // The blocks of the part are blocks of the whole pattern.
            let destination =
                Destination::Blocks { into: into.wrapping_add(at), pattern: pattern.unpacked() };
            asking.ask(destination, &Message::Get { at: from.into(), pattern });
        });
        asking.finish();
    }

    /// Carries out an operation on listed elements. Results are written on return, or when the channel is quiet, as `until` says.
    ///
    /// A list is cut into messages, which the target carries out separately. The number of requests with results is
    /// [bounded](super::Limits::lists), and the caller makes progress until it may send another.
    ///
    /// # Safety
    ///
    /// As [`Transport::list`](crate::transport::Transport::list).
    ///
    /// # Panics
    ///
    /// If operands or positions that are given per element differ in number from the elements, or an element fits no message
    /// ([`places`](super::Limits::places), [`picks`](super::Limits::picks)).
    pub(crate) unsafe fn list(
        self,
        list: Elements<'_>,
        request: ListRequest<'_>,
        positions: Option<&[u32]>,
        until: Until,
    ) {
        if let ListRequest::Change(change, _) = request {
            assert!(change.is_for(list.len()), "{} words have fewer operands", list.len());
        }
        let is_for = positions.is_none_or(|positions| positions.len() == list.len());
        assert!(is_for, "a position for each of {} elements", list.len());
        let (limits, pe, size) = (&self.engine.limits, list.first.pe.number(), list.size);
        let each = Task::of(request).bytes_of_each(size);
        let Some(into) = request.into() else {
            let borrows =
                limits.lends(list.len().saturating_mul(each)) && self.engine.has_borrowed(self.wire, pe);
            for (_, part, request) in cut(list, request, limits.sent(each, borrows)) {
                let fill = &mut |room: &mut [u8]| {
                    if let ListRequest::Place(source) = request {
                        // SAFETY: all elements of the source are readable (caller), and `room` is as long as those of this message.
                        unsafe { shared::copy(room.as_mut_ptr(), source, room.len()) };
                    }
                };
                self.send(pe, &Message::List(List::of(part), Task::of(request)), fill, borrows);
            }
            return;
        };
        let mut asking = Asking::new(self, pe, until);
        for (from, part, request) in cut(list, request, limits.wanted(size, each)) {
            // The caller's memory has room for an element at each position, for as long as `until` says.
            let (into, positions) = match positions {
                None => (into.wrapping_add(from * size), None),
                Some(all) => (into, Some(all[from..][..part.len()].into())),
            };
            let destination = Destination::Elements { into, size, count: part.len(), positions };
            asking.ask(destination, &Message::List(List::of(part), Task::of(request)));
        }
        asking.finish();
    }

    /// Starts a change of a word without a result, if wire and window have room now.
    pub(crate) fn try_update(self, word: Remote, width: Width, op: AtomicOp) -> Sent {
        let (pe, message) = (word.pe.number(), Message::word(word, width, op, false));
        let hand_over =
            |_| self.engine.hand_over(self.wire, pe, self.channel.0, &message, &mut |_| {}, false);
        self.try_start(pe, None, hand_over).map_or(Sent::Full, |_| Sent::Done)
    }

    /// As [`try_update`](Self::try_update), but waits for room.
    pub(crate) fn update(self, word: Remote, width: Width, op: AtomicOp) {
        while self.try_update(word, width, op) == Sent::Full {
            self.wire.progress();
        }
    }

    /// Applies `op` to a word, and returns the old value.
    pub(crate) fn atomic(self, word: Remote, width: Width, op: AtomicOp) -> u64 {
        let (pe, mut before) = (word.pe.number(), 0_u64);
        let into: *mut u8 = (&raw mut before).cast();
        let destination = Destination::Elements { into, size: width.bytes(), count: 1, positions: None };
        // `before` stays until the answer, because this function returns after it, and does not unwind earlier (`Incomplete`).
        let ticket = self.ask(pe, destination, &Message::word(word, width, op, true));
        self.wait(pe, Some(ticket));
        // SAFETY: `before` is eight bytes. The answer has written all of them, or the low four, and the others are zeroes.
        unsafe { into.cast::<u64>().read() }
    }

    /// Starts an atomic operation on a word. The old value is at `result` when the channel is quiet.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic_nbi`](crate::transport::Transport::atomic_nbi).
    pub(crate) unsafe fn atomic_nbi(self, word: Remote, width: Width, op: AtomicOp, result: *mut u8) {
        let destination =
            Destination::Elements { into: result, size: width.bytes(), count: 1, positions: None };
        self.ask(word.pe.number(), destination, &Message::word(word, width, op, true));
    }

    /// Sends a put with its data. If `borrows`, uses a slot of the grant.
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put), for the pattern of the message.
    unsafe fn send_put(
        self,
        pe: usize,
        message: &Message<'_>,
        source: *const u8,
        pattern: &Pattern,
        borrows: bool,
    ) {
        let plan = TransferPlan::auto(pattern.packed());
        let fill = &mut |data: &mut [u8]| {
            assert_eq!(data.len(), pattern.bytes(), "a buffer has the size that was asked for");
            // SAFETY: every block of the source is readable (caller). Packed, the blocks have the length of `data`.
            unsafe { strided::execute_dyn(&plan, data.as_mut_ptr(), source) };
        };
        self.send(pe, message, fill, borrows);
    }

    /// Sends a message without a result. If `borrows`, uses a slot of the grant.
    fn send(self, pe: usize, message: &Message<'_>, fill: &mut dyn FnMut(&mut [u8]), borrows: bool) {
        let Self { engine, wire, channel } = self;
        self.start(pe, None, |_| engine.hand_over(wire, pe, channel.0, message, fill, borrows));
    }

    /// Sends a message with a result.
    fn ask(self, pe: usize, destination: Destination, message: &Message<'_>) -> Ticket {
        // The answer may arrive from here on. If the wire unwound, the destination would be gone, so `Incomplete` aborts.
        let awaited = Incomplete;
        let ticket = self.start(pe, Some(destination), |ticket| {
            let name = ticket.map_or(0, Ticket::name);
            self.engine.hand_over(self.wire, pe, name, message, &mut |_| {}, false)
        });
        core::mem::forget(awaited);
        ticket.unwrap_or_else(|| unreachable!("something comes back"))
    }

    /// Sends a message by `send` as soon as wire and window have room. Returns a ticket if there is a `destination` for a result.
    fn start(
        self,
        pe: usize,
        destination: Option<Destination>,
        mut send: impl FnMut(Option<Ticket>) -> Sent,
    ) -> Option<Ticket> {
        loop {
            if let Some(ticket) = self.try_start(pe, destination.clone(), &mut send) {
                return ticket;
            }
            self.wire.progress();
        }
    }

    /// Sends a message by `send`, if wire and window have room. Takes the place in the window first, because the answer may come
    /// before `send` returns. Returns `None` if there is no room, and `Some(None)` for a message without a result. Panics if an
    /// answer comes although `send` found no room, because the answer may be written to the destination at any time.
    fn try_start(
        self,
        pe: usize,
        destination: Option<Destination>,
        send: impl FnOnce(Option<Ticket>) -> Sent,
    ) -> Option<Option<Ticket>> {
        let Self { engine, channel, .. } = self;
        let requests = &engine.peer(pe).requests;
        let wanted = destination.map(|destination| (channel, destination));
        let ticket = requests.lock().start(&engine.limits, wanted)?;
        let due = ticket.map_or(Due::Acknowledgement, |_| Due::Result);
        engine.streams.get(channel).send(due);
        if send(ticket) == Sent::Done {
            return Some(ticket);
        }
        let left = requests.lock().withdraw(ticket);
        let withdrawn = left.and_then(|()| engine.streams.answered(channel, due, 1).ok_or(Malformed::Answer));
        withdrawn.unwrap_or_else(|flaw| answered_unsent(pe, flaw));
        None
    }

    fn wait(self, pe: usize, ticket: Option<Ticket>) {
        let Some(ticket) = ticket else { return };
        let awaited = Incomplete;
        while !self.engine.peer(pe).requests.lock().is_finished(ticket) {
            self.wire.progress();
        }
        core::mem::forget(awaited);
    }
}

/// Cuts a list into parts of at most `most` elements. Each item is the position of the part's first element in the list, the part's
/// elements, and the operation on them.
fn cut<'l>(
    list: Elements<'l>,
    request: ListRequest<'l>,
    most: usize,
) -> impl Iterator<Item = (usize, Elements<'l>, ListRequest<'l>)> {
    assert!(most > 0, "elements of {} bytes fit no message", list.size);
    list.indices.chunks(most).enumerate().map(move |(k, indices)| {
        let from = k * most;
        (from, Elements { indices, ..list }, request.part(from, indices.len(), list.size))
    })
}

/// Requests of one transfer. If the caller waits for them, [`ask`](Self::ask) returns when at most 32 are unanswered.
struct Asking<'e> {
    initiator: Initiator<'e>,
    pe: usize,
    until: Until,
    tickets: [Option<Ticket>; 32],
    sent: usize,
    /// Aborts on unwinding, because answers would be written to destinations that are gone.
    awaited: Incomplete,
}

impl<'e> Asking<'e> {
    fn new(initiator: Initiator<'e>, pe: usize, until: Until) -> Self {
        Self { initiator, pe, until, tickets: [None; 32], sent: 0, awaited: Incomplete }
    }

    /// Sends another request, whose destination the caller keeps as long as `until` says.
    fn ask(&mut self, destination: Destination, message: &Message<'_>) {
        let ticket = self.initiator.ask(self.pe, destination, message);
        if self.until == Until::Return {
            let before = self.tickets[self.sent % self.tickets.len()].replace(ticket);
            self.sent += 1;
            self.initiator.wait(self.pe, before);
        }
    }

    fn finish(self) {
        self.tickets.into_iter().for_each(|ticket| self.initiator.wait(self.pe, ticket));
        core::mem::forget(self.awaited);
    }
}

/// Ends the program: the wire has sent a message although it reported no room, or the PE answers a message that was not sent.
#[cold]
fn answered_unsent(pe: usize, flaw: Malformed) -> ! {
    panic!(
        "PE {pe} answers a message for which the wire had no room: {flaw}; all PEs must run the same program with the same library"
    )
}
