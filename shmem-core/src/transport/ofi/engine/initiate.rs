//! What a PE sends of its own accord.
//!
//! Sources are packed before these functions return, so whether an operation may go on makes no difference to
//! them. Only what is read goes on: [`get`](Engine::get) until quiet, [`atomic_nbi`](Engine::atomic_nbi).

use super::Engine;
use super::loan::{Borrowed, Slot};
use super::message::{self, Atomic, BEFORE_ANSWER, Behind, Blocks, Wanted};
use super::requests::{Destination, Due, Ticket};
use super::wire::{Flaw, Sent, Wire};
use crate::strided::{self, Algorithm, Pattern, Plan};
use crate::transport::{AtomicOp, Channel, Remote, SignalOp, Until, Width};

/// Parts of one get, or of one list, that are waited for: some at a time.
#[derive(Default)]
pub(super) struct Parts {
    tickets: [Option<Ticket>; 32],
    sent: usize,
}

impl Parts {
    /// Another part was sent, for which whoever asked waits if it is `awaited`. Gives one that is to be waited for before.
    pub(super) fn add(&mut self, ticket: Ticket, awaited: bool) -> Option<Ticket> {
        let place = &mut self.tickets[self.sent % 32];
        self.sent += usize::from(awaited);
        if awaited { place.replace(ticket) } else { None }
    }

    /// All that are still to be waited for.
    pub(super) fn rest(self) -> impl Iterator<Item = Ticket> {
        self.tickets.into_iter().flatten()
    }
}

impl Engine {
    /// Writes blocks.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_strided`](crate::transport::Transport::put_strided) until it returns.
    pub unsafe fn put(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
    ) {
        let bytes = pattern.bytes();
        let borrows = self.limits.lends(bytes) && self.has_borrowed(wire, to.pe.number());
        strided::each_fitting(pattern, self.limits.carries(bytes, borrows), |at, of, part| {
            let to = Remote { offset: to.offset + at, ..to };
            // SAFETY: the part's blocks are some of the pattern's (caller).
            unsafe {
                self.send_put(wire, channel, to, source.wrapping_add(of), &part, Behind::default(), borrows)
            };
        });
    }

    /// Whether a PE has lent this one slots. If it was not asked before, it is now, and nobody waits for the answer.
    pub fn has_borrowed(&self, wire: &dyn Wire, pe: usize) -> bool {
        if self.limits.loans == 0 {
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
        let write = &mut |buffer: &mut [u8]| message::write_borrow(buffer, peer.sender(self.me));
        if wire.try_send(pe, message::BORROW_BYTES, write) == Sent::Full {
            let withdrawn = peer.requests.lock().withdraw(None);
            withdrawn.unwrap_or_else(|flaw| answered_unsent(pe, flaw));
            peer.borrowed.lock().withdraw();
        }
        false
    }

    /// Bytes of blocks that each message of a transfer of so many bytes to a PE carries, at least.
    pub fn carries(&self, pe: usize, bytes: usize) -> usize {
        let borrows = self.limits.lends(bytes) && *self.peer(pe).borrowed.lock() != Borrowed::Refused;
        self.limits.carries(bytes, borrows)
    }

    /// Whether [`put_signal`](Self::put_signal) can send so many bytes.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.limits.carries(0, false)
    }

    /// Writes bytes, and changes a signal of the same PE behind them, in one message. If the sender is `patient`, its
    /// acknowledgement may come late: nobody waits for the channel to be quiet but at the end.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_signal`](crate::transport::Transport::put_signal) until it returns.
    ///
    /// # Panics
    ///
    /// If that does not [fit](Self::fits) one message.
    #[expect(clippy::too_many_arguments, reason = "a put and its signal")]
    pub unsafe fn put_signal(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        source: *const u8,
        bytes: usize,
        signal: Remote,
        op: SignalOp,
        patient: bool,
    ) {
        assert!(self.fits(bytes), "{bytes} bytes and a signal fit no message");
        let behind = Behind { signal: Some((signal.into(), op)), patient };
        // SAFETY: one block (caller).
        unsafe {
            self.send_put(wire, channel, to, source, &Pattern::contiguous(bytes), behind, false);
        };
    }

