//! The progress thread, which serves other PEs while the program computes.
//!
//! Providers move data only in calls of libfabric. So one thread sleeps on the queue of the unit that other PEs address. A put does
//! not notify its target. So after each wake the thread rings the bell of its own PE, so that sleeping waiters check their words.
//! If threads cannot sleep on the queue, the thread polls it at growing intervals.
//!
//! While threads of the program poll, each of their completions would wake the progress thread, which would take a core from them.
//! So after each wake it parks, for a while or until a waiter is about to sleep ([`Handover`]). The waiter increments a count, then
//! reads the flag "parked". The thread sets the flag, then reads the count. At least one of them sees the other's write.
//!
//! The thread also ends the job when operations in flight make no progress.

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::backoff::Stall;
use super::{Fabric, file_descriptors};

/// First and longest time for which the thread parks while the program's threads poll. They may soon stop, so the first time is
/// short.
const FIRST_PARK: Duration = Duration::from_micros(200);
const LAST_PARK: Duration = Duration::from_millis(1);

/// Longest mean time between polls of program threads for which the progress thread begins to park. To keep it parked, one poll
/// since its last wake is enough, because a poll that moves data takes longer.
const POLLING: Duration = Duration::from_micros(50);

/// Time for which the thread polls after a completion, if there is a core for it, because parts of long messages arrive at shorter
/// intervals than a thread takes to wake up.
const LINGER: Duration = Duration::from_micros(20);

/// Longest sleep while an operation of this PE is in flight, because its data may move only in calls of libfabric.
const UNDER_WAY: Duration = Duration::from_millis(1);

/// First and longest interval between two polls of a queue on which threads cannot sleep.
const FIRST_LOOK: Duration = Duration::from_micros(20);
const LAST_LOOK: Duration = Duration::from_millis(1);

/// Interval between two checks that operations in flight make progress.
const WATCH: Duration = Duration::from_millis(100);

/// Number of checks for progress from one check for free file descriptors to the next.
const DESCRIPTORS: u32 = 10;

pub(super) struct ProgressThread {
    thread: Option<JoinHandle<()>>,
    fabric: Arc<Fabric>,
}

impl ProgressThread {
    pub(super) fn start(fabric: &Arc<Fabric>) -> io::Result<Self> {
        let (fabric, of_thread) = (Arc::clone(fabric), Arc::clone(fabric));
        let thread = std::thread::Builder::new().name("shmem progress".to_owned()).spawn(move || {
            block_signals();
            run(&of_thread);
        })?;
        Ok(Self { thread: Some(thread), fabric })
    }
}

impl Drop for ProgressThread {
    fn drop(&mut self) {
        self.fabric.handover.end();
        if let Some(thread) = self.thread.take() {
            // The error is ignored, because a thread that panicked has printed why.
            let _ = thread.join();
        }
    }
}

fn run(fabric: &Fabric) {
    let (mut look, mut last) = (FIRST_LOOK, Instant::now());
    let (mut polling, mut watch) = (Polling::new(), Watch::new());
    let handover = &fabric.handover;
    while !handover.is_over.load(Ordering::Acquire) {
        let moved = fabric.serve();
        fabric.ring();
        watch.look(fabric);
        let sleeps = handover.sleeps();
        if let Some(park) = polling.park(fabric.activity(), sleeps) {
            fabric.flush_answers();
            handover.park(sleeps, || handover.sleep(None, park));
            continue;
        }
        if moved {
            (look, last) = (FIRST_LOOK, Instant::now());
            continue;
        }
        if fabric.spins && last.elapsed() < LINGER {
            core::hint::spin_loop();
            continue;
        }
        fabric.flush_answers();
        match fabric.first().unit.endpoint.descriptor() {
            Some(arrival) => {
                let limit = if fabric.is_under_way() { UNDER_WAY } else { WATCH };
                if fabric.first().unit.endpoint.may_sleep() {
                    handover.sleep(Some(arrival), limit);
                }
            }
            None => {
                handover.sleep(None, look);
                look = LAST_LOOK.min(look * 2);
            }
        }
    }
}

/// State of the periodic check that operations in flight make progress.
struct Watch {
    looked: Instant,
    stall: Stall,
    looks: u32,
    /// Whether the warning that no descriptors are left was printed.
    has_warned: bool,
}

impl Watch {
    fn new() -> Self {
        Self { looked: Instant::now(), stall: Stall::new(0), looks: 0, has_warned: false }
    }

    /// Ends the job if operations in flight made no progress for the timeout.
    fn look(&mut self, fabric: &Fabric) {
        let now = Instant::now();
        if now.duration_since(self.looked) < WATCH {
            return;
        }
        self.looked = now;
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(DESCRIPTORS)
            && !self.has_warned
            && fabric.domain.demands.known.connects
            && let Some(text) = file_descriptors::all_in_use(fabric.handover.descriptor.as_fd())
        {
            eprintln!("shmem: warning: PE {}: {text}", fabric.engine.me);
            self.has_warned = true;
        }
        let moved = fabric.moved();
        if !fabric.awaits_more() {
            self.stall = Stall::new(moved);
        }
        self.stall.look(fabric, moved, || fabric.awaited("operations of this PE"));
    }
}

/// Detects that threads of the program poll, by their polls since the last check.
struct Polling {
    looked: Instant,
    activity: u64,
    sleeps: u64,
    park: Option<Duration>,
}

