//! Which PEs an operation that is only counted may be with.
//!
//! A counter does not say whose operations are complete. So a unit keeps a short list of the PEs that were addressed
//! since everything was complete for the last time: who waits for another PE need not wait at all, and who reports a
//! failure names those it may be of. The list is changed behind the lock of the unit, and read anywhere.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Most PEs of a list. Beyond, it may be any.
const MOST: usize = 8;

/// The PEs that were addressed since everything was complete.
#[derive(Debug, Default)]
pub(super) struct Addressed {
    pes: [AtomicU32; MOST],
    /// How many there are; one more than [`MOST`]: others, too.
    count: AtomicUsize,
}

impl Addressed {
    /// An operation with a PE is about to be started. Behind the lock.
    #[inline(always)]
    pub(super) fn add(&self, pe: usize) {
        let count = self.count.load(Ordering::Relaxed);
        let is_known = |known: &AtomicU32| known.load(Ordering::Relaxed) as usize == pe;
        if count > MOST || self.pes[..count].iter().any(is_known) {
            return;
        }
        if let Some(free) = self.pes.get(count) {
            free.store(pe as u32, Ordering::Relaxed);
        }
        self.count.store(count + 1, Ordering::Release);
    }

    /// Everything is complete. Behind the lock.
    #[inline(always)]
    pub(super) fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
    }

    /// Whether an operation with a PE may be under way.
    pub(super) fn may_have(&self, pe: usize) -> bool {
        let (mut known, others) = self.list();
        others || known.any(|known| known == pe)
    }

    /// The PEs, and whether there are others.
    pub(super) fn list(&self) -> (impl Iterator<Item = usize>, bool) {
        let count = self.count.load(Ordering::Acquire);
        let known = self.pes[..count.min(MOST)].iter();
        (known.map(|pe| pe.load(Ordering::Relaxed) as usize), count > MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pe_stands_there_once_until_all_is_complete() {
        let addressed = Addressed::default();
        [3, 5, 3, 3, 5].into_iter().for_each(|pe| addressed.add(pe));
        let (known, others) = addressed.list();
        assert_eq!((known.collect::<Vec<_>>(), others), (vec![3, 5], false));
        assert!(addressed.may_have(5) && !addressed.may_have(0));
        addressed.clear();
        assert!(!addressed.may_have(5));
    }

    #[test]
    fn more_than_are_kept_may_be_any() {
        let addressed = Addressed::default();
        (0..MOST).for_each(|pe| addressed.add(pe));
        assert!(!addressed.may_have(100));
        addressed.add(MOST);
        assert!(addressed.may_have(100));
        assert_eq!(addressed.list().0.count(), MOST);
    }
}