    /// Changes a signal behind bytes of any number, for which no message has room: `write` writes both by one operation, the
    /// bytes to where they belong and the message to a slot that the PE has [lent](Self::has_borrowed), and has the PE's engine
    /// told when all of it is there. It is given the slot and what puts together the message, of so many bytes, once; if it
    /// says that there was no room, it is called again.
    ///
    /// The slot is the message's alone: where the bytes lie, and that they are written before the engine is told, is the
    /// business of `write`.
    pub fn signal_behind(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        signal: Remote,
        op: SignalOp,
        mut write: impl FnMut(Slot, usize, &mut dyn FnMut(&mut [u8])) -> Sent,
    ) {
        let pe = signal.pe.number();
        let message = self.update_of(channel, signal, Width::W8, op.into());
        self.start(wire, channel, pe, None, |_| {
            self.with_slot(pe, |slot| {
                write(slot, Atomic::BYTES, &mut |buffer: &mut [u8]| message.write(buffer))
            })
        });
    }

    /// Reads blocks; they are there on return, or when the channel is quiet, as `until` says.
    ///
    /// # Safety
    ///
    /// As [`Transport::get_strided`](crate::transport::Transport::get_strided).
    pub unsafe fn get(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
        until: Until,
    ) {
        let mut parts = Parts::default();
        let most = self.limits.message_for(pattern.bytes(), false) - BEFORE_ANSWER;
        strided::each_fitting(pattern, most, |at, of, part| {
            let from = Remote { offset: from.offset + of, ..from };
            let into = into.wrapping_add(at);
            // SAFETY: the part's blocks are some of the pattern's (caller), and are waited for here or below, or until quiet.
            let ticket = unsafe { self.send_get(wire, channel, into, from, &part) };
            self.wait(wire, from.pe.number(), parts.add(ticket, until == Until::Return));
        });
        parts.rest().for_each(|ticket| self.wait(wire, from.pe.number(), Some(ticket)));
    }

    /// Changes a word; nothing comes back but an acknowledgement.
    pub fn update(&self, wire: &dyn Wire, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        while self.try_update(wire, channel, word, width, op) == Sent::Full {
            wire.progress();
        }
    }

    /// As [`update`](Self::update), if there is room for it now.
    pub fn try_update(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        word: Remote,
        width: Width,
        op: AtomicOp,
    ) -> Sent {
        let (pe, message) = (word.pe.number(), self.update_of(channel, word, width, op));
        let sent = self.try_start(channel, pe, None, |_| {
            wire.try_send(pe, Atomic::BYTES, &mut |buffer| message.write(buffer))
        });
        sent.map_or(Sent::Full, |_| Sent::Done)
    }

    /// Changes a word and gives what was there before.
    pub fn atomic(&self, wire: &dyn Wire, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64 {
        let mut before = 0_u64;
        let into = (&raw mut before).cast();
        // SAFETY: `before` is aligned for both widths, and stays until the request has been answered: this returns when it
        // has, and does not unwind (`Awaited`).
        let ticket = unsafe { self.send_atomic(wire, channel, word, width, op, into) };
        self.wait(wire, word.pe.number(), Some(ticket));
        match width {
            // SAFETY: the answer has written four bytes here.
            Width::W4 => u64::from(unsafe { into.cast::<u32>().read() }),
            // SAFETY: the answer has written it.
            Width::W8 => unsafe { into.cast::<u64>().read() },
        }
    }

    /// Changes a word; what was there before is written to `result` when the channel is quiet.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic_nbi`](crate::transport::Transport::atomic_nbi).
    pub unsafe fn atomic_nbi(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        word: Remote,
        width: Width,
        op: AtomicOp,
        result: *mut u8,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.send_atomic(wire, channel, word, width, op, result) };
    }

