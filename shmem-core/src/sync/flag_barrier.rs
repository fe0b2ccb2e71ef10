//! A checked barrier of few PEs of one node, each of which reads the flags of all others.
//!
//! Every PE has cache lines of its own. To arrive, a PE writes a small contribution to a line, then one word: the number of the
//! barrier, and the fingerprint of its purpose. A PE passes when a line of each other PE shows that number. If PEs arrive at the
//! same time, this takes one transfer of a line in each direction, contribution included; a [counter](super::NodeBarrier) takes two
//! transfers in sequence, without a contribution.
//!
//! A PE uses its lines in turn. A PE that has passed a barrier knows that all others have arrived, so have read the previous
//! barrier's lines. Two lines would be enough. With more, the owner can [fetch](MeetingLines::take_next) the next barrier's line
//! from the readers' caches while it waits for this barrier. Then its next arrival costs no transfer.

use core::cell::UnsafeCell;

use crate::loom_atomics::{AtomicU64, Ordering};
use crate::planted_fault::mutant;

/// Bytes of a line besides its word. Both fill a cache line.
pub const LINE_BYTES: usize = 56;

/// The current line, the previous for late PEs, and the next; rounded up to a power of two.
const LINES: usize = 4;

const FINGERPRINT_BITS: u32 = 48;
const FINGERPRINT: u64 = (1 << FINGERPRINT_BITS) - 1;

/// One PE's lines. All zeroes are lines that show nothing.
#[derive(Debug)]
#[repr(C)]
pub struct MeetingLines([MeetingLine; LINES]);

#[derive(Debug)]
#[repr(C, align(128))]
struct MeetingLine {
    word: AtomicU64,
    /// Accessed through raw pointers only, in an order given by barriers.
    data: UnsafeCell<[u8; LINE_BYTES]>,
}

// SAFETY: `data` is not reached through a line.
unsafe impl Sync for MeetingLine {}

/// A PE's state, as the other PEs see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Not arrived.
    Nothing,
    /// Arrived for the same purpose.
    Equal,
    /// Arrived for another purpose.
    Different,
}

impl MeetingLines {
    /// Offset of the contribution of [`LINE_BYTES`] to a barrier, from the start of the lines. The owner writes there before it
    /// [`show`](Self::show)s its arrival; others read after they see the arrival.
    #[inline(always)]
    pub const fn room(count: u64) -> usize {
        Self::turn(count) * size_of::<MeetingLine>() + core::mem::offset_of!(MeetingLine, data)
    }

    /// Shows that the owner is in barrier `count`, numbered from 1, for the purpose `fingerprint` of 48 bits. The caller then rings
    /// [`Doorbell`](super::Doorbell)s, for which this is a read-modify-write.
    #[inline(always)]
    pub fn show(&self, count: u64, fingerprint: u64) {
        let order = if mutant("lines-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.0[Self::turn(count)].word.swap(word(count, fingerprint), order);
    }

    /// Fetches the line of barrier `count + 1` into the cache of the owner. The owner is in barrier `count`, so has passed barrier
    /// `count - 1`, and no PE still reads the line's old value.
    #[inline(always)]
    pub fn take_next(&self, count: u64) {
        let next = if mutant("lines-taken-early") { count + LINES as u64 - 1 } else { count + 1 };
        self.0[Self::turn(next)].word.store(0, Ordering::Relaxed);
    }

    /// The state of the owner for a PE that is in barrier `count` for the purpose `fingerprint`.
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

    /// Clears all lines, before the first barrier of a new team.
    pub fn clear(&self) {
        self.0.iter().for_each(|line| line.word.store(0, Ordering::Release));
    }

    #[inline(always)]
    const fn turn(count: u64) -> usize {
        count as usize % LINES
    }
}

/// Returns the word of a barrier: its number, which wraps and skips 0, and the fingerprint. So it differs from the line's earlier words.
#[inline(always)]
fn word(count: u64, fingerprint: u64) -> u64 {
    let number = 1 + count % u64::from(u16::MAX - 1);
    number << FINGERPRINT_BITS | fingerprint & FINGERPRINT
}

#[cfg(any(test, loom))]
impl Default for MeetingLines {
    fn default() -> Self {
        let line = |()| MeetingLine { word: AtomicU64::new(0), data: UnsafeCell::new([0; LINE_BYTES]) };
        Self([(); LINES].map(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_show_one_meeting_and_one_purpose() {
        let lines = MeetingLines::default();
        for count in 1..200_000 {
            assert_eq!(lines.shown(count, 0), Shown::Nothing, "meeting {count} was not shown");
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
