//! What a PE sends of its own accord.
//!
//! Sources are packed before these functions return, so whether an operation may go on makes no difference to
//! them. Only what is read goes on: [`get`](Engine::get) until quiet, [`atomic_nbi`](Engine::atomic_nbi).

use super::super::streams::Due;
use super::Engine;
use super::bounce::{Borrowed, Slot};
use super::message::{BEFORE_ANSWER, Message};
use super::requests::{Destination, Ticket};
use super::wire::{Flaw, Sent, Wire};
use crate::strided::{self, Algorithm, Pattern, Plan};
use crate::transport::{AtomicOp, Channel, Remote, SignalOp, Until, Width};

impl Engine {
    /// Writes blocks.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_strided`](crate::transport::Transport::put_strided) until it returns.
    pub(crate) unsafe fn put(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
    ) {
        let bytes = pattern.bytes();
        let borrows = self.limits.lends(bytes) && self.has_borrowed(wire, to.pe.number());
        strided::each_fitting(pattern, self.limits.carries(bytes, borrows), |at, of, pattern| {
            let to = Remote { offset: to.offset + at, ..to };
            let message = Message::Put { at: to.into(), pattern, signal: None, is_patient: false };
            // SAFETY: the part's blocks are some of the pattern's (caller).
            unsafe { self.send_put(wire, channel, to, &message, source.wrapping_add(of), &pattern, borrows) };
        });
    }