impl Polling {
    fn new() -> Self {
        Self { looked: Instant::now(), activity: 0, sleeps: 0, park: None }
    }

    /// Returns the time to park, if threads of the program poll. The polls do not count if a thread has fallen asleep since the
    /// last call, because they may have been before its sleep.
    fn park(&mut self, activity: u64, sleeps: u64) -> Option<Duration> {
        let now = Instant::now();
        let looks = activity.wrapping_sub(self.activity);
        let often = POLLING.as_nanos() * u128::from(looks) >= now.duration_since(self.looked).as_nanos();
        let fell_asleep = sleeps != self.sleeps;
        (self.looked, self.activity, self.sleeps) = (now, activity, sleeps);
        self.park = match self.park {
            _ if looks == 0 || fell_asleep => None,
            Some(park) => Some(LAST_PARK.min(park * 2)),
            None => often.then_some(FIRST_PARK),
        };
        self.park
    }
}

/// Wakes a PE's progress thread at the end of the job, and when a waiter is about to sleep.
#[derive(Debug)]
pub(super) struct Handover {
    is_over: AtomicBool,
    /// Number of times that a waiter was about to sleep.
    sleeps: AtomicU64,
    parked: AtomicBool,
    /// Event descriptor, readable when the thread has to wake up.
    descriptor: OwnedFd,
}

impl Handover {
    pub(super) fn new() -> io::Result<Self> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (is_over, parked) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self { is_over, sleeps: AtomicU64::new(0), parked, descriptor })
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.wake();
    }

    /// Wakes the progress thread if it is parked. Called by a waiter that is about to sleep.
    pub(super) fn to_thread(&self) {
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        if self.parked.swap(false, Ordering::SeqCst) {
            self.wake();
        }
    }

    /// A number that changes when a waiter is about to sleep.
    pub(super) fn sleeps(&self) -> u64 {
        self.sleeps.load(Ordering::SeqCst)
    }

    /// Parks the thread by `sleep`, unless a waiter was about to sleep since [`sleeps`](Self::sleeps) returned the argument.
    pub(super) fn park(&self, sleeps: u64, sleep: impl FnOnce()) {
        self.parked.store(true, Ordering::SeqCst);
        if self.sleeps() == sleeps {
            sleep();
        }
        self.parked.store(false, Ordering::SeqCst);
    }

    fn wake(&self) {
        // The only error is that the counter is full, and a full counter is readable as well.
        let _ = rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes());
    }

    /// Sleeps until the thread is woken, `arrival` is readable, or the time is over. A late wake ends the next sleep early, which
    /// is harmless, because the thread polls after each sleep.
    fn sleep(&self, arrival: Option<BorrowedFd<'_>>, limit: Duration) {
        let seconds = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
        let limit = Timespec { tv_sec: seconds, tv_nsec: limit.subsec_nanos().into() };
        let mut woken = [self.descriptor.as_fd(), arrival.unwrap_or(self.descriptor.as_fd())]
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        let _ = poll(&mut woken, Some(&limit));
        if !woken[0].revents().is_empty() {
            let _ = rustix::io::read(&self.descriptor, &mut [0; 8]);
        }
    }
}

fn block_signals() {
    // SAFETY: all zeroes are a valid set, which is filled next.
    let mut all: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: the set is a local variable.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: the set is filled. The pointer for the old set may be null.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, core::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_parks_longer_and_longer_while_others_poll() {
        // Enough looks to count as polling, however long this test was off its core.
        let many = 1 << 40;
        let mut polling = Polling::new();
        assert_eq!(polling.park(0, 0), None);
        let parks: Vec<_> = (1..6).map(|times| polling.park(times * many, 0)).collect();
        assert!(
            parks.is_sorted() && parks[0] == Some(FIRST_PARK) && parks[4] == Some(LAST_PARK),
            "{parks:?}"
        );
        let parks = [(5 * many + 1, 0), (5 * many + 1, 0), (6 * many, 1), (7 * many, 1), (8 * many, 2)]
            .map(|(looks, sleeps)| polling.park(looks, sleeps));
        // A look that moves much data takes long; nobody has looked; who looks and falls asleep does not poll; nobody has fallen
        // asleep since.
        assert_eq!(parks, [Some(LAST_PARK), None, None, Some(FIRST_PARK), None]);
        std::thread::sleep(4 * POLLING);
        assert_eq!(polling.park(8 * many + 1, 2), None, "a look now and then is no polling");
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_waiter_that_falls_asleep_ends_the_parking() {
        let handover = Handover::new().unwrap();
        let (start, sleeps) = (Instant::now(), handover.sleeps());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !handover.parked.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                handover.to_thread();
            });
            handover.park(sleeps, || handover.sleep(None, LONG));
        });
        assert!(start.elapsed() < LONG);
        // What was written is read: the next parking does not end by it.
        let mut pending = [PollFd::new(&handover.descriptor, PollFlags::IN)];
        assert_eq!(poll(&mut pending, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap(), 0);
    }

    #[test]
    fn the_thread_does_not_park_when_a_waiter_has_just_fallen_asleep() {
        let handover = Handover::new().unwrap();
        let sleeps = handover.sleeps();
        handover.to_thread();
        handover.park(sleeps, || panic!("it parks"));
        assert!(!handover.parked.load(Ordering::SeqCst));
    }
}
