//! Whether the provider's atomics may be trusted.
//!
//! What a provider says of itself is not enough: one offers atomics and refuses each, and those of a network card may
//! not be atomic against the processor's. So a PE changes words of its own memory through the fabric, as others
//! would, while a thread changes the same words with the processor's instructions. Nothing may be lost, and
//! every operation must do what its name says. One PE of each host tries, and the PEs use the
//! provider's atomics if all trials went well; otherwise words are changed by the target's engine.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Fabric;
use super::amo::{fetch_to_record, keep, result_of};
use super::operation::Word;
use super::port::What;
use super::record::Purpose;
use crate::libfabric::bindings::*;
use crate::libfabric::calls;
use crate::transport::target::apply;
use crate::transport::{AtomicOp, Remote, Width};

/// Additions from each side to each word.
const ADDITIONS: u64 = 100;

/// One operation of each kind, from a word of 0 on, with the word behind it.
const SEQUENCE: [(AtomicOp, u64); 8] = [
    (AtomicOp::Set(0b1100), 0b1100),
    (AtomicOp::Swap(0b1010), 0b1010),
    (AtomicOp::CompareSwap { expected: 0b1010, desired: 0b0111 }, 0b0111),
    (AtomicOp::CompareSwap { expected: 0b1010, desired: 0 }, 0b0111),
    (AtomicOp::And(0b0110), 0b0110),
    (AtomicOp::Or(0b1000), 0b1110),
    (AtomicOp::Xor(0b0011), 0b1101),
    (AtomicOp::Add(3), 0b1_0000),
];

impl Fabric {
    /// Tries the provider's atomics on two words of this PE's memory, which are 0, and leaves them 0. Says what was
    /// wrong.
    ///
    /// # Safety
    ///
    /// `near` and `at` must be the same 16 bytes, which nobody else uses; this PE must be connected to itself.
    pub(super) unsafe fn try_atomics(&self, near: *mut u8, at: Remote) -> Result<(), String> {
        if !self.domain.demands.atomics {
            return Err("the provider has none".to_owned());
        }
        for width in [Width::W8, Width::W4] {
            self.look_at(width)?;
            // SAFETY: the caller's promise.
            unsafe { self.try_each(near, at, width) }?;
            // SAFETY: as above.
            unsafe { self.try_sum(near, at, width) }?;
        }
        // SAFETY: as above; both words are aligned.
        unsafe { near.cast::<[u64; 2]>().write([0; 2]) };
        Ok(())
    }

    /// Whether the provider says that it has every operation on words of a width.
    fn look_at(&self, width: Width) -> Result<(), String> {
        let endpoint = self.first().unit.endpoint().raw();
        for (op, _) in SEQUENCE.into_iter().chain([(AtomicOp::Fetch, 0)]) {
            let (mut count, word) = (0, Word::new(width, op));
            let valid = |fetches: bool| {
                let to = &raw mut count;
                // SAFETY: an open endpoint, and room for a number.
                unsafe {
                    match (word.op, fetches) {
                        (FI_CSWAP, _) => calls::compare_atomicvalid(endpoint, word.datatype, word.op, to),
                        (_, true) => calls::fetch_atomicvalid(endpoint, word.datatype, word.op, to),
                        (_, false) => calls::atomicvalid(endpoint, word.datatype, word.op, to),
                    }
                }
            };
            let missing = [true, false].map(valid);
            if missing[0] != 0 || (missing[1] != 0 && op != AtomicOp::Fetch) {
                return Err(format!("{op:?} of {} bytes is not there", width.bytes()));
            }
        }
        Ok(())
    }

    /// Each operation once, with its result.
    ///
    /// # Safety
    ///
    /// As [`try_atomics`](Self::try_atomics).
    unsafe fn try_each(&self, near: *mut u8, at: Remote, width: Width) -> Result<(), String> {
        let mut before = 0;
        // SAFETY: the caller's promise.
        unsafe { apply(near, width, AtomicOp::Set(0)) };
        for (op, after) in SEQUENCE {
            let fetched = self.attempt(at, width, op)?;
            // SAFETY: the caller's promise.
            let found = unsafe { apply(near, width, AtomicOp::Fetch) };
            if (fetched, found) != (before, after) {
                let bytes = width.bytes();
                return Err(format!(
                    "{op:?} of {bytes} bytes on {before:#b} gave {fetched:#b} and left {found:#b}"
                ));
            }
            before = after;
        }
        match self.attempt(at, width, AtomicOp::Fetch)? {
            found if found == before => Ok(()),
            found => Err(format!("a fetch of {before:#b} gave {found:#b}")),
        }
    }

    /// Additions from both sides at the same time.
    ///
    /// # Safety
    ///
    /// As [`try_atomics`](Self::try_atomics).
    unsafe fn try_sum(&self, near: *mut u8, at: Remote, width: Width) -> Result<(), String> {
        // SAFETY: the caller's promise.
        unsafe { apply(near, width, AtomicOp::Set(0)) };
        // SAFETY: aligned words that live as long as the place (caller), changed by atomics.
        let words = unsafe { (AtomicU32::from_ptr(near.cast()), AtomicU64::from_ptr(near.cast())) };
        let done = AtomicU64::new(0);
        let mine = std::thread::scope(|scope| {
            let processor = scope.spawn(|| {
                let mut mine = 0;
                // As long as the other side adds, so that they meet.
                while done.load(Ordering::Acquire) == 0 {
                    match width {
                        Width::W4 => _ = words.0.fetch_add(1, Ordering::SeqCst),
                        Width::W8 => _ = words.1.fetch_add(1, Ordering::SeqCst),
                    }
                    mine += 1;
                    core::hint::spin_loop();
                }
                mine
            });
            let added =
                (0..ADDITIONS).try_for_each(|_| self.attempt(at, width, AtomicOp::Add(1)).map(|_| ()));
            done.store(1, Ordering::Release);
            let mine: u64 = processor.join().unwrap_or_default();
            added.map(|()| mine)
        })?;
        // SAFETY: the caller's promise.
        let sum = unsafe { apply(near, width, AtomicOp::Fetch) };
        let expected = match width {
            Width::W4 => u64::from((mine + ADDITIONS) as u32),
            Width::W8 => mine + ADDITIONS,
        };
        match sum == expected {
            true => Ok(()),
            false => Err(format!("of {expected} additions from both sides {sum} are left")),
        }
    }

    /// An operation that may fail.
    fn attempt(&self, at: Remote, width: Width, op: AtomicOp) -> Result<u64, String> {
        let (port, target, word) = (self.first(), self.target(at), Word::new(width, op));
        let what = What { operation: "trial of atomics", pe: at.pe.number(), bytes: width.bytes() };
        // SAFETY: one operation, which is waited for just below. The record has operands and result.
        let started = unsafe {
            port.try_start_with(
                what,
                Purpose::Awaited,
                |record| keep(record, word),
                |posting| fetch_to_record(target, posting, word),
            )
        };
        let number = started.map_err(|error| {
            format!("{op:?} of {} bytes: {}", width.bytes(), self.domain.library.describe(error as i64))
        })?;
        Ok(port.wait_for(number, what, |record| result_of(record, width)))
    }
}
