//! How many operations a unit has started, against how many are complete.
//!
//! A provider's counter says how many operations are complete, not which. Where several threads use a unit, later
//! operations may be complete before earlier ones. So everything is complete only at a moment at which both
//! numbers are equal: the completed ones are read first, and nothing that was started by then is missing. Threads that
//! go on starting could put that moment off for ever; who has waited for some time keeps them from it. The last such
//! moment is kept: what was started before it needs no further look.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Looks after which others are kept from starting operations.
const LOOKS: u32 = 64;

/// Operations started on a unit.
#[derive(Debug, Default)]
pub(super) struct Tally {
    started: AtomicU64,
    /// So many operations were started, and all complete, at the last moment that anybody has found.
    settled: AtomicU64,
    /// Threads that wait for the others to start nothing.
    closed: AtomicU32,
}

impl Tally {
    /// Whether operations may be started now.
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.closed.load(Ordering::Relaxed) == 0
    }

    /// Counts an operation that is about to be started: before, since it may be complete before anything else is
    /// done. Behind the lock of the unit.
    #[inline(always)]
    pub(super) fn begin(&self) {
        self.started.store(self.started.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// It was not started after all. Behind the same lock.
    #[inline(always)]
    pub(super) fn undo(&self) {
        self.started.store(self.started.load(Ordering::Relaxed) - 1, Ordering::Release);
    }

    /// Operations started.
    pub(super) fn started(&self) -> u64 {
        self.started.load(Ordering::Acquire)
    }

    /// Whether everything is complete, when so many operations were complete some time ago.
    #[inline(always)]
    pub(super) fn is_complete(&self, completed: u64) -> bool {
        // The counter, which is the provider's, has been read before.
        fence(Ordering::Acquire);
        let started = self.started.load(Ordering::Acquire);
        if completed < started {
            return false;
        }
        self.settled.fetch_max(started, Ordering::Release);
        true
    }

    /// Whether the first so many operations are known to be complete, without a look at the counter.
    #[inline(always)]
    pub(super) fn is_settled(&self, operations: u64) -> bool {
        self.settled.load(Ordering::Acquire) >= operations
    }

    /// Begins to wait until everything is complete.
    #[inline(always)]
    pub(super) fn wait(&self) -> Waiting<'_> {
        Waiting { tally: self, looks: 0 }
    }
}

/// Somebody who waits until everything is complete.
pub(super) struct Waiting<'t> {
    tally: &'t Tally,
    looks: u32,
}

impl Waiting<'_> {
    /// To be called for each look that was in vain: after some, nobody starts anything until this value is
    /// dropped.
    #[inline(always)]
    pub(super) fn looked(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks == LOOKS {
            self.tally.closed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Waiting<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.looks >= LOOKS {
            self.tally.closed.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_operations_that_are_complete_do_not_stand_for_earlier_ones() {
        let tally = Tally::default();
        tally.begin();
        let before = tally.started();
        tally.begin();
        // The second is complete, the first is not.
        let completed = 1;
        assert!(completed >= before, "a number read before would say that all is over");
        assert!(!tally.is_complete(completed));
        assert!(tally.is_complete(2));
    }

    #[test]
    fn an_operation_that_was_not_started_is_not_waited_for() {
        let tally = Tally::default();
        tally.begin();
        assert!(!tally.is_complete(0));
        tally.undo();
        assert!(tally.is_complete(0));
    }

    #[test]
    fn what_was_complete_once_needs_no_look() {
        let tally = Tally::default();
        assert!(tally.is_settled(0));
        tally.begin();
        tally.begin();
        assert!(
            !tally.is_complete(1) && !tally.is_settled(1),
            "one of two is complete, and nobody knows which"
        );
        assert!(tally.is_complete(2));
        tally.begin();
        assert!(tally.is_settled(2) && !tally.is_settled(3));
    }

    #[test]
    fn who_waits_for_long_keeps_others_from_starting() {
        let tally = Tally::default();
        let (mut one, mut other) = (tally.wait(), tally.wait());
        (1..LOOKS).for_each(|_| one.looked());
        assert!(tally.is_open());
        one.looked();
        assert!(!tally.is_open());
        (0..2 * LOOKS).for_each(|_| other.looked());
        drop(one);
        assert!(!tally.is_open());
        drop(other);
        assert!(tally.is_open());
    }
}
