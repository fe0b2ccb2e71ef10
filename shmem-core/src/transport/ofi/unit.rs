//! A unit: an endpoint, its completion queue and its counter.
//!
//! Puts and updates request delivery (`FI_DELIVERY_COMPLETE`), because otherwise a provider may count an operation whose data is
//! still in the provider's buffer. The counter counts all operations except sends of messages. The queue also reports the
//! operations that have a record.
//!
//! A unit has a lock, so that any thread may wait for operations of another thread. If one thread uses the unit, only the progress
//! thread competes for the lock, so locking usually costs two atomic instructions.
//!
//! **The counter** is the number of complete operations. It does not say which operations are complete, and later ones may be
//! complete before earlier ones. So all are known to be complete only if the number of started operations equals that of complete
//! ones, which must be read first. Threads that go on starting operations could prevent that equality for ever, so a thread that
//! has waited for some time stops them. The number at the last equality is kept, because operations up to it are known to be
//! complete.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::MutexGuard;

use super::domain::Domain;
use super::error::OfiError;
use super::record::{Free, Records};
use super::{buffers, lent_buffers};
use crate::exclusion::Mutex;
use crate::libfabric::bindings::FI_EADDRINUSE;
use crate::libfabric::{Endpoint, Refused, Registration};

/// Number of records of a unit: the upper limit on operations in flight whose completion is reported.
const RECORDS: usize = 256;

/// Upper limit on attempts to open an endpoint whose port is in use. Every process searches a provider's range of ports for a free
/// one in the same order, and listens on it only later. So PEs that start together on a host choose the same port.
const TRIES: usize = 64;

/// A unit. Fields are in drop order: the endpoint closes before the memory that it uses is freed.
#[repr(align(128))]
pub(super) struct Unit {
    pub(super) endpoint: Endpoint,
    pub(super) registered: Option<Registration>,
    pub(super) records: Records,
    pub(super) free: Mutex<Free>,
    pub(super) counter: CompletionCounter,
    pub(super) addressed: Addressed,
    /// Number of polls for completions by threads of the program, which shows the progress thread that they poll. A started
    /// operation counts as a poll.
    pub(super) looks: AtomicU64,
}

impl Unit {
    /// Opens a unit. If `wakes`, threads can sleep on its queue, provided that the provider allows it.
    pub(super) fn open(domain: &Domain, wakes: bool) -> Result<Self, OfiError> {
        let own = 2 * RECORDS + buffers::COMPLETIONS + lent_buffers::COMPLETIONS;
        let entries = domain.demands.queue.saturating_add(own);
        let open = |wakes| Endpoint::open(&domain.addresses, entries, wakes);
        let (mut endpoint, mut wakes) = (open(wakes), wakes);
        for _ in 1..TRIES {
            match &endpoint {
                Err(refused) if refused.code == FI_EADDRINUSE.cast_signed() => {}
                // Threads cannot sleep on queues of this provider, so the next attempt does not ask for that.
                Err(Refused { call: "fi_cq_open" | "fi_control", .. }) if wakes => wakes = false,
                _ => break,
            }
            endpoint = open(wakes);
        }
        let endpoint = endpoint.map_err(|refused| domain.refused(refused))?;
        let records = Records::new(RECORDS)?;
        // SAFETY: the records are dropped after the registration.
        let registered = unsafe { domain.register_local(records.memory()) }?;
        let free = Mutex::new(Free::new(RECORDS));
        let (counter, addressed, looks) =
            (CompletionCounter::default(), Addressed::default(), AtomicU64::new(0));
        Ok(Self { endpoint, registered, records, free, counter, addressed, looks })
    }

    /// Counts a poll of the program. Not a read-modify-write, because a lost count does not matter.
    #[inline(always)]
    pub(super) fn looked(&self) {
        self.looks.store(self.looks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Locks the unit. Every operation is started under this lock.
    pub(super) fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock()
    }
}

/// Number of failed polls after which a waiter stops other threads from starting operations.
const LOOKS: u32 = 64;

/// The number of started operations, and of those that are known to be complete.
#[derive(Debug, Default)]
pub(super) struct CompletionCounter {
    started: AtomicU64,
    /// Number of operations that were started when all were last known to be complete.
    settled: AtomicU64,
    /// Number of waiting threads that stop others from starting operations.
    closed: AtomicU32,
}

impl CompletionCounter {
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.closed.load(Ordering::Relaxed) == 0
    }

