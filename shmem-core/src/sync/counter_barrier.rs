//! A barrier of the PEs of one node, which checks that all PEs arrive for one purpose (collective and arguments).
//!
//! A central counter barrier: one word counts the arrivals in its low 16 bits, and sums fingerprints (hashes of purposes) in the
//! other 48. So one read-modify-write per PE both arrives and states the purpose. The last PE to arrive compares the sum with its
//! own fingerprint times the number of PEs, resets the word, and increments the *generation*, a second word on which the others
//! wait.
//!
//! Equal purposes always pass. Different purposes may pass by chance, because fingerprints are hashes. But the low 16 bits of a
//! fingerprint are 0 or 1, so their sum counts the PEs with a 1, without overflow, and a difference in these bits is always found.
//!
//! Where memory safety needs certainty, each PE also writes its purpose word for word, its signature ([`SignatureWords`]), before
//! it arrives. When all PEs have arrived, each compares the signatures of the others with its own. A signature begins with a number
//! that no other barrier of these PEs has. So if a PE arrives for a barrier without signatures, its old signature has another
//! number, and the comparison fails.

use std::time::Duration;

use super::OwnLine;
use crate::loom_atomics::{AtomicU32, AtomicU64, FutexWord, Ordering, fence_after_rmw};
use crate::planted_fault::mutant;

const COUNT_BITS: u32 = 16;
const COUNT: u64 = (1 << COUNT_BITS) - 1;

/// The shared words of a barrier. All zeroes is a barrier without arrivals.
#[derive(Debug)]
#[repr(C)]
pub struct NodeBarrier {
    arrivals: OwnLine<AtomicU64>,
    generation: OwnLine<FutexWord>,
    sleepers: OwnLine<AtomicU32>,
}

/// The result of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All PEs have arrived, for one purpose as far as fingerprints tell, and the caller is the last. The caller must
    /// [`open`](NodeBarrier::open) the barrier.
    Last,
    /// All PEs have arrived, but for different purposes. The barrier stays closed.
    Mismatch,
    /// Some PEs have not arrived. The caller must wait until [`is_open`](NodeBarrier::is_open) for this generation.
    Early(u32),
}

impl NodeBarrier {
    /// Maximum number of PEs, because arrivals are counted in 16 bits.
    pub const MAX_PES: usize = COUNT as usize;

    /// Arrives as one of `pes` PEs. The low 16 bits of `fingerprint` must be 0 or 1 (there a difference is always found), the next 32
    /// a hash.
    #[inline]
    pub fn arrive(&self, pes: usize, fingerprint: u64) -> Arrival {
        let generation = self.generation.0.load(Ordering::Acquire);
        let mark = fingerprint << COUNT_BITS;
        let before = self.arrivals.0.fetch_add(mark | 1, Ordering::AcqRel);
        if before & COUNT != pes as u64 - 1 {
            return Arrival::Early(generation);
        }
        let sum = (before & !COUNT).wrapping_add(mark);
        if mutant("barrier-blind") || sum == mark.wrapping_mul(pes as u64) {
            Arrival::Last
        } else {
            Arrival::Mismatch
        }
    }

    /// Releases all PEs. The last PE to arrive calls this.
    #[inline]
    pub fn open(&self) {
        let early = mutant("barrier-early-look").then(|| self.sleepers.0.load(Ordering::Relaxed));
        if !mutant("barrier-late-reset") {
            self.arrivals.0.store(0, Ordering::Relaxed);
        }
        self.generation.0.fetch_add(1, Ordering::AcqRel);
        if mutant("barrier-late-reset") {
            self.arrivals.0.store(0, Ordering::Relaxed);
        }
        fence_after_rmw();
        if early.unwrap_or_else(|| self.sleepers.0.load(Ordering::Relaxed)) != 0 {
            self.generation.0.wake_all();
        }
    }

