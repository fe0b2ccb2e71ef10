//! Puts with a signal behind them.
//!
//! Whoever sees the change of the signal has to see the data, over networks that keep no order between operations, and none
//! within one. Three ways lead there, none of which waits for a round trip between the two:
//!
//! * **One message**: the target's [engine](super::engine) copies the data to its place and then changes the signal. For what
//!   is short enough to be sent at once.
//! * **One write to two places**: the data to where it belongs, and a message about the signal to a slot that the target has
//!   [lent](super::loans). The target is told when all of it is there (`FI_REMOTE_CQ_DATA`), and carries the message out. Nothing
//!   is copied, and any length is one operation. It takes a provider that tells eight bytes and writes to two places at once,
//!   and a loan; that is asked for by the first put that would need it, which goes the third way.
//! * **Delivered, then signalled**: the data as operations that are reported when they are delivered, and the signal
//!   [when all of them are](super::signals). That takes a round trip until the signal can leave, but nobody waits for it, and
//!   the data of others is under way meanwhile.

use super::Fabric;
use super::engine::{LEAST_MESSAGE, Place, Sent, Slot};
use super::loans::Written;
use super::operation::{Local, Target};
use super::port::{Posting, What};
use super::record::{BUFFER_BYTES, Purpose, Record};
use super::rma::pieces;
use super::signals::Change;
use super::stall::Stall;
use crate::shared;
use crate::transport::{Remote, Until, Width};

impl Fabric {
    /// Writes bytes, then changes a signal.
    ///
    /// # Safety
    ///
    /// As [`Transport::put_signal`](crate::transport::Transport::put_signal).
    pub(super) unsafe fn put_before(
        &self,
        change: Change,
        to: Remote,
        source: *const u8,
        bytes: usize,
        until: Until,
    ) {
        let Change { channel, signal, op } = change;
        if self.engine.fits(bytes) && self.row().prefers_one_message(bytes) {
            let (line, patient) = (self.line(), self.streams.get(channel).is_patient());
            // SAFETY: the caller's promise.
            return unsafe { self.engine.put_signal(&line, channel, to, source, bytes, signal, op, patient) };
        }
        if bytes == 0 {
            // SAFETY: the caller's promise; a signal has 64 bits.
            return unsafe { self.update(channel, signal, Width::W8, op.into()) };
        }
        let described = self.keys.describe(&self.domain, source, bytes);
        let description = described.filter(|_| self.writes_both(to, bytes));
        match description {
            // SAFETY: the caller's promise.
            Some(description) => unsafe {
                let local = Local { from: source.cast_mut(), description };
                self.put_with(change, to, local, bytes, until);
            },
            // SAFETY: the caller's promise.
            None => unsafe { self.put_and_then(change, to, source, bytes, until) },
        }
    }

    /// Whether so many bytes and a message to a slot may be one write. If the PE was not asked for slots yet, it is now.
    fn writes_both(&self, to: Remote, bytes: usize) -> bool {
        let demands = &self.domain.demands;
        demands.pieces >= 2
            && bytes <= demands.max_message.saturating_sub(LEAST_MESSAGE)
            && self.engine.has_borrowed(&self.line(), to.pe.number())
    }