    fn update_of(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> Atomic {
        let (from, wanted) = (self.sender(word.pe.number()), Wanted::Acknowledgement(channel.0));
        Atomic { from, wanted, word: word.into(), width, op }
    }

    /// # Safety
    ///
    /// As [`put`](Self::put), for a pattern that fits a message.
    #[expect(clippy::too_many_arguments, reason = "a put, its signal, and which way it goes")]
    unsafe fn send_put(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
        behind: Behind,
        borrows: bool,
    ) {
        let (from, put) = (self.sender(to.pe.number()), Some(behind));
        let blocks = Blocks { from, number: channel.0, at: to.into(), pattern, put };
        let plan = Plan::of(pattern.packed(), 1, Algorithm::Auto, &strided::settings().thresholds);
        let write = &mut |buffer: &mut [u8]| {
            let data = blocks.write(buffer);
            assert_eq!(data.len(), pattern.bytes(), "a buffer has the size that was asked for");
            // SAFETY: every block of the source is readable (caller); packed, they are as many bytes as `data` has.
            unsafe { strided::execute_dyn(&plan, data.as_mut_ptr(), source) };
        };
        self.send(wire, channel, to.pe.number(), blocks.bytes(), write, borrows);
    }

    /// # Safety
    ///
    /// As [`get`](Self::get), for a pattern that fits a message, until the request is answered.
    unsafe fn send_get(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
    ) -> Ticket {
        let (pe, destination) = (from.pe.number(), Destination::Blocks { into, pattern: pattern.unpacked() });
        let blocks = Blocks { from: self.sender(pe), number: 0, at: from.into(), pattern, put: None };
        self.ask(wire, channel, pe, destination, blocks.bytes(), &mut |number, buffer| {
            _ = Blocks { number, ..blocks }.write(buffer);
        })
    }

    /// # Safety
    ///
    /// As [`atomic_nbi`](Self::atomic_nbi), until the request is answered.
    unsafe fn send_atomic(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        word: Remote,
        width: Width,
        op: AtomicOp,
        into: *mut u8,
    ) -> Ticket {
        let (destination, from) = (Destination::Word { into, width }, self.sender(word.pe.number()));
        self.ask(wire, channel, word.pe.number(), destination, Atomic::BYTES, &mut |request, buffer| {
            let wanted = Wanted::Value(request);
            Atomic { from, wanted, word: word.into(), width, op }.write(buffer);
        })
    }

    /// Sends a message that is only acknowledged, or writes it to a slot, if the sender `borrows`.
    pub(super) fn send(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        pe: usize,
        bytes: usize,
        write: &mut dyn FnMut(&mut [u8]),
        borrows: bool,
    ) {
        self.start(wire, channel, pe, None, |_| match borrows {
            false => wire.try_send(pe, bytes, write),
            true => self.with_slot(pe, |slot| wire.try_write(pe, slot, bytes, write)),
        });
    }

    /// Sends a message that something comes back for.
    pub(super) fn ask(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        pe: usize,
        destination: Destination,
        bytes: usize,
        write: &mut dyn FnMut(u32, &mut [u8]),
    ) -> Ticket {
        // From here on the answer may come; a wire that unwinds would leave the destination behind.
        let awaited = Awaited;
        let ticket = self.start(wire, channel, pe, Some(destination), |ticket| {
            let name = ticket.map_or(0, Ticket::name);
            wire.try_send(pe, bytes, &mut |buffer| write(name, buffer))
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
        self.streams.start(channel, due);
        if send(ticket) == Sent::Done {
            return Some(ticket);
        }
        let left = peer.requests.lock().withdraw(ticket);
        let withdrawn = left.and_then(|()| self.streams.answered(channel, due, 1));
        withdrawn.unwrap_or_else(|flaw| answered_unsent(pe, flaw));
        None
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
    pub(super) fn wait(&self, wire: &dyn Wire, pe: usize, ticket: Option<Ticket>) {
        let Some(ticket) = ticket else { return };
        let awaited = Awaited;
        while !self.peer(pe).requests.lock().is_finished(ticket) {
            wire.progress();
        }
        core::mem::forget(awaited);
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
pub(super) struct Awaited;

impl Drop for Awaited {
    fn drop(&mut self) {
        std::process::abort();
    }
}
