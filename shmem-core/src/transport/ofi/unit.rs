//! A unit: an endpoint, its completion queue and its counter.
//!
//! Every operation asks for delivery to be complete before it counts (`FI_DELIVERY_COMPLETE`): otherwise a
//! provider may count what still lies in a buffer of its own. Operations are counted; those that keep a record
//! are reported as well.
//!
//! A unit has a lock. Where one thread uses it, only the progress thread ever meets that thread there: the lock costs two
//! instructions. In return any thread may wait for what another has started.
//!
//! **The counter** says how many operations are complete, not which. Where several threads use a unit, later operations
//! may be complete before earlier ones. So everything is complete only at a moment at which both numbers are equal: the completed
//! ones are read first. Threads that go on starting could put that moment off for ever; who has waited for some time keeps them from
//! it. The last such moment is kept: what was started before it needs no further look.
//!
//! Nor does it say whose they are. So a unit keeps a short list of the PEs that were **addressed** since everything was complete for
//! the last time: who waits for another PE need not wait at all, and a failure names those it may be of. The list is changed behind
//! the lock of the unit, and read anywhere.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::MutexGuard;

use super::domain::Domain;
use super::error::OfiError;
use super::record::{Free, Records};
use super::{buffers, landing};
use crate::exclusion::Mutex;
use crate::libfabric::bindings::FI_EADDRINUSE;
use crate::libfabric::{Endpoint, Registration, Reports};

/// Records of a unit: most operations under way whose completion is reported.
const RECORDS: usize = 256;

/// How often an endpoint is opened whose port was taken. Providers that choose from a range look which is free before they
/// listen at it, and every process in the same order: PEs that start together on a host choose the same.
const TRIES: usize = 64;

/// A unit. Fields are closed in order.
#[repr(align(128))]
pub(super) struct Unit {
    pub(super) endpoint: Endpoint,
    pub(super) registered: Option<Registration>,
    pub(super) records: Records,
    pub(super) free: Mutex<Free>,
    pub(super) counter: CompletionCounter,
    pub(super) addressed: Addressed,
    /// Looks of the program's own threads at what has come: it changes while one of them polls.
    pub(super) looks: AtomicU64,
}

impl Unit {
    /// Opens an endpoint. `wakes`: whether a thread is to sleep on its queue.
    pub(super) fn open(domain: &Domain, wakes: bool) -> Result<Self, OfiError> {
        let own = 2 * RECORDS + buffers::COMPLETIONS + landing::COMPLETIONS;
        let entries = domain.demands.queue.saturating_add(own);
        let open = || Endpoint::open(&domain.addresses, entries, wakes, Reports::Asked);
        let mut endpoint = open();
        for _ in 1..TRIES {
            match &endpoint {
                Err(refused) if refused.code == FI_EADDRINUSE.cast_signed() => endpoint = open(),
                _ => break,
            }
        }
        let endpoint = endpoint.map_err(|refused| domain.refused(refused))?;
        let records = Records::new(RECORDS)?;
        // SAFETY: the records are dropped after it.
        let registered = unsafe { domain.register_local(records.memory()) }?;
        let free = Mutex::new(Free::new(RECORDS));
        let (counter, addressed, looks) =
            (CompletionCounter::default(), Addressed::default(), AtomicU64::new(0));
        Ok(Self { endpoint, registered, records, free, counter, addressed, looks })
    }

    /// Not a read-modify-write: a look that is lost among others does not matter.
    #[inline(always)]
    pub(super) fn looked(&self) {
        self.looks.store(self.looks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Calls the provider while nobody else does.
    pub(super) fn exclusively<R>(&self, call: impl FnOnce() -> R) -> R {
        let _held = self.lock();
        call()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock()
    }
}

/// How many times a waiter looks in vain before it keeps other threads from starting operations.
const LOOKS: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct CompletionCounter {
    started: AtomicU64,
    /// So many operations were started, and all complete, at the last moment that anybody has found.
    settled: AtomicU64,
    /// Threads that wait for the others to start nothing.
    closed: AtomicU32,
}

impl CompletionCounter {
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
    /// To be called for each look that was in vain: after some, nobody starts anything until this value is
    /// dropped.
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
