//! Waiting for the fabric: how long to spin, and when to give up.

use core::time::Duration;
use std::time::Instant;

use super::Fabric;

/// Number of failed polls between two readings of the clock.
const LOOKS: u32 = 1024;

/// Number of failed polls between two yields of the core, if there are fewer cores than waiting threads.
const ROUNDS: u32 = 16;

/// Upper limit on the time that counts as waiting between two readings of the clock. If more has passed, the process was stopped
/// (by a user, or by a scheduler that suspends jobs), and its peers probably, too.
const LONGEST: Duration = Duration::from_millis(500);

/// State of one wait of a thread. A short wait does not read the clock.
pub(super) struct Backoff<'f> {
    fabric: &'f Fabric,
    rounds: u32,
    stall: Option<Stall>,
}

/// The time for which the fabric has made no progress while this process ran.
pub(super) struct Stall {
    looked: Instant,
    time: Duration,
    moved: u64,
}

impl Stall {
    /// A stall of no time so far. `moved` is a number that changes when the fabric makes progress.
    pub(super) fn new(moved: u64) -> Self {
        Self { looked: Instant::now(), time: Duration::ZERO, moved }
    }

    /// Adds the time since the last call, or restarts at 0 if `moved` has changed. Returns the sum. When the sum reaches the
    /// timeout, ends the job with an error text about `what`.
    pub(super) fn look(&mut self, fabric: &Fabric, moved: u64, what: impl FnOnce() -> String) -> Duration {
        if moved != self.moved {
            *self = Self::new(moved);
        }
        let now = Instant::now();
        self.time += now.duration_since(self.looked).min(LONGEST);
        self.looked = now;
        if fabric.timeout.is_some_and(|limit| self.time >= limit) {
            fabric.give_up(&what(), self.time);
        }
        self.time
    }
}

impl<'f> Backoff<'f> {
    #[inline(always)]
    pub(super) fn new(fabric: &'f Fabric) -> Self {
        Self { fabric, rounds: 0, stall: None }
    }

    /// Whether this is the last of eight polls, after which the waiter also polls other units.
    #[inline(always)]
    pub(super) fn is_eighth(&self) -> bool {
        self.rounds % 8 == 7
    }

    /// Pauses after a failed poll. `completed` returns a number that changes when the fabric makes progress. `what` describes the
    /// wait in the error text of a timeout.
    #[inline]
    pub(super) fn pause(&mut self, completed: impl FnOnce() -> u64, what: impl FnOnce() -> String) {
        self.rounds = self.rounds.wrapping_add(1);
        core::hint::spin_loop();
        if !self.fabric.spins && self.rounds.is_multiple_of(ROUNDS) {
            std::thread::yield_now();
        }
        if self.rounds.is_multiple_of(LOOKS) {
            self.look(completed(), what);
        }
    }

    #[cold]
    fn look(&mut self, completed: u64, what: impl FnOnce() -> String) {
        let stall = self.stall.get_or_insert_with(|| Stall::new(completed));
        // After a wait of a millisecond, the time for a yield does not matter.
        if stall.look(self.fabric, completed, what) > Duration::from_millis(1) {
            std::thread::yield_now();
        }
    }
}
