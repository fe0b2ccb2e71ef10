//! The trial of the provider's atomics.
//!
//! A provider may offer atomics and then refuse every one, and a network card's atomics need not be atomic with the processor's. So
//! at the start one PE of each host changes words of the next host's through the fabric, while a thread there changes the same
//! words by processor instructions. If no change is lost on any host, and every operation has the right result, the provider's
//! atomics are used; otherwise the target's engine changes words.

use core::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;

use super::amo::{keep, operands_of};
use super::operation::Word;
use super::posting::{OperationInfo, Posting};
use super::{Fabric, Ofi};
use crate::pe::Pe;
use crate::segment_table::SYSTEM;
use crate::system_area::{MAX_TEAMS, SystemArea, TeamArea};
use crate::transport::{AtomicOp, Remote, Width};

/// Number of additions through the fabric to each word.
const ADDITIONS: u64 = 50;

/// Operations of each kind, with the value of the word after each. The word starts as 0, and is 0 at the end.
const SEQUENCE: [(AtomicOp, u64); 10] = [
    (AtomicOp::Set(0b1100), 0b1100),
    (AtomicOp::Swap(0b1010), 0b1010),
    (AtomicOp::CompareSwap { expected: 0b1010, desired: 0b0111 }, 0b0111),
    (AtomicOp::CompareSwap { expected: 0b1010, desired: 0 }, 0b0111),
    (AtomicOp::And(0b0110), 0b0110),
    (AtomicOp::Or(0b1000), 0b1110),
    (AtomicOp::Xor(0b0011), 0b1101),
    (AtomicOp::Add(3), 0b1_0000),
    (AtomicOp::Fetch, 0b1_0000),
    (AtomicOp::Set(0), 0),
];

/// The words of a trial. They are in the scratch memory of the last team, which does not exist yet.
#[repr(C)]
struct Words {
    /// Words for single operations, one for each width. Only the fabric changes these words.
    alone: [AtomicU64; 2],
    /// Words for additions from both sides, one for each width.
    narrow: AtomicU32,
    wide: AtomicU64,
}

const WIDTHS: [Width; 2] = [Width::W4, Width::W8];

/// The offset of the words of a trial in a slot.
const OFFSET: usize =
    offset_of!(SystemArea, teams) + (MAX_TEAMS - 1) * size_of::<TeamArea>() + offset_of!(TeamArea, scratch);

/// A begun trial: the result of atomics on PE `next`, and a thread that adds to words of this PE.
#[derive(Debug)]
pub struct Trial {
    found: Result<(), String>,
    adds: Arc<AtomicBool>,
    adding: Option<JoinHandle<[u64; 2]>>,
    words: *const Words,
}

impl Ofi {
    /// Begins a trial: starts a thread that adds to words of this PE, and tries atomics on words of `next`. One PE of each host
    /// calls this; `next` is the PE that calls it on the next host. [End](Trial::end) a trial after all trials have begun.
    ///
    /// # Safety
    ///
    /// `slot` must be the start of the calling PE's slot, whose system area is registered and mapped until the trial ends, and no
    /// team but the world may exist on any PE before all trials have ended.
    pub unsafe fn begin_trial(&self, next: Pe, slot: *mut u8) -> Trial {
        let words: *const Words = slot.wrapping_add(OFFSET).cast();
        let adds = Arc::new(AtomicBool::new(true));
        // SAFETY: the words are aligned zeroes that are mapped (caller). Only atomics change them until the trial ends.
        let (local, goes_on) = (unsafe { &*words }, Arc::clone(&adds));
        let adding = std::thread::Builder::new().name("shmem trial".to_owned()).spawn(move || {
            let mut added = [0; 2];
            while goes_on.load(Ordering::Acquire) {
                local.narrow.fetch_add(1, Ordering::SeqCst);
                local.wide.fetch_add(1, Ordering::SeqCst);
                added = added.map(|added| added + 1);
                std::thread::yield_now();
            }
            added
        });
        let found = match &adding {
            Ok(_) => self.fabric.try_atomics(next),
            Err(error) => Err(format!("no thread to try them with: {error}")),
        };
        Trial { found, adds, adding: adding.ok(), words }
    }

