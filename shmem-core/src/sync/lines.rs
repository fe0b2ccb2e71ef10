//! A checked barrier of few PEs of one node, each of which reads the flags of all others.
//!
//! Every PE has cache lines of its own. It writes a small contribution to a line, then shows one word: the number of the meeting, and
//! the fingerprint of its purpose. It has met the others when it has seen that number in a line of each. If PEs arrive at the same
//! time, this takes one transfer of a line in each direction, contribution included; a [counter](super::NodeBarrier) takes two
//! transfers in sequence, without a contribution.
//!
//! A PE uses its lines in turn. A PE that has passed a meeting knows that all others have arrived at it, and so have read the lines of
//! the previous one. Two lines would be enough. With more, the owner can [take](MeetingLines::take_next) the line of the next meeting
//! from the caches of its readers while it waits for this one: then showing it costs no transfer.

use core::cell::UnsafeCell;

use crate::primitive::{AtomicU64, Ordering, mutant};

/// Bytes of a line besides its word: with it, one cache line.
pub const LINE_BYTES: usize = 56;

/// One line that is shown, one that late PEs read, and the next; a power of two, for a fast modulo.
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
    /// Reached through raw pointers only, in the order that meetings give.
    data: UnsafeCell<[u8; LINE_BYTES]>,
}

// SAFETY: `data` is not reached through a line.
unsafe impl Sync for MeetingLine {}

/// The state of a PE, as the others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It has not arrived.
    Nothing,
    /// It has arrived for the same purpose.
    Equal,
    /// It has arrived for another purpose.
    Different,
}

impl MeetingLines {
    /// Offset of the contribution of [`LINE_BYTES`] to a meeting, from the start of the lines. The owner writes it before it
    /// [`show`](Self::show)s its arrival; the others read it after they have seen that.
    #[inline(always)]
    pub const fn room(count: u64) -> usize {
        Self::turn(count) * size_of::<MeetingLine>() + core::mem::offset_of!(MeetingLine, data)
    }

    /// Shows that the owner is in meeting `count`, numbered from 1, for the purpose `fingerprint` of 48 bits. The caller then rings
    /// [`Doorbell`](super::Doorbell)s, for which this is a read-modify-write.
    #[inline(always)]
    pub fn show(&self, count: u64, fingerprint: u64) {
        let order = if mutant("lines-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.0[Self::turn(count)].word.swap(word(count, fingerprint), order);
    }

    /// Takes the line of the meeting after `count` into the cache of the owner, which is in meeting `count` and has passed the one
    /// before: no PE reads the old value of the line any more.
    #[inline(always)]
    pub fn take_next(&self, count: u64) {
        let next = if mutant("lines-taken-early") { count + LINES as u64 - 1 } else { count + 1 };
        self.0[Self::turn(next)].word.store(0, Ordering::Relaxed);
    }

    /// The state of the owner for a PE that is in meeting `count` for the purpose `fingerprint`.
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

    /// Makes them show nothing, before the first meeting of a new team.
    pub fn clear(&self) {
        self.0.iter().for_each(|line| line.word.store(0, Ordering::Release));
    }

    #[inline(always)]
    const fn turn(count: u64) -> usize {
        count as usize % LINES
    }
}

/// Numbers wrap, and 0 is none; the old values of the same line differ.
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
