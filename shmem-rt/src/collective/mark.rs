//! Marks: what a member has started, as one word that others compare.

use shmem_core::system::MOST_REQUESTS;

use crate::group::Purpose;

/// Bits in which barriers are counted.
const MEETINGS: u32 = 24;

/// What a member has started, as a word that is never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(u64);

impl Mark {
    /// Of the request with a number, started behind so many barriers.
    pub(super) fn new(purpose: &Purpose<'_>, number: u64, meetings: u64) -> Self {
        let hash = purpose.fingerprint() >> 16 & 0xffff_ffff;
        Self(meetings << (u64::BITS - MEETINGS) | hash << 8 | (number & 0x7f) << 1 | 1)
    }

    /// The word.
    pub(super) fn word(self) -> u64 {
        self.0
    }

    /// What was heard, if anything was.
    pub(super) fn heard(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    /// Whether it was started before a barrier, by who had not come to that.
    pub(super) fn is_before(self, meeting: u64) -> bool {
        // Of two numbers that are not far from each other the lower one, however often they have begun anew.
        let ahead = meeting.wrapping_sub(self.0 >> (u64::BITS - MEETINGS)) << (u64::BITS - MEETINGS);
        ahead.cast_signed() > 0
    }
}

/// Which place the request with a number has among those of its team, and which set of marks its barrier uses.
pub(super) fn place_of(number: u64) -> (usize, usize) {
    let (places, number) = (MOST_REQUESTS, number as usize);
    (number % places, number / places % 2)
}

#[cfg(test)]
mod tests {
    use shmem_core::observe::Family;

    use super::*;
    use crate::group::Operation;

    fn mark(arguments: &[u64], number: u64, meetings: u64) -> Mark {
        let operation = Operation::of(Family::StartSum);
        let purpose = Purpose { operation, opens: false, arguments, subject: &String::new, location: None };
        Mark::new(&purpose, number, meetings)
    }

    #[test]
    fn marks_differ_by_all_that_members_agree_on() {
        assert_eq!(mark(&[3], 5, 7), mark(&[3], 5, 7));
        let all = [mark(&[3], 5, 7), mark(&[4], 5, 7), mark(&[3], 6, 7), mark(&[3], 5, 8)];
        for (k, one) in all.iter().enumerate() {
            assert!(all[..k].iter().all(|other| one != other), "{k}");
            assert_eq!(Mark::heard(one.0), Some(*one));
        }
        assert_eq!(Mark::heard(0), None);
    }

    #[test]
    fn who_has_come_to_fewer_meetings_is_known_when_they_begin_to_count_anew() {
        for meetings in [0, 1, 1000, (1 << 24) - 2, (1 << 24) - 1, 1 << 24, (1 << 40) - 1] {
            let mark = mark(&[], 1, meetings);
            assert!(mark.is_before(meetings + 1) && mark.is_before(meetings + 2), "{meetings}");
            assert!(!mark.is_before(meetings), "{meetings}");
            assert!(meetings == 0 || !mark.is_before(meetings - 1), "{meetings}");
        }
    }
}