    /// Lets the provider change words from now on, in place of the engines of their PEs. Called by all PEs, or by none.
    pub fn trust_atomics(&self) {
        self.fabric.atomics.store(true, Ordering::Relaxed);
    }
}

impl Trial {
    /// Ends a trial, after all trials have begun.
    ///
    /// # Errors
    ///
    /// The reason why the atomics cannot be used.
    pub fn end(self) -> Result<(), String> {
        self.adds.store(false, Ordering::Release);
        let added = self.adding.and_then(|adding| adding.join().ok()).unwrap_or_default();
        // SAFETY: the words are mapped until the trial ends (`begin_trial`).
        let words = unsafe { &*self.words };
        let sums = [words.narrow.swap(0, Ordering::SeqCst).into(), words.wide.swap(0, Ordering::SeqCst)];
        self.found?;
        for (width, (sum, added)) in WIDTHS.iter().zip(sums.into_iter().zip(added)) {
            let expected = added + ADDITIONS;
            if sum != expected {
                let bytes = width.bytes();
                return Err(format!(
                    "of {expected} additions to {bytes} bytes from both sides {sum} are left"
                ));
            }
        }
        Ok(())
    }
}

impl Fabric {
    fn try_atomics(&self, pe: Pe) -> Result<(), String> {
        if !self.domain.demands.atomics {
            return Err("the provider has none".to_owned());
        }
        let words = [offset_of!(Words, narrow), offset_of!(Words, wide)];
        for (k, (width, shared)) in WIDTHS.into_iter().zip(words).enumerate() {
            let [alone, shared] = [offset_of!(Words, alone) + 8 * k, shared].map(|inside| Remote {
                pe,
                segment: SYSTEM,
                offset: OFFSET + inside,
            });
            // All operations with a result come first, then all without. Each must find the value that the previous one has left.
            let mut before = 0;
            for (fetches, (op, after)) in
                [true, false].into_iter().flat_map(|form| SEQUENCE.map(|each| (form, each)))
            {
                let fetches = fetches || matches!(op, AtomicOp::Fetch | AtomicOp::CompareSwap { .. });
                let found = self.attempt(alone, width, op, fetches)?;
                if fetches && found != before {
                    let bytes = width.bytes();
                    return Err(format!("{op:?} of {bytes} bytes found {found:#b}, not {before:#b}"));
                }
                before = after;
            }
            (0..ADDITIONS).try_for_each(|_| self.attempt(shared, width, AtomicOp::Add(1), true).map(drop))?;
        }
        Ok(())
    }

    /// Tries an operation, which may fail. Returns the old value if it `fetches`.
    fn attempt(&self, at: Remote, width: Width, op: AtomicOp, fetches: bool) -> Result<u64, String> {
        let (port, target) = (self.first(), self.target(at));
        let word = Word::of(width, op).ok_or_else(|| format!("{op:?} is never the provider's"))?;
        let what = OperationInfo { operation: "trial of atomics", pe: at.pe.number(), bytes: width.bytes() };
        let done = if fetches {
            // SAFETY: `at` names an aligned word of this width (`begin_trial`).
            unsafe { port.fetch(what, target, word, width) }
        } else {
            // SAFETY: the operand is in the operation's record until completion.
            let change = |posting: &Posting<'_>| unsafe {
                target.change(posting, operands_of(posting), None, word, 0)
            };
            // SAFETY: `change` starts one operation, whose operand is in the record.
            unsafe { port.carry_out(what, |record| keep(record, word), change, |_| 0) }
        };
        done.map_err(|error| {
            format!("{op:?} of {} bytes: {}", width.bytes(), self.domain.library().describe(error as i64))
        })
    }
}

const _: () = assert!(size_of::<Words>() <= crate::system_area::SCRATCH_BYTES);
