//! What a PE sends of its own accord.
//!
//! Sources are packed before these functions return, so whether an operation may go on makes no difference to
//! them. Only what is read goes on: [`get_nbi`](Engine::get_nbi), [`atomic_nbi`](Engine::atomic_nbi).

use super::Engine;
use super::message::{Atomic, BEFORE_ANSWER, Get, MOST_BEFORE_DATA, Put, Spot, Wanted};
use super::requests::{Destination, Ticket};
use super::wire::{Sent, Wire};
use crate::strided::{self, Algorithm, Pattern, Plan};
use crate::transport::{AtomicOp, Channel, Remote, SignalOp, Width};

/// Parts of one get that are waited for at a time.
const PARTS: usize = 32;

impl Engine {
    /// Writes blocks.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_strided`](crate::transport::Transport::put_strided).
    pub unsafe fn put(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
    ) {
        let most = self.limits.message_for(pattern.bytes()) - MOST_BEFORE_DATA;
        strided::each_fitting(pattern, most, |at, of, part| {
            let to = Remote { offset: to.offset + at, ..to };
            // SAFETY: the part's blocks are some of the pattern's (caller).
            unsafe { self.send_put(wire, channel, to, source.wrapping_add(of), &part, None) };
        });
    }

    /// Bytes of blocks that a message carries at least.
    pub fn carries(&self) -> usize {
        self.limits.message_for(0) - MOST_BEFORE_DATA
    }

    /// Whether [`put_signal`](Self::put_signal) can send so many bytes.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.carries()
    }

    /// Writes bytes, and changes a signal of the same PE behind them, in one message.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_signal`](crate::transport::Transport::put_signal).
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
    ) {
        assert!(self.fits(bytes), "{bytes} bytes and a signal fit no message");
        let pattern = Pattern::contiguous(bytes);
        // SAFETY: one block (caller).
        unsafe { self.send_put(wire, channel, to, source, &pattern, Some((signal.into(), op))) };
    }

    /// Reads blocks; they are there on return.
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
    ) {
        let (mut tickets, mut sent) = ([None; PARTS], 0);
        let most = self.limits.message_for(pattern.bytes()) - BEFORE_ANSWER;
        strided::each_fitting(pattern, most, |at, of, part| {
            let from = Remote { offset: from.offset + of, ..from };
            let ticket = &mut tickets[sent % PARTS];
            self.wait(wire, from.pe.number(), ticket.take());
            let into = into.wrapping_add(at);
            // SAFETY: the part's blocks are some of the pattern's (caller), and are waited for here or below.
            *ticket = Some(unsafe { self.send_get(wire, channel, into, from, &part) });
            sent += 1;
        });
        for ticket in tickets {
            self.wait(wire, from.pe.number(), ticket);
        }
    }

    /// Reads blocks; they are there when the channel is quiet.
    ///
    /// # Safety
    ///
    /// As [`Transport::get_strided_nbi`](crate::transport::Transport::get_strided_nbi).
    pub unsafe fn get_nbi(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
    ) {
        let most = self.limits.message_for(pattern.bytes()) - BEFORE_ANSWER;
        strided::each_fitting(pattern, most, |at, of, part| {
            let from = Remote { offset: from.offset + of, ..from };
            // SAFETY: the part's blocks are some of the pattern's (caller).
            unsafe { self.send_get(wire, channel, into.wrapping_add(at), from, &part) };
        });
    }

    /// Changes a word; nothing comes back but an acknowledgement.
    pub fn update(&self, wire: &dyn Wire, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        let wanted = Wanted::Acknowledgement(channel.0);
        let message = Atomic { from: self.me, wanted, word: word.into(), width, op };
        self.send(wire, channel, word.pe.number(), Atomic::BYTES, &mut |buffer| message.write(buffer));
    }

    /// Changes a word and gives what was there before.
    pub fn atomic(&self, wire: &dyn Wire, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64 {
        let mut before = 0_u64;
        let into = (&raw mut before).cast();
        // SAFETY: `before` is aligned for both widths, and stays until the request has been answered.
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

    /// # Safety
    ///
    /// As [`put`](Self::put), for a pattern that fits a message.
    unsafe fn send_put(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
        signal: Option<(Spot, SignalOp)>,
    ) {
        let put = Put { from: self.me, channel: channel.0, to: to.into(), pattern, signal };
        let plan = Plan::of(pattern.packed(), 1, Algorithm::Auto, &strided::settings().thresholds);
        self.send(wire, channel, to.pe.number(), put.bytes(), &mut |buffer| {
            let data = put.write(buffer);
            assert_eq!(data.len(), pattern.bytes(), "a buffer has the size that was asked for");
            // SAFETY: every block of the source is readable (caller); packed, they are as many bytes as `data` has.
            unsafe { strided::execute_later(&plan, data.as_mut_ptr(), source) };
        });
    }

    /// # Safety
    ///
    /// As [`get_nbi`](Self::get_nbi), for a pattern that fits a message, until the request is answered.
    unsafe fn send_get(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
    ) -> Ticket {
        let destination = Destination::Blocks { into, pattern: pattern.unpacked() };
        let get = Get { from: self.me, request: 0, of: from.into(), pattern };
        self.ask(wire, channel, from.pe.number(), destination, get.bytes(), &mut |request, buffer| {
            Get { request, ..get }.write(buffer);
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
        let destination = Destination::Word { into, width };
        self.ask(wire, channel, word.pe.number(), destination, Atomic::BYTES, &mut |request, buffer| {
            let wanted = Wanted::Value(request);
            Atomic { from: self.me, wanted, word: word.into(), width, op }.write(buffer);
        })
    }

    /// Sends a message that is only acknowledged.
    fn send(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        pe: usize,
        bytes: usize,
        write: &mut dyn FnMut(&mut [u8]),
    ) {
        let peer = self.peer(pe);
        loop {
            if peer.requests().start(self.limits.window) {
                self.streams.start(channel);
                if wire.try_send(pe, bytes, write) == Sent::Done {
                    return;
                }
                self.streams.withdraw(channel);
                peer.requests().withdraw();
            }
            wire.progress();
        }
    }

    /// Sends a message that something comes back for.
    fn ask(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        pe: usize,
        destination: Destination,
        bytes: usize,
        write: &mut dyn FnMut(u32, &mut [u8]),
    ) -> Ticket {
        let peer = self.peer(pe);
        loop {
            let asked = peer.requests().ask(self.limits.window, channel, destination);
            if let Some(ticket) = asked {
                self.streams.start(channel);
                if wire.try_send(pe, bytes, &mut |buffer| write(ticket.name(), buffer)) == Sent::Done {
                    return ticket;
                }
                self.streams.withdraw(channel);
                peer.requests().finish(ticket);
            }
            wire.progress();
        }
    }

    fn wait(&self, wire: &dyn Wire, pe: usize, ticket: Option<Ticket>) {
        let Some(ticket) = ticket else { return };
        let awaited = Awaited;
        while !self.peer(pe).requests().is_finished(ticket) {
            wire.progress();
        }
        core::mem::forget(awaited);
    }
}

/// An answer that will be written to where its caller waits. Unwinding would leave that behind.
struct Awaited;

impl Drop for Awaited {
    fn drop(&mut self) {
        std::process::abort();
    }
}