    /// Whether the barrier has opened since an arrival in this generation.
    #[inline(always)]
    pub fn is_open(&self, generation: u32) -> bool {
        self.generation.0.load(Ordering::Acquire) != generation
    }

    /// Sleeps until the barrier has opened, for at most `timeout`. May return early.
    pub fn sleep(&self, generation: u32, timeout: Option<Duration>) {
        self.sleepers.0.fetch_add(1, Ordering::SeqCst);
        fence_after_rmw();
        if !self.is_open(generation) {
            self.generation.0.wait(generation, timeout);
        }
        self.sleepers.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(any(test, loom))]
impl Default for NodeBarrier {
    fn default() -> Self {
        Self {
            arrivals: OwnLine(AtomicU64::new(0)),
            generation: OwnLine(FutexWord::new(0)),
            sleepers: OwnLine(AtomicU32::new(0)),
        }
    }
}

/// Number of words of a signature.
pub const SIGNATURE_WORDS: usize = 16;

/// The call signature of a PE in a barrier, which the PE writes before the barrier, and others read after it. All zeroes is no
/// signature.
///
/// The barrier orders the accesses, so the words are relaxed. The words are atomic because a PE with another signature may write
/// them at any time, and that must be detected without a data race.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct SignatureWords([AtomicU64; SIGNATURE_WORDS]);

impl SignatureWords {
    /// Writes the signature. Called before the barrier.
    pub fn write(&self, words: &[u64; SIGNATURE_WORDS]) {
        self.0.iter().zip(words).for_each(|(there, word)| there.store(*word, Ordering::Relaxed));
    }

    /// Whether the signature has exactly these words. Called after the barrier.
    pub fn equals(&self, words: &[u64; SIGNATURE_WORDS]) -> bool {
        self.0.iter().zip(words).all(|(there, word)| there.load(Ordering::Relaxed) == *word)
    }

    /// Clears the signature. Called before the first barrier of a new team.
    pub fn clear(&self) {
        self.write(&[0; SIGNATURE_WORDS]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However the hashes come out: whoever chooses what PEs come for can choose hashes, too.
        #[test]
        fn marked_and_unmarked_signatures_never_meet(
            hashes in proptest::collection::vec(any::<u32>(), 1..9),
            last: u32,
            marks: u16,
        ) {
            let barrier = NodeBarrier::default();
            let pes = hashes.len() + 1;
            let marked = |pe: usize| u64::from(marks >> pe & 1);
            let fingerprint = |pe: usize, hash: u32| u64::from(hash) << 16 | marked(pe);
            // The first one makes up for all others, so that only the marks differ.
            let sum = hashes[1..].iter().fold(last, |sum, hash| sum.wrapping_add(*hash));
            let first = last.wrapping_mul(pes as u32).wrapping_sub(sum);
            for (pe, hash) in hashes.iter().enumerate() {
                let hash = if pe == 0 { first } else { *hash };
                prop_assert!(matches!(barrier.arrive(pes, fingerprint(pe, hash)), Arrival::Early(_)));
            }
            let all_alike = (0..pes).all(|pe| marked(pe) == marked(0));
            let found = barrier.arrive(pes, fingerprint(pes - 1, last));
            prop_assert_eq!(found, if all_alike { Arrival::Last } else { Arrival::Mismatch });
        }
    }

    #[test]
    fn every_bit_counts() {
        let signature = SignatureWords([(); SIGNATURE_WORDS].map(|()| AtomicU64::new(0)));
        let words = core::array::from_fn(|k| 1 << k);
        assert!(!signature.equals(&words));
        signature.write(&words);
        assert!(signature.equals(&words));
        for bit in 0..SIGNATURE_WORDS * 64 {
            let mut other = words;
            other[bit / 64] ^= 1 << (bit % 64);
            assert!(!signature.equals(&other), "bit {bit}");
        }
        signature.clear();
        assert!(!signature.equals(&words));
    }
}
