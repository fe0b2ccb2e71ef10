//! A checked meeting of few PEs of one node, each of which looks at all others.
//!
//! Every PE has lines of its own. It writes there what it contributes, then shows one word: the number
//! of the meeting, and the fingerprint of what it came for. It has met the others when it has seen that
//! number in the lines of all of them. Where PEs come at the same time, this takes one transfer of a line
//! in each direction, and brings a small contribution with it; a [counter](super::NodeBarrier) takes two,
//! one behind the other, and brings nothing.
//!
//! A PE uses its lines in turn. Who has passed a meeting knows that all others have come to it, so they
//! have read what was shown and contributed in the one before. Two lines would be enough for that. With
//! more, the line of the next meeting can be [taken](MeetingLines::take_next) from the caches of its readers
//! while the owner waits for this one: then showing it costs no transfer.

use core::cell::UnsafeCell;

use crate::primitive::{AtomicU64, Ordering, mutant};

/// Bytes that a line carries besides its word: with it, what a processor fetches at once.
pub const LINE_BYTES: usize = 56;

/// One that is shown, one that is looked at by who is late, and the next; a power of two, so that a line is
/// found fast.
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

/// What a PE shows to those who wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It has not come yet.
    Nothing,
    /// It is here for the same purpose.
    Equal,
    /// It is here for something else.
    Different,
}

impl MeetingLines {
    /// Where there is room for a contribution of [`LINE_BYTES`] to a meeting, from the start of the lines:
    /// written by their owner before it [`show`](Self::show)s that it is there, read by the others when they
    /// have seen that.
    #[inline(always)]
    pub const fn room(count: u64) -> usize {
        Self::turn(count) * size_of::<MeetingLine>() + core::mem::offset_of!(MeetingLine, data)
    }

    /// Shows that the owner is in meeting `count`, numbered from 1, for the purpose `fingerprint` of 48
    /// bits. Whoever may be asleep waiting for it is then woken by its
    /// [`Doorbell`](super::Doorbell), for which this is a read-modify-write.
    #[inline(always)]
    pub fn show(&self, count: u64, fingerprint: u64) {
        let order = if mutant("lines-relaxed") { Ordering::Relaxed } else { Ordering::AcqRel };
        self.0[Self::turn(count)].word.swap(word(count, fingerprint), order);
    }

    /// Brings the line of the meeting behind `count` into the cache of the owner, who is in that one, and has
    /// passed the one before: nobody looks for what the line has shown any more.
    #[inline(always)]
    pub fn take_next(&self, count: u64) {
        let next = if mutant("lines-taken-early") { count + LINES as u64 - 1 } else { count + 1 };
        self.0[Self::turn(next)].word.store(0, Ordering::Relaxed);
    }

    /// What the owner shows to a PE that is in meeting `count` for the purpose `fingerprint`.
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

/// Numbers come round, and 0 is none: what the same line showed before is told apart.
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

    #[test]
    fn contributions_lie_in_the_lines_of_their_words() {
        for count in 0..10 {
            let room = MeetingLines::room(count);
            assert!(room % 128 == 8 && room + LINE_BYTES <= size_of::<MeetingLines>());
            assert_eq!(room / 128, MeetingLines::turn(count));
        }
    }
}
