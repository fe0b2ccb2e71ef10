//! The bell of one PE: rung by whoever changes a word the PE may be waiting for.
//!
//! The waiter announces itself, looks at its word again, and sleeps on the bell's epoch. The ringer
//! has changed the word by a read-modify-write instruction, then looks for announced sleepers.
//! Between the two read-modify-writes (word, announcement) there is one order: either the ringer
//! sees the announcement, or the waiter sees the word. A plain store has no such order, which is why
//! only words changed by read-modify-write can be waited for, or words behind whose store comes a full fence
//! and another ring ([`Turn::settle`](super::Turn::settle)).

use std::time::Duration;

use crate::primitive::{AtomicU32, FutexWord, Ordering, fence_after_rmw, mutant};

/// The bell of one PE. All zeroes is a silent bell without sleepers.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Doorbell {
    sleepers: AtomicU32,
    epoch: FutexWord,
}

impl Doorbell {
    /// To be called after a read-modify-write of a word that the bell's owner may wait for.
    #[inline(always)]
    pub fn ring(&self) {
        if !mutant("doorbell-no-fence") {
            fence_after_rmw();
        }
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.epoch.fetch_add(1, Ordering::Release);
        self.epoch.wake_all();
    }

    /// Sleeps until the bell is rung, unless `done` already holds; at most `timeout`. May return
    /// early: the caller looks again.
    pub fn sleep(&self, timeout: Option<Duration>, mut done: impl FnMut() -> bool) {
        let early = mutant("doorbell-late-announcement").then(&mut done);
        let epoch = self.epoch.load(Ordering::Acquire);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence_after_rmw();
        if !early.unwrap_or_else(done) {
            let late = mutant("doorbell-late-epoch").then(|| self.epoch.load(Ordering::Acquire));
            self.epoch.wait(late.unwrap_or(epoch), timeout);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(any(test, loom))]
impl Default for Doorbell {
    fn default() -> Self {
        Self { sleepers: AtomicU32::new(0), epoch: FutexWord::new(0) }
    }
}
