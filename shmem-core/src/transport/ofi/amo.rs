//! Atomic operations: the provider's own where the [trial](super::trial) trusts them, the engine's otherwise.

use super::Fabric;
use super::engine::Sent;
use super::operation::{Local, Target, Word};
use super::port::{Posting, What};
use super::record::{Landing, Purpose, Record};
use crate::libfabric::bindings::{FI_CSWAP, FI_INJECT};
use crate::transport::{AtomicOp, Channel, Remote, Width};

impl Fabric {
    /// Changes a word and gives what was there.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic`](crate::transport::Transport::atomic).
    pub(super) unsafe fn fetch(&self, channel: Channel, at: Remote, width: Width, op: AtomicOp) -> u64 {
        let Some(word) = self.word(width, op) else {
            return self.engine.atomic(&self.line(), channel, at, width, op);
        };
        let (what, target) = (of_word("atomic operation", at, width), self.target(at));
        let port = self.port(channel);
        // SAFETY: one operation; it is waited for just below. The record has operands and result.
        let number = unsafe {
            port.start_with(
                what,
                Purpose::Awaited,
                |record| keep(record, word),
                |posting| fetch_to_record(target, posting, word),
            )
        };
        port.wait_for(number, what, |record| result_of(record, width))
    }

    /// Changes a word.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic_update`](crate::transport::Transport::atomic_update).
    pub(super) unsafe fn update(&self, channel: Channel, at: Remote, width: Width, op: AtomicOp) {
        let Some(word) = self.word(width, op) else {
            return self.engine.update(&self.line(), channel, at, width, op);
        };
        let (what, target) = (of_word("atomic update", at, width), self.target(at));
        let demands = &self.domain.demands;
        if word.op == FI_CSWAP || demands.results {
            let fetch = |posting: &Posting<'_>| fetch_to_record(target, posting, word);
            // SAFETY: one operation; the record, which is its own until it is complete, has operands and result.
            unsafe { self.issue_with(channel, what, |record| keep(record, word), fetch) };
        } else if demands.inject < width.bytes() || self.keeps(channel, width.bytes()) {
            let update = |posting: &Posting<'_>| {
                // SAFETY: the operand is the operation's until it is complete.
                unsafe { target.update(posting, operands_of(posting), word, 0) }
            };
            // SAFETY: one operation, whose operand is its record's.
            unsafe { self.issue_with(channel, what, |record| keep(record, word), update) };
        } else {
            let from = (&raw const word.operands).cast_mut().cast();
            let local = Local { from, description: core::ptr::null_mut() };
            // SAFETY: the provider copies the operand (FI_INJECT).
            let update = |posting: &Posting<'_>| unsafe { target.update(posting, local, word, FI_INJECT) };
            // SAFETY: one operation, of which nothing stays here.
            unsafe { self.issue(channel, self.port(channel), what, update) };
        }
    }

    /// As [`update`](Self::update), if there is room for the operation now. Makes no progress.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic_update`](crate::transport::Transport::atomic_update).
    pub(super) unsafe fn update_now(&self, channel: Channel, at: Remote, width: Width, op: AtomicOp) -> Sent {
        let Some(word) = self.word(width, op) else {
            return self.engine.try_update(self, channel, at, width, op);
        };
        let (what, target) = (of_word("atomic update", at, width), self.target(at));
        let fetches = word.op == FI_CSWAP || self.domain.demands.results;
        let update = |posting: &Posting<'_>| {
            if fetches {
                return fetch_to_record(target, posting, word);
            }
            // SAFETY: the operand is the operation's until it is complete.
            unsafe { target.update(posting, operands_of(posting), word, 0) }
        };
        // SAFETY: one operation; the record, which is its own until it is complete, has operands and result.
        unsafe { self.issue_now(channel, what, |record| keep(record, word), update) }
    }

    /// Changes a word; what was there is at `result` when the channel is quiet.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic_nbi`](crate::transport::Transport::atomic_nbi).
    pub(super) unsafe fn fetch_nbi(
        &self,
        channel: Channel,
        at: Remote,
        width: Width,
        op: AtomicOp,
        result: *mut u8,
    ) {
        let Some(word) = self.word(width, op) else {
            // SAFETY: the caller's promise.
            return unsafe { self.engine.atomic_nbi(&self.line(), channel, at, width, op, result) };
        };
        let (what, target) = (of_word("atomic operation", at, width), self.target(at));
        let Some(description) = self.keys.describe(&self.domain, result, width.bytes()) else {
            let landing = Landing { into: result, bytes: width.bytes() };
            let fetch = |posting: &Posting<'_>| {
                let into = Local { from: record_of(posting).buffer(), description: posting.description };
                // SAFETY: operands and buffer are the operation's until it is complete.
                unsafe { target.fetch(posting, operands_of(posting), into, word) }
            };
            // SAFETY: one operation to its record; the result is writable until quiet (caller).
            return unsafe { self.issue_landing(channel, what, landing, |record| keep(record, word), fetch) };
        };
        let into = Local { from: result, description };
        let fetch = |posting: &Posting<'_>| {
            // SAFETY: the operands are the operation's until it is complete, the result until quiet (caller).
            unsafe { target.fetch(posting, operands_of(posting), into, word) }
        };
        // SAFETY: one operation; what it reads and writes stays until it is complete.
        unsafe { self.issue_with(channel, what, |record| keep(record, word), fetch) };
    }

    /// Whether the provider carries out such changes of words.
    pub(super) fn carries_out(&self, width: Width, op: AtomicOp) -> bool {
        self.word(width, op).is_some()
    }

    /// The operation for the provider; none, if the target's engine is to carry it out.
    fn word(&self, width: Width, op: AtomicOp) -> Option<Word> {
        if self.has_atomics() { Word::of(width, op) } else { None }
    }
}

/// Leaves the operands in a record.
pub(super) fn keep(record: &Record, word: Word) {
    // SAFETY: the record is its holder's, who has just taken it.
    unsafe { record.operands().cast::<[u64; 2]>().write(word.operands) };
}

/// Fetches to the record of an operation, from operands that lie in it.
pub(super) fn fetch_to_record(target: Target, posting: &Posting<'_>, word: Word) -> isize {
    let result = Local { from: record_of(posting).result().cast(), description: posting.description };
    // SAFETY: operands and result are the operation's until it is complete.
    unsafe { target.fetch(posting, operands_of(posting), result, word) }
}

/// What an operation has fetched to its record.
pub(super) fn result_of(record: &Record, width: Width) -> u64 {
    match width {
        // SAFETY: the operation is complete: the provider has written as many bytes.
        Width::W4 => u64::from(unsafe { record.result().cast::<u32>().read() }),
        // SAFETY: the operation is complete: the provider has written as many bytes.
        Width::W8 => unsafe { record.result().read() },
    }
}

fn operands_of(posting: &Posting<'_>) -> Local {
    Local { from: record_of(posting).operands().cast(), description: posting.description }
}

fn record_of<'p>(posting: &Posting<'p>) -> &'p Record {
    posting.record.unwrap_or_else(|| unreachable!("an operation that keeps a record"))
}

fn of_word(operation: &'static str, word: Remote, width: Width) -> What {
    What { operation, pe: word.pe.number(), bytes: width.bytes() }
}