    /// Writes bytes and the message about their signal at once.
    ///
    /// # Safety
    ///
    /// As [`put_before`](Self::put_before), of a PE that has lent slots.
    unsafe fn put_with(&self, change: Change, to: Remote, local: Local, bytes: usize, until: Until) {
        let Change { channel, signal, op } = change;
        let (at, port) = (self.target(to), self.port(channel));
        let what = What { operation: "put with a signal", pe: to.pe.number(), bytes };
        let mut awaited = None;
        let write = |slot: Slot, head: usize, message: &mut dyn FnMut(&mut [u8])| {
            let Place { address, key, mark } = slot.loan;
            let target = Target { peer: at.peer, address, key }.plus(self.loans.offset(slot.index));
            let told = Written { slot: slot.number, bytes: head, mark }.told();
            let prepare = |record: &Record| {
                assert!(head <= BUFFER_BYTES, "a message of {head} bytes about a signal");
                // SAFETY: the record's buffer, which is longer (asserted), is its holder's until the operation is started.
                message(unsafe { core::slice::from_raw_parts_mut(record.buffer(), head) });
            };
            let attempt = |posting: &Posting<'_>| {
                let record = posting.record.unwrap_or_else(|| unreachable!("it keeps a record"));
                let of_record = Local { from: record.buffer(), description: posting.description };
                // SAFETY: the record's buffer is the operation's until it is complete, and the source stays as long: it is
                // waited for below, or by quiet (caller). The slot is ours until the target has been told, and the bytes at
                // `at` are the caller's to write.
                unsafe { target.write_both_told(posting, (of_record, head), (at, local, bytes), told) }
            };
            if until == Until::Quiet {
                // SAFETY: one operation; what it reads stays until quiet (caller), or is its record's.
                return unsafe { self.issue_now(channel, what, prepare, attempt) };
            }
            // SAFETY: one operation; it is waited for before anything returns.
            awaited = unsafe { port.start_now(what, Purpose::Awaited, prepare, attempt) };
            awaited.map_or(Sent::Full, |_| Sent::Done)
        };
        self.engine.signal_behind(&self.line_with(port), channel, signal, op, write);
        if let Some(number) = awaited {
            port.wait_for(number, what, |_| {});
        }
    }

    /// Writes bytes, and has the signal changed when they are delivered.
    ///
    /// # Safety
    ///
    /// As [`put_before`](Self::put_before), of one byte at least.
    unsafe fn put_and_then(&self, change: Change, to: Remote, source: *const u8, bytes: usize, until: Until) {
        let (at, port) = (self.target(to), self.port(change.channel));
        let described = self.keys.describe(&self.domain, source, bytes);
        // What is short is copied rather than waited for, as by a put.
        let stays = described.filter(|_| until == Until::Quiet || bytes > BUFFER_BYTES);
        let longest = self.domain.demands.max_message;
        let most = if stays.is_some() { longest } else { longest.min(BUFFER_BYTES) };
        self.streams.get(change.channel).expect();
        let expected = self.signals.expect(change, pieces(bytes, most).count());
        for (from, bytes) in pieces(bytes, most) {
            let (at, source) = (at.plus(from), source.wrapping_add(from));
            let what = What { operation: "put with a signal", pe: to.pe.number(), bytes };
            let copy = |record: &Record| {
                if stays.is_none() {
                    // SAFETY: readable (caller), also if others write there meanwhile, and there is room for as many.
                    unsafe { shared::copy(record.buffer(), source, bytes) };
                }
            };
            let write = |posting: &Posting<'_>| {
                let local = match (stays, posting.record) {
                    (None, Some(record)) => Local { from: record.buffer(), description: posting.description },
                    (description, _) => Local {
                        from: source.cast_mut(),
                        description: description.unwrap_or(core::ptr::null_mut()),
                    },
                };
                // SAFETY: the record's buffer is the operation's until it is complete, and a source that was not copied
                // stays as long: it is waited for below, or by quiet (caller).
                unsafe { at.write(posting, local, bytes, 0) }
            };
            // SAFETY: one operation; what it reads stays until it is complete, as said.
            unsafe { port.start_with(what, Purpose::Piece(expected.number), copy, write) };
        }
        if until == Until::Return && stays.is_some() {
            let mut stall = Stall::new(self);
            while !self.signals.is_delivered(expected) {
                port.drive(&stall);
                stall.pause(
                    || port.completed(),
                    || format!("{bytes} bytes before a signal of {}", self.name_of(to.pe.number())),
                );
            }
        }
    }

    /// Has signals changed whose data is delivered, as far as there is room.
    pub(super) fn hand_signals_over(&self) {
        for _ in 0..self.signals.due() {
            let Some((number, Change { channel, signal, op })) = self.signals.next() else { break };
            // SAFETY: who has put the data has promised an aligned signal (`put_before`).
            match unsafe { self.update_now(channel, signal, Width::W8, op.into()) } {
                Sent::Full => self.signals.put_back(number),
                Sent::Done => {
                    self.signals.handed_over(number);
                    // Behind it: who finds no event under way finds the change under way, or over.
                    self.streams.ended(channel.0);
                }
            }
        }
    }
}
