//! A barrier of few PEs of one node, each of which reads the flags of all others. It checks that all PEs arrive for one purpose.
//!
//! Every PE has cache lines of its own. To arrive, a PE writes a small contribution to a line, then one word: the number of the
//! barrier, and the fingerprint (a hash) of its purpose. A PE passes when a line of each other PE has that number. If two PEs
//! arrive at the same time, each waits for one transfer of a cache line, which brings the contribution, too. With a
//! [counter](super::NodeBarrier), it waits for two transfers in sequence, which bring no contribution.
//!
//! A PE uses its lines in turn. A PE that has passed a barrier knows that all others have arrived there, so have read the lines of
//! the previous barrier. Two lines would be enough. With more, the owner can [fetch](BarrierLines::take_next) the line of the next
//! barrier from the readers' caches while it waits for this barrier. Then its next arrival does not wait for that transfer.

use core::cell::UnsafeCell;

use crate::loom_atomics::{AtomicU64, Ordering};
use crate::planted_fault::mutant;

/// Bytes of a contribution. Together with the line's word they fill a cache line.
pub const LINE_BYTES: usize = 56;

/// Number of lines: for the current barrier, the previous (for late PEs) and the next, rounded up to a power of two.
const LINES: usize = 4;

const FINGERPRINT_BITS: u32 = 48;
const FINGERPRINT: u64 = (1 << FINGERPRINT_BITS) - 1;

/// The lines of one PE. All zeroes are the lines of a PE that has not arrived at a barrier.
#[derive(Debug)]
#[repr(C)]
pub struct BarrierLines([BarrierLine; LINES]);

#[derive(Debug)]
#[repr(C, align(128))]
struct BarrierLine {
    word: AtomicU64,
    /// The contribution. It is accessed through raw pointers only, in an order that barriers ensure.
    data: UnsafeCell<[u8; LINE_BYTES]>,
}

// SAFETY: no function accesses `data` through a reference to a line.
unsafe impl Sync for BarrierLine {}

/// The state of a PE in a barrier, as seen by another PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The PE has not arrived.
    Nothing,
    /// The PE has arrived for the same purpose, as far as fingerprints tell.
    Equal,
    /// The PE has arrived for another purpose.
    Different,
}

impl BarrierLines {
    /// Returns the offset, from the start of the lines, of the [`LINE_BYTES`] bytes of contribution to barrier `count`. The owner
    /// writes the contribution before it [`show`](Self::show)s its arrival. Others read it after they have seen the arrival.
    #[inline(always)]
    pub const fn room(count: u64) -> usize {
        Self::turn(count) * size_of::<BarrierLine>() + core::mem::offset_of!(BarrierLine, data)
    }

    /// Publishes that the owner has arrived at barrier `count`, numbered from 1, for the purpose `fingerprint` of 48 bits. This is
    /// a read-modify-write, after which the caller rings [`Doorbell`](super::Doorbell)s.
    #[inline(always)]
    pub fn show(&self, count: u64, fingerprint: u64) {
        let order = if mutant("lines-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.0[Self::turn(count)].word.swap(word(count, fingerprint), order);
    }

    /// Fetches the line of barrier `count + 1` into the owner's cache, by clearing the line's word. The owner is in barrier
    /// `count`, so it has passed barrier `count - 1`, and no PE still reads the line's old word.
    #[inline(always)]
    pub fn take_next(&self, count: u64) {
        let next = if mutant("lines-taken-early") { count + LINES as u64 - 1 } else { count + 1 };
        self.0[Self::turn(next)].word.store(0, Ordering::Relaxed);
    }

    /// Returns the state of the owner, as seen by a PE that is in barrier `count` for the purpose `fingerprint`.
    #[inline(always)]
    pub fn shown(&self, count: u64, fingerprint: u64) -> Shown {
        let there = self.0[Self::turn(count)].word.load(Ordering::Acquire);
        if there == word(count, fingerprint) {
            Shown::Equal
        } else if there >> FINGERPRINT_BITS == word(count, 0) >> FINGERPRINT_BITS {
            Shown::Different
        } else {
            Shown::Nothing
        }
    }

    /// Clears all lines. Called before the first barrier of a new team.
    pub fn clear(&self) {
        self.0.iter().for_each(|line| line.word.store(0, Ordering::Release));
    }

    #[inline(always)]
    const fn turn(count: u64) -> usize {
        count as usize % LINES
    }
}

/// Returns a barrier's word: its number, which wraps and skips 0, and the fingerprint. Successive words of a line differ in number.
#[inline(always)]
fn word(count: u64, fingerprint: u64) -> u64 {
    let number = 1 + count % u64::from(u16::MAX - 1);
    number << FINGERPRINT_BITS | fingerprint & FINGERPRINT
}

#[cfg(any(test, loom))]
impl Default for BarrierLines {
    fn default() -> Self {
        let line = |()| BarrierLine { word: AtomicU64::new(0), data: UnsafeCell::new([0; LINE_BYTES]) };
        Self([(); LINES].map(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_show_one_barrier_and_one_signature() {
        let lines = BarrierLines::default();
        for count in 1..200_000 {
            assert_eq!(lines.shown(count, 0), Shown::Nothing, "barrier {count} was not shown");
            lines.show(count, count << 7);
            lines.take_next(count);
            assert_eq!(lines.shown(count, count << 7), Shown::Equal);
            assert_eq!(lines.shown(count, count << 7 ^ 1), Shown::Different);
            if count > 1 {
                assert_eq!(lines.shown(count - 1, (count - 1) << 7), Shown::Equal, "somebody may be late");
            }
            assert_eq!(lines.shown(count + LINES as u64, count << 7), Shown::Nothing);
        }
        lines.clear();
        assert!((1..200_000).all(|count| lines.shown(count, 0) == Shown::Nothing));
    }
}