    /// Counts an operation before it starts, because it may be complete at once. Called under the lock of the unit.
    #[inline(always)]
    pub(super) fn begin(&self) {
        self.started.store(self.started.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Takes back an operation that was not started. Called under the lock of the unit.
    #[inline(always)]
    pub(super) fn undo(&self) {
        self.started.store(self.started.load(Ordering::Relaxed) - 1, Ordering::Release);
    }

    /// The number of started operations. It includes every operation that the provider's counter showed as complete before this
    /// call.
    #[inline(always)]
    pub(super) fn started(&self) -> u64 {
        fence(Ordering::Acquire);
        self.started.load(Ordering::Acquire)
    }

    /// Whether all operations are complete. `completed` must have been read from the provider's counter before.
    #[inline(always)]
    pub(super) fn is_complete(&self, completed: u64) -> bool {
        let started = self.started();
        if completed < started {
            return false;
        }
        self.settled.fetch_max(started, Ordering::Release);
        true
    }

    /// Upper bound on the operations in flight. `completed` must have been read from the provider's counter before.
    pub(super) fn in_flight(&self, completed: u64) -> u64 {
        self.started().saturating_sub(completed)
    }

    /// Whether the first `operations` operations are known to be complete, without a look at the provider's counter.
    #[inline(always)]
    pub(super) fn is_settled(&self, operations: u64) -> bool {
        self.settled.load(Ordering::Acquire) >= operations
    }

    #[inline(always)]
    pub(super) fn wait(&self) -> Waiting<'_> {
        Waiting { counter: self, looks: 0 }
    }
}

pub(super) struct Waiting<'t> {
    counter: &'t CompletionCounter,
    looks: u32,
}

impl Waiting<'_> {
    /// Counts a failed poll. After `LOOKS` failed polls, no thread starts an operation until this value is dropped.
    #[inline(always)]
    pub(super) fn looked(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks == LOOKS {
            self.counter.closed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Waiting<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.looks >= LOOKS {
            self.counter.closed.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Upper limit on the PEs that [`Addressed`] lists.
const MOST: usize = 8;

/// The PEs that were addressed since all operations were last complete. A wait for any other PE returns at once, and reports of
/// failures name these PEs.
#[derive(Debug, Default)]
pub(super) struct Addressed {
    pes: [AtomicU32; MOST],
    /// Number of listed PEs; `MOST + 1` if some PEs are not listed.
    count: AtomicUsize,
}

impl Addressed {
    /// Adds the PE of an operation that is about to be started. Called under the lock of the unit.
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

    /// Empties the list, because all operations are complete. Called under the lock of the unit.
    #[inline(always)]
    pub(super) fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
    }

    /// Whether an operation with a PE may be in flight.
    pub(super) fn may_have(&self, pe: usize) -> bool {
        let (mut known, others) = self.list();
        others || known.any(|known| known == pe)
    }

    /// The listed PEs, and whether other PEs were addressed, too.
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
    fn later_operations_that_are_complete_do_not_stand_for_earlier_ones() {
        let counter = CompletionCounter::default();
        counter.begin();
        let before = counter.started();
        counter.begin();
        // The second is complete, the first is not.
        let completed = 1;
        assert!(completed >= before, "a number read before would say that all is over");
        assert!(!counter.is_complete(completed) && !counter.is_settled(1), "nobody knows which is complete");
        assert!(counter.is_complete(2));
        counter.begin();
        assert!(counter.is_settled(2) && !counter.is_settled(3), "what was complete once needs no look");
        counter.undo();
        assert!(counter.is_complete(2), "what was not started is not waited for");
    }

    #[test]
    fn who_waits_for_long_keeps_others_from_starting() {
        let counter = CompletionCounter::default();
        let (mut one, mut other) = (counter.wait(), counter.wait());
        (1..LOOKS).for_each(|_| one.looked());
        assert!(counter.is_open());
        one.looked();
        assert!(!counter.is_open());
        (0..2 * LOOKS).for_each(|_| other.looked());
        drop(one);
        assert!(!counter.is_open());
        drop(other);
        assert!(counter.is_open());
    }
}