    /// Whether a PE has lent this one slots. If it was not asked before, it is now, and nobody waits for the answer.
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
        // The wire is called without a lock of the engine, and the answer may come before it returns.
        drop(borrowed);
        if self.hand_over(wire, pe, 0, &Message::Borrow, &mut |_| {}, false) == Sent::Full {
            let withdrawn = peer.requests.lock().withdraw(None);
            withdrawn.unwrap_or_else(|flaw| answered_unsent(pe, flaw));
            peer.borrowed.lock().withdraw();
        }
        false
    }

    /// Bytes of blocks that each message of a transfer of so many bytes to a PE carries, at least.
    pub(crate) fn carries(&self, pe: usize, bytes: usize) -> usize {
        let borrows = self.limits.lends(bytes) && *self.peer(pe).borrowed.lock() != Borrowed::Refused;
        self.limits.carries(bytes, borrows)
    }

    /// Whether [`put_signal`](Self::put_signal) can send so many bytes.
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        bytes <= self.limits.carries(0, false)
    }

    /// Writes bytes, and changes a signal of the same PE behind them, in one message. The acknowledgement to a patient sender may
    /// come late: nobody waits for the channel to be quiet but at the end.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_signal`](crate::transport::Transport::put_signal) until it returns.
    ///
    /// # Panics
    ///
    /// If that does not [fit](Self::fits) one message.
    #[expect(clippy::too_many_arguments, reason = "a put and its signal")]
    pub(crate) unsafe fn put_signal(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        source: *const u8,
        bytes: usize,
        signal: Remote,
        op: SignalOp,
        is_patient: bool,
    ) {
        assert!(self.fits(bytes), "{bytes} bytes and a signal fit no message");
        let (pattern, signal) = (Pattern::contiguous(bytes), Some((signal.into(), op)));
        let message = Message::Put { at: to.into(), pattern, signal, is_patient };
        // SAFETY: one block (caller).
        unsafe { self.send_put(wire, channel, to, &message, source, &pattern, false) };
    }

    /// Changes a signal behind bytes of any number, for which no message has room: `write` writes both by one operation, the bytes to
    /// where they belong and the message to a slot that the PE has [lent](Self::has_borrowed), and has the PE's engine notified
    /// when all of it is there. It is given the slot and what puts together the message, of so many bytes, once; if it says that
    /// there was no room, it is called again.
    ///
    /// The slot is the message's alone: where the bytes lie, and that they are written before the engine is notified, is the
    /// business of `write`.
    pub(crate) fn signal_behind(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        signal: Remote,
        op: SignalOp,
        mut write: impl FnMut(Slot, usize, &mut dyn FnMut(&mut [u8])) -> Sent,
    ) {
        let (pe, message) = (signal.pe.number(), atomic(signal, Width::W8, op.into(), false));
        let (from, bytes) = (self.peer(pe).sender, message.bytes());
        self.start(wire, channel, pe, None, |_| {
            self.with_slot(pe, |slot| {
                write(slot, bytes, &mut |buffer: &mut [u8]| _ = message.write(from, channel.0, buffer))
            })
        });
    }

    /// Reads blocks; they are there on return, or when the channel is quiet, as `until` says.
    ///
    /// # Safety
    ///
    /// As [`Transport::get_strided`](crate::transport::Transport::get_strided).
    pub(crate) unsafe fn get(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
        until: Until,
    ) {
        let mut asking = Asking::new(self, wire, (channel, from.pe.number()), until);
        let most = self.limits.message_for(pattern.bytes(), false) - BEFORE_ANSWER;
        strided::each_fitting(pattern, most, |at, of, pattern| {
            let from = Remote { offset: from.offset + of, ..from };
            // The part's blocks are some of the pattern's.
            let destination =
                Destination::Blocks { into: into.wrapping_add(at), pattern: pattern.unpacked() };
            asking.ask(destination, &Message::Get { at: from.into(), pattern });
        });
        asking.finish();
    }

    /// Changes a word; nothing comes back but an acknowledgement.
    pub(crate) fn update(&self, wire: &dyn Wire, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        while self.try_update(wire, channel, word, width, op) == Sent::Full {
            wire.progress();
        }
    }

    /// As [`update`](Self::update), if there is room for it now.
    pub(crate) fn try_update(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        word: Remote,
        width: Width,
        op: AtomicOp,
    ) -> Sent {
        let (pe, message) = (word.pe.number(), atomic(word, width, op, false));
        let sent = self.try_start(channel, pe, None, |_| {
            self.hand_over(wire, pe, channel.0, &message, &mut |_| {}, false)
        });
        sent.map_or(Sent::Full, |_| Sent::Done)
    }

    /// Changes a word and gives what was there before.
    pub(crate) fn atomic(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        word: Remote,
        width: Width,
        op: AtomicOp,
    ) -> u64 {
        let (pe, mut before) = (word.pe.number(), 0_u64);
        let into: *mut u8 = (&raw mut before).cast();
        let destination = Destination::Word { into, width };
        // `before` is aligned for both widths, and stays until the request has been answered: this returns when it has, and does
        // not unwind (`Awaited`).
        let ticket = self.ask(wire, channel, pe, destination, &atomic(word, width, op, true));
        self.wait(wire, pe, Some(ticket));
        // SAFETY: the answer has written four bytes here, or all eight; those behind four are zeroes, and the low ones come first.
        unsafe { into.cast::<u64>().read() }
    }

    /// Changes a word; what was there before is written to `result` when the channel is quiet.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic_nbi`](crate::transport::Transport::atomic_nbi).
    pub(crate) unsafe fn atomic_nbi(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        word: Remote,
        width: Width,
        op: AtomicOp,
        result: *mut u8,
    ) {
        let destination = Destination::Word { into: result, width };
        self.ask(wire, channel, word.pe.number(), destination, &atomic(word, width, op, true));
    }

    /// Sends a put with its data, or writes it to a slot, if the sender `borrows`.
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put), for the pattern of the message.
    #[expect(clippy::too_many_arguments, reason = "a put, and which way it goes")]
    unsafe fn send_put(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        message: &Message<'_>,
        source: *const u8,
        pattern: &Pattern,
        borrows: bool,
    ) {
        let plan = Plan::of(pattern.packed(), 1, Algorithm::Auto, &strided::settings().thresholds);
        let fill = &mut |data: &mut [u8]| {
            assert_eq!(data.len(), pattern.bytes(), "a buffer has the size that was asked for");
            // SAFETY: every block of the source is readable (caller); packed, they are as many bytes as `data` has.
            unsafe { strided::execute_dyn(&plan, data.as_mut_ptr(), source) };
        };
        self.send(wire, channel, to.pe.number(), message, fill, borrows);
    }

    /// Sends a message that is only acknowledged, or writes it to a slot, if the sender `borrows`.
    pub(super) fn send(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        pe: usize,
        message: &Message<'_>,
        fill: &mut dyn FnMut(&mut [u8]),
        borrows: bool,
    ) {
        self.start(wire, channel, pe, None, |_| self.hand_over(wire, pe, channel.0, message, fill, borrows));
    }

    /// Sends a message that something comes back for.
    fn ask(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        pe: usize,
        destination: Destination,
        message: &Message<'_>,
    ) -> Ticket {
        // From here on the answer may come; a wire that unwinds would leave the destination behind.
        let awaited = Awaited;
        let ticket = self.start(wire, channel, pe, Some(destination), |ticket| {
            self.hand_over(wire, pe, ticket.map_or(0, Ticket::name), message, &mut |_| {}, false)
        });
        core::mem::forget(awaited);
        ticket.unwrap_or_else(|| unreachable!("something comes back"))
    }

    /// Has `send` send a message to a PE as soon as there is room on the wire, and a place in the window. Gives its ticket, if
    /// something comes back, for which there is a destination.
    fn start(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        pe: usize,
        destination: Option<Destination>,
        mut send: impl FnMut(Option<Ticket>) -> Sent,
    ) -> Option<Ticket> {
        loop {
            if let Some(ticket) = self.try_start(channel, pe, destination.clone(), &mut send) {
                return ticket;
            }
            wire.progress();
        }
    }

    /// Has `send` send a message to a PE, if there is room on the wire, and a place in the window. The place is taken before:
    /// the answer may come before `send` returns.
    ///
    /// # Panics
    ///
    /// If the answer comes although `send` says that nothing was sent: somebody may be writing to the destination then.
    fn try_start(
        &self,
        channel: Channel,
        pe: usize,
        destination: Option<Destination>,
        send: impl FnOnce(Option<Ticket>) -> Sent,
    ) -> Option<Option<Ticket>> {
        let peer = self.peer(pe);
        let wanted = destination.map(|destination| (channel, destination));
        let ticket = peer.requests.lock().start(&self.limits, wanted)?;
        let due = ticket.map_or(Due::Acknowledgement, |_| Due::Result);
        self.streams.get(channel).send(due);
        if send(ticket) == Sent::Done {
            return Some(ticket);
        }
        let left = peer.requests.lock().withdraw(ticket);
        let withdrawn = left.and_then(|()| self.streams.answered(channel, due, 1).ok_or(Flaw::Answer));
        withdrawn.unwrap_or_else(|flaw| answered_unsent(pe, flaw));
        None
    }

    /// Hands a message to the wire, with data that `fill` writes, or writes it to a slot, if the sender `borrows`.
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
        match borrows {
            false => wire.try_send(pe, bytes, write),
            true => self.with_slot(pe, |slot| wire.try_write(pe, slot, bytes, write)),
        }
    }

    /// Has `write` write to a slot that was lent, if one is free.
    fn with_slot(&self, pe: usize, write: impl FnOnce(Slot) -> Sent) -> Sent {
        let taken = self.peer(pe).borrowed.lock().take();
        let Some(slot) = taken else { return Sent::Full };
        let sent = write(slot);
        if sent == Sent::Full {
            let untouched = self.peer(pe).borrowed.lock().give_back(1 << slot.index);
            untouched.unwrap_or_else(|flaw| unreachable!("slot {} was taken: {flaw}", slot.number));
        }
        sent
    }

    /// Waits for what was asked for.
    fn wait(&self, wire: &dyn Wire, pe: usize, ticket: Option<Ticket>) {
        let Some(ticket) = ticket else { return };
        let awaited = Awaited;
        while !self.peer(pe).requests.lock().is_finished(ticket) {
            wire.progress();
        }
        core::mem::forget(awaited);
    }
}

