//! Who serves others while a program waits.
//!
//! A thread that waits polls at first, and the progress thread leaves it to that for some time (it parks). When the
//! waiter falls asleep nobody would serve until the parking is over: a PE that is read while it waits in a barrier
//! would answer once in a parking. So whoever is about to sleep says so, which ends the parking. What it has looked at
//! before was no polling that goes on.
//!
//! The waiter counts, then looks whether the thread is parked; the thread says that it is parked, then looks at the
//! count. One of them sees the other.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// Between waiters and the progress thread of a PE.
#[derive(Debug)]
pub(super) struct Handover {
    /// How often a waiter was about to sleep.
    sleeps: AtomicU64,
    parked: AtomicBool,
    /// Readable when the parking is to end.
    descriptor: OwnedFd,
}

impl Handover {
    /// # Errors
    ///
    /// If the system has no descriptor left.
    pub(super) fn new() -> io::Result<Self> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { sleeps: AtomicU64::new(0), parked: AtomicBool::new(false), descriptor })
    }

    /// A waiter is about to sleep.
    pub(super) fn to_thread(&self) {
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        if self.parked.swap(false, Ordering::SeqCst) {
            // A counter that is full is readable as well.
            let _ = rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes());
        }
    }

    /// A number that changes when a waiter is about to sleep.
    pub(super) fn sleeps(&self) -> u64 {
        self.sleeps.load(Ordering::SeqCst)
    }

    /// Lets the thread park by `sleep`, which ends when its descriptor becomes readable; not at all if a waiter has
    /// fallen asleep since the number was `sleeps`.
    pub(super) fn park(&self, sleeps: u64, sleep: impl FnOnce(BorrowedFd<'_>)) {
        self.parked.store(true, Ordering::SeqCst);
        if self.sleeps() == sleeps {
            sleep(self.descriptor.as_fd());
        }
        if !self.parked.swap(false, Ordering::SeqCst) {
            // Nothing to read, if the writer is not there yet: then one parking ends early.
            let _ = rustix::io::read(&self.descriptor, &mut [0; 8]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn sleep(descriptor: BorrowedFd<'_>) {
        let limit = Timespec { tv_sec: LONG.as_secs() as i64, tv_nsec: 0 };
        poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], Some(&limit)).unwrap();
    }

    #[test]
    fn who_falls_asleep_ends_the_parking() {
        let handover = Handover::new().unwrap();
        let (start, sleeps) = (Instant::now(), handover.sleeps());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !handover.parked.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                handover.to_thread();
            });
            handover.park(sleeps, sleep);
        });
        assert!(start.elapsed() < LONG);
        // What was written is read: the next parking does not end by it.
        let mut pending = [PollFd::new(&handover.descriptor, PollFlags::IN)];
        assert_eq!(poll(&mut pending, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap(), 0);
    }

    #[test]
    fn nobody_parks_when_a_waiter_has_just_fallen_asleep() {
        let handover = Handover::new().unwrap();
        let sleeps = handover.sleeps();
        handover.to_thread();
        handover.park(sleeps, |_| panic!("it parks"));
        assert!(!handover.parked.load(Ordering::SeqCst));
    }
}
