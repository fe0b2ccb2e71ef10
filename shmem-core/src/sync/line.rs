//! A checked meeting of few PEs of one node, each of which looks at all others.
//!
//! Every PE has a line of its own. It writes there what it contributes, then shows one word: the number
//! of the meeting, and the fingerprint of what it came for. It has met the others when it has seen that
//! number in the lines of all of them. Where PEs come at the same time, this takes one transfer of a line
//! in each direction, and brings a small contribution with it; a [counter](super::NodeBarrier) takes two,
//! one behind the other, and brings nothing.
//!
//! A PE has several lines, used in turn. Who has passed a meeting knows that all others have come to it, so
//! they have read what was shown and contributed in the one before. Two lines would be enough for that. With
//! more, the line of the next meeting can be [taken](MeetingLine::take) from the caches of its readers while
//! the owner waits for this one: then showing it costs no transfer.

use core::cell::UnsafeCell;

use crate::primitive::{AtomicU64, Ordering};

/// Lines of one PE, used in turn: one that is shown, one that is looked at by who is late, and the next.
/// A power of two, so that a line is found fast.
pub const LINES: usize = 4;

/// Bytes that a line carries besides its word: with it, what a processor fetches at once.
pub const LINE_BYTES: usize = 56;

const FINGERPRINT_BITS: u32 = 48;
const FINGERPRINT: u64 = (1 << FINGERPRINT_BITS) - 1;

/// One PE's line of a meeting. All zeroes is one that shows nothing.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct MeetingLine {
    word: AtomicU64,
    data: UnsafeCell<[u8; LINE_BYTES]>,
}

// SAFETY: `data` is reached through raw pointers only, in the order that meetings give.
unsafe impl Sync for MeetingLine {}

/// What a line shows to those who wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Its owner has not come yet.
    Nothing,
    /// Its owner is here for the same purpose.
    Equal,
    /// Its owner is here for something else.
    Different,
}

impl MeetingLine {
    /// Where a line has room for a contribution of [`LINE_BYTES`], from its start: written by the owner before
    /// it [`show`](Self::show)s the line, read by the others when they have seen that.
    pub const DATA: usize = core::mem::offset_of!(Self, data);

    /// Shows that the owner is in meeting `count`, numbered from 1, for the purpose `fingerprint` of 48
    /// bits. Whoever may be asleep waiting for it is then woken by its
    /// [`Doorbell`](super::Doorbell), for which this is a read-modify-write.
    #[inline]
    pub fn show(&self, count: u64, fingerprint: u64) {
        self.word.swap(Self::word(count, fingerprint), Ordering::AcqRel);
    }

    /// What the line shows to a PE that is in meeting `count` for the purpose `fingerprint`.
    #[inline(always)]
    pub fn shown(&self, count: u64, fingerprint: u64) -> Shown {
        let word = self.word.load(Ordering::Acquire);
        if word == Self::word(count, fingerprint) {
            Shown::Equal
        } else if word >> FINGERPRINT_BITS == Self::word(count, 0) >> FINGERPRINT_BITS {
            Shown::Different
        } else {
            Shown::Nothing
        }
    }

    /// Makes it show nothing, and brings it into the cache of the owner, who will write it next. Nobody looks
    /// for what it has shown any more: all members have come to a later meeting, or the team is new.
    #[inline(always)]
    pub fn take(&self) {
        self.word.store(0, Ordering::Relaxed);
    }

    /// Numbers come round, and 0 is none: what the same line showed two meetings before is told apart.
    #[inline(always)]
    fn word(count: u64, fingerprint: u64) -> u64 {
        let number = 1 + count % u64::from(u16::MAX - 1);
        number << FINGERPRINT_BITS | fingerprint & FINGERPRINT
    }
}

#[cfg(any(test, loom))]
impl Default for MeetingLine {
    fn default() -> Self {
        Self { word: AtomicU64::new(0), data: UnsafeCell::new([0; LINE_BYTES]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_one_meeting_and_one_purpose() {
        let line = MeetingLine::default();
        for count in 1..200_000 {
            assert_eq!(line.shown(count, 0), Shown::Nothing, "meeting {count} was not shown");
            line.show(count, count << 7);
            assert_eq!(line.shown(count, count << 7), Shown::Equal);
            assert_eq!(line.shown(count, count << 7 ^ 1), Shown::Different);
            assert_eq!(
                line.shown(count + LINES as u64, count << 7),
                Shown::Nothing,
                "the next one in this line"
            );
        }
        line.take();
        assert!((1..200_000).all(|count| line.shown(count, 0) == Shown::Nothing));
    }
}