fn atomic(word: Remote, width: Width, op: AtomicOp, is_wanted: bool) -> Message<'static> {
    Message::Atomic { word: word.into(), width, op, is_wanted }
}

/// Parts of one transfer that something comes back for. Where they are waited for, some of them are under way at a time.
pub(super) struct Asking<'e> {
    engine: &'e Engine,
    wire: &'e dyn Wire,
    channel: Channel,
    pe: usize,
    until: Until,
    tickets: [Option<Ticket>; 32],
    sent: usize,
    /// Unwinding would leave the destinations of what was asked for behind.
    awaited: Awaited,
}

impl<'e> Asking<'e> {
    pub(super) fn new(
        engine: &'e Engine,
        wire: &'e dyn Wire,
        (channel, pe): (Channel, usize),
        until: Until,
    ) -> Self {
        Self { engine, wire, channel, pe, until, tickets: [None; 32], sent: 0, awaited: Awaited }
    }

    /// Asks for another part, whose destination stays as long as `until` says.
    pub(super) fn ask(&mut self, destination: Destination, message: &Message<'_>) {
        let ticket = self.engine.ask(self.wire, self.channel, self.pe, destination, message);
        if self.until == Until::Return {
            let before = self.tickets[self.sent % self.tickets.len()].replace(ticket);
            self.sent += 1;
            self.engine.wait(self.wire, self.pe, before);
        }
    }

    /// Waits for what is to be waited for.
    pub(super) fn finish(self) {
        self.tickets.into_iter().for_each(|ticket| self.engine.wait(self.wire, self.pe, ticket));
        core::mem::forget(self.awaited);
    }
}

/// The wire has said that there was no room for a message, or the PE answers what it was not sent.
#[cold]
fn answered_unsent(pe: usize, flaw: Flaw) -> ! {
    panic!(
        "PE {pe} answers a message for which the wire had no room: {flaw}; all PEs must run the same program with the same library"
    )
}

/// An answer that will be written to where its caller waits. Unwinding would leave that behind.
struct Awaited;

impl Drop for Awaited {
    fn drop(&mut self) {
        std::process::abort();
    }
}
