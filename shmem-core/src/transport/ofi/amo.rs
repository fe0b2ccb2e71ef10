//! Atomic operations: the provider's own if the [trial](super::atomics_trial) has found them atomic, otherwise the engine's.

use core::sync::atomic::Ordering;

use super::Fabric;
use super::engine::Sent;
use super::operation::{LocalMemory, RemoteMemory, Word};
use super::posting::{OperationInfo, Port, Posting};
use super::record::{OnCompletion, ReadDestination, Record};
use crate::libfabric::bindings::{FI_CSWAP, FI_INJECT};
use crate::transport::{AtomicOp, Channel, Remote, Width};

impl Fabric {
    /// Applies `op` to a word, and returns the old value.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic`](crate::transport::Transport::atomic).
    pub(super) unsafe fn fetch(&self, channel: Channel, at: Remote, width: Width, op: AtomicOp) -> u64 {
        let Some(word) = self.word(width, op) else {
            return self.engine.on(&self.wire(), channel).atomic(at, width, op);
        };
        let (what, target) = (of_word("atomic operation", at, width), self.target(at));
        let port = self.port(channel);
        // SAFETY: the caller's promise.
        let fetched = unsafe { port.fetch(what, target, word, width) };
        fetched.unwrap_or_else(|error| port.refuse(what, error))
    }

    /// Starts a change of a word. If there is no room (in the provider's queue, or for a message), waits for room if `waits`, and
    /// otherwise returns [`Sent::Full`]. Makes progress only if `waits`.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic_update`](crate::transport::Transport::atomic_update).
    pub(super) unsafe fn update(
        &self,
        channel: Channel,
        at: Remote,
        width: Width,
        op: AtomicOp,
        waits: bool,
    ) -> Sent {
        let Some(word) = self.word(width, op) else {
            let wire = self.wire();
            let initiator = self.engine.on(&wire, channel);
            if !waits {
                return initiator.try_update(at, width, op);
            }
            initiator.update(at, width, op);
            return Sent::Done;
        };
        let (what, target) = (of_word("atomic update", at, width), self.target(at));
        let (demands, on_completion) = (&self.domain.demands, self.on_completion(channel, width.bytes()));
        let fetches = word.op == FI_CSWAP;
        // An update that must be reported as an event is not injected, because ofi_rxm counts injected updates, but does not report
        // them.
        let injects =
            !fetches && width.bytes() <= demands.inject && matches!(on_completion, OnCompletion::Counted);
        let update = |posting: &Posting<'_>| {
            if fetches {
                return fetch_to_record(target, posting, word);
            }
            let (local, flags) = if injects {
                let from = (&raw const word.operands).cast_mut().cast();
                (LocalMemory { from, description: core::ptr::null_mut() }, FI_INJECT)
            } else {
                (operands_of(posting), 0)
            };
            // SAFETY: the operand is in the operation's record until completion, or the provider copies it (`FI_INJECT`).
            unsafe { target.change(posting, local, None, word, flags) }
        };
        let prepare = |record: &Record| keep(record, word);
        // SAFETY: `update` starts one operation. Memory that it uses after this call is in its record.
        unsafe { self.port(channel).issue(channel, what, on_completion, (!injects, waits), prepare, update) }
    }

    /// Starts an atomic operation on a word. The old value is at `result` when the channel is quiet.
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
            return unsafe { self.engine.on(&self.wire(), channel).atomic_nbi(at, width, op, result) };
        };
        let (what, target) = (of_word("atomic operation", at, width), self.target(at));
        let described = self.keys.describe(&self.domain, result, width.bytes());
        let fetch = |posting: &Posting<'_>| {
            let into = match described {
                Some(description) => LocalMemory { from: result, description },
                None => LocalMemory { from: record_of(posting).buffer(), description: posting.description },
            };
            // SAFETY: operands and buffer are in the operation's record until completion. `result` stays until quiet (caller).
            unsafe { target.change(posting, operands_of(posting), Some(into), word, 0) }
        };
        let on_completion = match described {
            Some(_) => self.on_completion(channel, width.bytes()),
            None => OnCompletion::ReadToBuffer(channel, ReadDestination(result)),
        };
        let prepare = |record: &Record| keep(record, word);
        // SAFETY: `fetch` starts one operation. Its record stays until completion, and `result` until quiet (caller).
        unsafe { self.port(channel).issue(channel, what, on_completion, (true, true), prepare, fetch) };
    }

    /// The operation in the provider's form; `None`: the target's engine carries it out.
    pub(super) fn word(&self, width: Width, op: AtomicOp) -> Option<Word> {
        if self.atomics.load(Ordering::Relaxed) { Word::of(width, op) } else { None }
    }
}

impl Port<'_> {
    /// Carries out the provider's operation `word` on the word at `target`, and returns the old value. Errors are libfabric's
    /// negative answers.
    ///
    /// # Safety
    ///
    /// As [`Transport::atomic`](crate::transport::Transport::atomic), for the word at `target`.
    pub(super) unsafe fn fetch(
        &self,
        what: OperationInfo,
        target: RemoteMemory,
        word: Word,
        width: Width,
    ) -> Result<u64, isize> {
        let prepare = |record: &Record| keep(record, word);
        let fetch = |posting: &Posting<'_>| fetch_to_record(target, posting, word);
        let result = |record: &Record| match width {
            // SAFETY: the operation is complete: the provider has written the result.
            Width::W4 => u64::from(unsafe { record.result().cast::<u32>().read() }),
            // SAFETY: the operation is complete: the provider has written the result.
            Width::W8 => unsafe { record.result().read() },
        };
        // SAFETY: `fetch` starts one operation, whose operands and result are in its record.
        unsafe { self.carry_out(what, prepare, fetch, result) }
    }
}

pub(super) fn keep(record: &Record, word: Word) {
    // SAFETY: the caller has just taken the record, which nobody else accesses.
    unsafe { record.operands().cast::<[u64; 2]>().write(word.operands) };
}

/// Starts an operation whose operands and result are in its record.
fn fetch_to_record(target: RemoteMemory, posting: &Posting<'_>, word: Word) -> isize {
    let result = LocalMemory { from: record_of(posting).result().cast(), description: posting.description };
    // SAFETY: operands and result are in the operation's record until completion.
    unsafe { target.change(posting, operands_of(posting), Some(result), word, 0) }
}

pub(super) fn operands_of(posting: &Posting<'_>) -> LocalMemory {
    LocalMemory { from: record_of(posting).operands().cast(), description: posting.description }
}

fn record_of<'p>(posting: &Posting<'p>) -> &'p Record {
    posting.record.unwrap_or_else(|| unreachable!("an operation that keeps a record"))
}

fn of_word(operation: &'static str, word: Remote, width: Width) -> OperationInfo {
    OperationInfo { operation, pe: word.pe.number(), bytes: width.bytes() }
}
