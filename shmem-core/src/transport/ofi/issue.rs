//! Operations that nobody waits for by itself: how they are started, and how all of a stream are waited for.
//!
//! They are counted by their unit, or events of their stream; [`Tracking`](crate::transport::Tracking) says which. An
//! event keeps a record until it is reported. What lands in a record's buffer first is an event in any case: the counter
//! may say that it is complete before anybody has copied it to where it is wanted.

use super::Fabric;
use super::engine::{Sent, Wire};
use super::port::{Port, Posting, What};
use super::record::{Landing, Purpose, Record};
use crate::transport::Channel;

impl Fabric {
    /// Starts an operation that nobody waits for by itself and that keeps nothing.
    ///
    /// # Safety
    ///
    /// As [`Port::start`].
    #[inline(always)]
    pub(super) unsafe fn issue(
        &self,
        channel: Channel,
        port: Port<'_>,
        what: What,
        attempt: impl FnMut(&Posting<'_>) -> isize,
    ) {
        let stream = self.streams.get(channel);
        match stream.begin(channel, what.bytes) {
            Purpose::Counted => {
                // SAFETY: the caller's promise.
                unsafe { port.start(what, attempt) };
                stream.count(port.started());
            }
            // SAFETY: the caller's promise.
            purpose => _ = unsafe { port.start_with(what, purpose, |_| {}, attempt) },
        }
    }

    /// Starts an operation that nobody waits for by itself and that keeps a record, which `prepare` fills in.
    ///
    /// # Safety
    ///
    /// As [`Port::start_with`].
    pub(super) unsafe fn issue_with(
        &self,
        channel: Channel,
        what: What,
        prepare: impl FnOnce(&Record),
        attempt: impl FnMut(&Posting<'_>) -> isize,
    ) {
        let (stream, port) = (self.streams.get(channel), self.port(channel));
        let purpose = stream.begin(channel, what.bytes);
        // SAFETY: the caller's promise.
        unsafe { port.start_with(what, purpose, prepare, attempt) };
        if purpose == Purpose::Counted {
            stream.count(port.started());
        }
    }

    /// As [`issue_with`](Self::issue_with), if there is room for the operation now. Makes no progress.
    ///
    /// # Safety
    ///
    /// As [`Port::start_with`].
    pub(super) unsafe fn issue_now(
        &self,
        channel: Channel,
        what: What,
        prepare: impl FnOnce(&Record),
        attempt: impl FnOnce(&Posting<'_>) -> isize,
    ) -> Sent {
        let (stream, port) = (self.streams.get(channel), self.port(channel));
        let purpose = stream.begin(channel, what.bytes);
        // SAFETY: the caller's promise.
        let started = unsafe { port.start_now(what, purpose, prepare, attempt) };
        match (started, purpose) {
            (Some(_), Purpose::Counted) => stream.count(port.started()),
            (None, Purpose::Event(stream)) => self.streams.ended(stream),
            _ => {}
        }
        started.map_or(Sent::Full, |_| Sent::Done)
    }

    /// Starts an operation that writes to the buffer of its record, from where `bytes` bytes come to `into` before the
    /// channel is quiet.
    ///
    /// # Safety
    ///
    /// As [`Port::start_with`]; `into` must be writable until a quiet of the channel.
    pub(super) unsafe fn issue_landing(
        &self,
        channel: Channel,
        what: What,
        landing: Landing,
        prepare: impl FnOnce(&Record),
        attempt: impl FnMut(&Posting<'_>) -> isize,
    ) {
        self.streams.get(channel).expect();
        let prepare = |record: &Record| {
            // SAFETY: the record is its holder's, who has just taken it.
            unsafe { record.landing().write(landing) };
            prepare(record);
        };
        // SAFETY: the caller's promise.
        unsafe { self.port(channel).start_with(what, Purpose::Landing(channel.0), prepare, attempt) };
    }

    /// Whether an operation of so many bytes keeps a record. What keeps one is reported, and so is not injected:
    /// ofi_rxm counts updates that are, and does not report them.
    #[inline(always)]
    pub(super) fn keeps(&self, channel: Channel, bytes: usize) -> bool {
        self.streams.get(channel).tracking().is_event(bytes)
    }

    /// Waits for what a stream has started: operations of its unit, and messages. Events first: the last of a signal's
    /// data starts the change of the signal, which is counted, or a message.
    pub(super) fn quiet(&self, channel: Channel) {
        let (stream, port) = (self.streams.get(channel), self.port(channel));
        port.wait_while(stream, || stream.events() > 0);
        port.quiet(stream.counted());
        if !self.engine.is_quiet(channel) {
            let line = self.line();
            while !self.engine.is_quiet(channel) {
                line.progress();
            }
        }
    }

    /// Whether what a stream has started is over. Makes progress, and asks in the order in which [`quiet`](Self::quiet)
    /// waits: what is over stays so.
    pub(super) fn is_quiet(&self, channel: Channel) -> bool {
        let (stream, port) = (self.streams.get(channel), self.port(channel));
        port.progress();
        self.progress();
        stream.events() == 0 && port.is_quiet(stream.counted()) && self.engine.is_quiet(channel)
    }

    /// Waits for what a stream has started for one PE, as far as it is known whose operations are under way.
    pub(super) fn quiet_pe(&self, channel: Channel, pe: usize) {
        let (stream, port) = (self.streams.get(channel), self.port(channel));
        let has = || self.signals.has_or(channel, pe, || port.unit.lock().has(channel.0, pe));
        port.wait_while(stream, || stream.events() > 0 && has());
        if port.may_have(pe) {
            port.quiet(stream.counted());
        }
        let is_quiet = || self.engine.is_quiet(channel) || self.engine.unanswered_by(pe) == 0;
        if !is_quiet() {
            let line = self.line();
            while !is_quiet() {
                line.progress();
            }
        }
    }
}
