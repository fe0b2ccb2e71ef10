//! The bell of one PE, rung after a change of a word for which the PE may wait (an event count).
//!
//! A waiter announces itself, checks its word again, and sleeps until the bell's epoch (a count of wake-ups) changes. A ringer
//! changes the word, then looks for announced sleepers. Puts and other operations that the program calls look only for
//! [watchers](Doorbell::watch), which wait for words of the program's objects. Other sleepers, as in a barrier, wait for words of
//! the runtime.
//!
//! Either the ringer sees the announcement, or the waiter sees the word, as each has a full fence between its write and its check:
//!
//! 1. The waiter's fence follows its announcement, a read-modify-write.
//! 2. The ringer's fence is part of the read-modify-write that changed the word ([`ring`](Doorbell::ring)), or follows a plain
//!    store ([`ring_behind_store`](Doorbell::ring_behind_store)).
//! 3. Full fences have one order. If the waiter's is first, the ringer's check finds the announcement; otherwise the waiter's check
//!    finds the word.
//!
//! A plain store without a fence may become visible after the check. So a word that a PE waits for must be changed in one of these
//! two ways, or by a store that is followed by a later fence and another ring ([`Turn::settle`](super::Turn::settle)).
//!
//! To signal that stored data is complete, a plain store is faster than a read-modify-write: its cache line is requested with those
//! of the data, and a spinning waiter sees it before the ringer's fence. A read-modify-write requests its line only when earlier
//! stores are visible.

use std::time::Duration;

use crate::loom_atomics::{AtomicU32, FutexWord, Ordering, fence_after_rmw, fence_after_store};
use crate::planted_fault::mutant;

/// The bell of one PE. All zeroes is a bell that was never rung, without sleepers.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Doorbell {
    /// Number of sleepers that wait for words of the program.
    watchers: AtomicU32,
    epoch: FutexWord,
    /// Number of all sleepers.
    sleepers: AtomicU32,
}

impl Doorbell {
    /// Wakes all sleepers. Called after a read-modify-write of a word that the bell's owner may wait for.
    #[inline(always)]
    pub fn ring(&self) {
        // On x86-64 this fence is empty, because the read-modify-write is a full fence. A plain store would not be ordered.
        if !mutant("doorbell-no-fence") && !mutant("exchange-unsettled") {
            fence_after_rmw();
        }
        self.look(&self.sleepers);
    }

    /// Wakes the sleepers that wait for words of the program (watchers). Called after a read-modify-write of such a word.
    #[inline(always)]
    pub fn ring_watchers(&self) {
        if !mutant("doorbell-no-fence") {
            fence_after_rmw();
        }
        self.look(&self.watchers);
    }

    /// Wakes watchers. Called after a store with release ordering to a word of the program that the bell's owner may wait for.
    #[inline(always)]
    pub fn ring_behind_store(&self) {
        if !mutant("doorbell-no-fence-behind-store") {
            fence_after_store();
        }
        self.look(&self.watchers);
    }

    /// Wakes watchers. Called after any store of the program. Needs no fence: before its last check a sleeper makes this thread
    /// execute one (by membarrier); if the kernel cannot, the sleeper still wakes soon, because it sleeps briefly
    /// (`context::untyped`).
    #[inline(always)]
    pub(crate) fn ring_behind_any_store(&self) {
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        self.look(&self.watchers);
    }

    /// Whether `act` would wake a sleeper of this bell (for tests).
    #[cfg(test)]
    pub(crate) fn is_rung_by(&self, act: impl FnOnce()) -> bool {
        let before = self.epoch.load(Ordering::Acquire);
        let announced = [&self.sleepers, &self.watchers];
        announced.into_iter().for_each(|sleepers| _ = sleepers.fetch_add(1, Ordering::SeqCst));
        act();
        announced.into_iter().for_each(|sleepers| _ = sleepers.fetch_sub(1, Ordering::SeqCst));
        self.epoch.load(Ordering::Acquire) != before
    }

    #[inline(always)]
    fn look(&self, announced: &AtomicU32) {
        if announced.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.epoch.fetch_add(1, Ordering::Release);
        self.epoch.wake_all();
    }

    /// Sleeps until the bell is [rung](Self::ring), for at most `timeout`. Does not sleep if `done` returns true. May return early,
    /// so the caller checks again. A ring that is for watchers only does not wake it.
    pub fn sleep(&self, timeout: Option<Duration>, done: impl FnMut() -> bool) {
        self.sleep_as(None, timeout, done);
    }

    /// As [`sleep`](Self::sleep), as a watcher: every ring wakes it.
    pub fn watch(&self, timeout: Option<Duration>, done: impl FnMut() -> bool) {
        self.sleep_as(Some(&self.watchers), timeout, done);
    }

    fn sleep_as(&self, also: Option<&AtomicU32>, timeout: Option<Duration>, mut done: impl FnMut() -> bool) {
        let early = mutant("doorbell-late-announcement").then(&mut done);
        let epoch = self.epoch.load(Ordering::Acquire);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if let Some(announced) = also {
            announced.fetch_add(1, Ordering::SeqCst);
        }
        fence_after_rmw();
        if !early.unwrap_or_else(done) {
            let late = mutant("doorbell-late-epoch").then(|| self.epoch.load(Ordering::Acquire));
            self.epoch.wait(late.unwrap_or(epoch), timeout);
        }
        if let Some(announced) = also {
            announced.fetch_sub(1, Ordering::Relaxed);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(any(test, loom))]
impl Default for Doorbell {
    fn default() -> Self {
        Self { watchers: AtomicU32::new(0), epoch: FutexWord::new(0), sleepers: AtomicU32::new(0) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn operations_of_a_program_do_not_wake_who_sleeps_in_a_barrier() {
        let bell = Doorbell::default();
        let rings = |what: fn(&Doorbell)| {
            let before = bell.epoch.load(Ordering::Relaxed);
            what(&bell);
            bell.epoch.load(Ordering::Relaxed) - before
        };
        let of_programs =
            [Doorbell::ring_watchers, Doorbell::ring_behind_store, Doorbell::ring_behind_any_store];
        assert_eq!((rings(Doorbell::ring), of_programs.map(rings)), (0, [0; 3]), "nobody sleeps");
        bell.sleep(None, || {
            assert_eq!((rings(Doorbell::ring), of_programs.map(rings)), (1, [0; 3]));
            true
        });
        bell.watch(None, || {
            assert_eq!((rings(Doorbell::ring), of_programs.map(rings)), (1, [1; 3]));
            true
        });
        assert_eq!((rings(Doorbell::ring), of_programs.map(rings)), (0, [0; 3]));
    }
}
