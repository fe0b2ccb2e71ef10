//! The counters of a ring buffer: one PE writes chunks, all other PEs of a team read them, and several chunks are in flight.
//!
//! Every PE of a team has a ring of the same number of slots, and two counters. Chunks are numbered from 0 for the life of the
//! team; chunk `c` is in slot `c` modulo the number of slots. The counters are one more than the number of the last chunk *filled*
//! in the PE's own ring, and of the last chunk *taken* (read) from the rings of all others. Each PE keeps three rules by itself:
//!
//! 1. It writes chunk `c` after every other PE has taken chunk `c - slots` ([`is_free`](RingWords::is_free)), and then publishes
//!    the chunk ([`fill`](RingWords::fill)).
//! 2. It reads chunk `c` of another PE after that PE has published it ([`has`](RingWords::has)), and before it publishes that it
//!    has taken chunk `c` ([`take`](RingWords::take)).
//! 3. Counters only grow. A PE numbers the chunks of a collective from the larger of its two counters on
//!    ([`next`](RingWords::next)). So it may only write or only read in one collective: that leaves the other counter behind, and
//!    the next collective skips the difference.
//!
//! So no slot is written while another PE reads it, even if PEs are in different collectives. While a PE reads chunk `c`, it has
//! not taken the chunk, so the owner cannot write chunk `c + slots` or a later one to that slot; and chunk `c` was complete before
//! it was published. PEs that disagree on the content of a chunk may wait for ever, or read other data. The
//! [barrier](super::NodeBarrier) finds that; memory safety does not depend on it.
//!
//! Both counters change by read-modify-write, after which the caller rings [`Doorbell`](super::Doorbell)s.

use super::OwnLine;
use crate::loom_atomics::{AtomicU64, Ordering};
use crate::planted_fault::mutant;

/// The counters of one PE. All zeroes is an unused ring.
#[derive(Debug)]
#[repr(C)]
pub struct RingWords {
    /// Number of the last chunk that the owner has filled, plus one.
    filled: OwnLine<AtomicU64>,
    /// Number of the last chunk that the owner has taken from all others, plus one.
    taken: OwnLine<AtomicU64>,
}

impl RingWords {
    /// Returns the number of the first chunk of the owner's next collective.
    #[inline]
    pub fn next(&self) -> u64 {
        self.filled.0.load(Ordering::Relaxed).max(self.taken.0.load(Ordering::Relaxed))
    }

    /// Publishes that the owner has written a chunk. The caller then rings the bells of the other PEs.
    #[inline]
    pub fn fill(&self, chunk: u64) {
        let order = if mutant("ring-filled-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.filled.0.swap(chunk + 1, order);
    }

    /// Whether the owner has filled a chunk. A PE that has not taken the chunk may then read it.
    #[inline(always)]
    pub fn has(&self, chunk: u64) -> bool {
        self.filled.0.load(Ordering::Acquire) > chunk
    }

    /// Publishes that the owner has read a chunk of every other PE. The caller then rings the bells of these PEs.
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

    /// Whether the owner has read the chunk that `chunk` will overwrite in another PE's ring of `slots` slots.
    #[inline(always)]
    pub fn is_free(&self, chunk: u64, slots: u64) -> bool {
        let slots = if mutant("ring-written-early") { slots + 1 } else { slots };
        chunk.checked_sub(slots).is_none_or(|before| self.has_taken(before))
    }

    /// Clears both counters. Called before the first barrier of a new team.
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
