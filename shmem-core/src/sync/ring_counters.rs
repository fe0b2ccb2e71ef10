//! The counters of a ring buffer: one PE fills chunks, all others of a team take them, and several chunks are in flight.
//!
//! Every PE of a team has a ring of the same number of slots, and two counters: chunks that it has *filled* in its own ring, and chunks
//! that it has *taken* from all others. Chunks are numbered from 0 for the life of the team; chunk `c` is in slot `c` modulo the slots.
//! Each PE keeps three rules by itself:
//!
//! 1. It writes chunk `c` when every other PE has taken chunk `c - slots` ([`is_free`](RingWords::is_free)), and then shows it
//!    ([`fill`](RingWords::fill)).
//! 2. It reads chunk `c` of another PE after that PE has shown it ([`has`](RingWords::has)), and before it takes chunk `c` itself.
//! 3. Counters only grow. A collective numbers its chunks from the larger of the PE's two counters on ([`next`](RingWords::next)). So in
//!    one collective a PE may only write or only read: the counter that stayed behind catches up in the next one.
//!
//! So no slot is written while another PE reads it, even if PEs disagree: a PE that reads chunk `c` has not taken it, so the owner
//! cannot write chunk `c + slots` or a later one there; and chunk `c` was complete before it was shown. PEs that disagree on the
//! content of a chunk may wait for ever, or read other data. The [barrier](super::NodeBarrier) finds that; memory safety does not
//! depend on it.
//!
//! Both counters change by read-modify-write, after which the caller rings [`Doorbell`](super::Doorbell)s.

use super::OwnLine;
use crate::loom_atomics::{AtomicU64, Ordering};
use crate::planted_fault::mutant;

/// One PE's counters. All zeroes is an unused ring.
#[derive(Debug)]
#[repr(C)]
pub struct RingWords {
    /// One more than the number of the last chunk that the owner has filled.
    filled: OwnLine<AtomicU64>,
    /// One more than the number of the last chunk that the owner has taken from all others.
    taken: OwnLine<AtomicU64>,
}

impl RingWords {
    /// The first chunk of a series, for the owner.
    #[inline]
    pub fn next(&self) -> u64 {
        self.filled.0.load(Ordering::Relaxed).max(self.taken.0.load(Ordering::Relaxed))
    }

    /// Shows that the owner has written a chunk. The caller then rings the bells of the others.
    #[inline]
    pub fn fill(&self, chunk: u64) {
        let order = if mutant("ring-filled-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.filled.0.swap(chunk + 1, order);
    }

    /// Whether the owner has filled a chunk: then a PE that has not taken it may read it.
    #[inline(always)]
    pub fn has(&self, chunk: u64) -> bool {
        self.filled.0.load(Ordering::Acquire) > chunk
    }

    /// Shows that the owner has finished reading a chunk of every other PE. The caller then rings their bells.
    #[inline]
    pub fn take(&self, chunk: u64) {
        let order = if mutant("ring-taken-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.taken.0.swap(chunk + 1, order);
    }

    /// Whether the owner has taken a chunk from every other PE.
    #[inline(always)]
    pub fn has_taken(&self, chunk: u64) -> bool {
        self.taken.0.load(Ordering::Acquire) > chunk || mutant("ring-left-early")
    }

    /// Whether the owner has finished with the slot into which another PE will write a chunk, in a ring of `slots` slots.
    #[inline(always)]
    pub fn is_free(&self, chunk: u64, slots: u64) -> bool {
        let slots = if mutant("ring-written-early") { slots + 1 } else { slots };
        chunk.checked_sub(slots).is_none_or(|before| self.has_taken(before))
    }

    /// Forgets all chunks, before the first barrier of a new team.
    pub fn clear(&self) {
        self.filled.0.store(0, Ordering::Release);
        self.taken.0.store(0, Ordering::Release);
    }
}

#[cfg(any(test, loom))]
impl Default for RingWords {
    fn default() -> Self {
        Self { filled: OwnLine(AtomicU64::new(0)), taken: OwnLine(AtomicU64::new(0)) }
    }
}
