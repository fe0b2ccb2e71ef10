//! The words of a ring: chunks that one PE fills and all others of a team take, several of them on their way.
//!
//! Every PE of a team has a ring of some slots, as many as the others, and two words: what it has *filled* of its own, and what
//! it has *taken* of all others. Chunks are numbered from 0 for as long as the team lives; chunk `c` lies in slot `c` modulo the
//! slots. There are three rules, each of which a PE keeps by itself:
//!
//! 1. It writes chunk `c` when every other PE has taken chunk `c - slots` ([`is_free`](RingWords::is_free)), and shows
//!    behind that it has ([`fill`](RingWords::fill)).
//! 2. It reads chunk `c` of another PE when that has shown it ([`has`](RingWords::has)), and only while it has not itself
//!    taken chunk `c`.
//! 3. Numbers rise. It begins a series of chunks behind all it has filled and taken ([`next`](RingWords::next)), so whoever
//!    only reads may skip the filling of chunks, and the other way round.
//!
//! So a slot is written only where nobody reads it, whatever PEs believe to be doing: who reads chunk `c` has not taken it,
//! so its owner can write neither chunk `c + slots` nor anything later there; and chunk `c` itself was complete before
//! it was shown. Those who do not agree on what comes in a chunk may wait for ever, or read something else. That
//! they agree is found where they [meet](super::NodeBarrier), and memory does not rest on it.
//!
//! Both words change by read-modify-write: whoever sleeps until they do is woken by its [`Doorbell`](super::Doorbell).

use super::OwnLine;
use crate::primitive::{AtomicU64, Ordering, mutant};

/// One PE's words. All zeroes are those of a ring in which nothing has been.
#[derive(Debug)]
#[repr(C)]
pub struct RingWords {
    /// Chunks that the owner has filled, and those before: one more than the number of the last.
    filled: OwnLine<AtomicU64>,
    /// Chunks that the owner has taken of all others, and those before.
    taken: OwnLine<AtomicU64>,
}

impl RingWords {
    /// The first chunk of a series, for the owner.
    #[inline]
    pub fn next(&self) -> u64 {
        self.filled.0.load(Ordering::Relaxed).max(self.taken.0.load(Ordering::Relaxed))
    }

    /// Shows that the owner has written a chunk. Then the bells of the others are rung.
    #[inline]
    pub fn fill(&self, chunk: u64) {
        let order = if mutant("ring-filled-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.filled.0.swap(chunk + 1, order);
    }

    /// Whether the owner has filled a chunk: then it may be read, by who has not taken it.
    #[inline(always)]
    pub fn has(&self, chunk: u64) -> bool {
        self.filled.0.load(Ordering::Acquire) > chunk
    }

    /// Shows that the owner has read what it needs of a chunk of every other PE. Then the bells of those are rung who
    /// may wait for it.
    #[inline]
    pub fn take(&self, chunk: u64) {
        let order = if mutant("ring-taken-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.taken.0.swap(chunk + 1, order);
    }

    /// Whether the owner has taken a chunk of every other PE.
    #[inline(always)]
    pub fn has_taken(&self, chunk: u64) -> bool {
        self.taken.0.load(Ordering::Acquire) > chunk || mutant("ring-left-early")
    }

    /// Whether the owner reads nothing any more that lies where another PE will write a chunk, in a ring of so many slots.
    #[inline(always)]
    pub fn is_free(&self, chunk: u64, slots: u64) -> bool {
        let slots = if mutant("ring-written-early") { slots + 1 } else { slots };
        chunk.checked_sub(slots).is_none_or(|before| self.has_taken(before))
    }

    /// Forgets all chunks, before the first meeting of a new team.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_free_when_what_lay_there_is_taken() {
        let words = RingWords::default();
        assert!((0..4).all(|chunk| words.is_free(chunk, 4)) && !words.is_free(4, 4));
        for chunk in 0..100 {
            assert!(!words.has(chunk) && !words.has_taken(chunk));
            words.fill(chunk);
            assert!(words.has(chunk) && !words.has(chunk + 1));
            words.take(chunk);
            assert!(words.is_free(chunk + 4, 4) && !words.is_free(chunk + 5, 4));
        }
        words.clear();
        assert_eq!(words.next(), 0);
        // A series begins behind all that was filled or taken.
        words.fill(6);
        assert_eq!(words.next(), 7);
        words.take(8);
        assert_eq!(words.next(), 9);
    }
}
