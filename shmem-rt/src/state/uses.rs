//! What there is of a team on one PE: its handle, contexts made of it, objects allocated by it, collectives that it has
//! started.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock, Weak};

use shmem_core::exclusion::Mutex;
use shmem_core::heap::Released;
use shmem_core::object::Extent;

use crate::error::TeamError;
use crate::members::Members;

/// How a team will be used. All members give the same.
///
/// Source: OpenSHMEM 1.6, `shmem_team_config_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TeamConfig {
    /// Most contexts of the team that each member will have at the same time.
    pub contexts: usize,
}

impl TeamConfig {
    /// A team of which each member will have at most so many contexts at the same time.
    #[must_use]
    pub const fn with_contexts(contexts: usize) -> Self {
        Self { contexts }
    }
}

/// What there is of a team on this PE. A team's index is free again when all members have nothing of it.
#[derive(Debug)]
pub(crate) struct Uses {
    pub(crate) config: TeamConfig,
    pub(crate) members: Arc<Members>,
    handle: AtomicBool,
    /// The call of the thread that is in a collective, or null.
    entered: AtomicPtr<Location<'static>>,
    /// Which thread that is, written by itself; 0 if there is none, or it has not said so yet.
    thread: AtomicUsize,
    contexts: AtomicUsize,
    /// A bit for each place of a collective that goes on beside the program: whether it is taken.
    requests: AtomicUsize,
    /// Numbers of objects whose handles this PE has dropped.
    pub(crate) released: Arc<Released>,
    objects: Mutex<Objects>,
    /// Range of the window in each member's slot. Not set: the members have not allocated it yet. `None`: there was no room.
    window: OnceLock<Option<Range<usize>>>,
    /// A team that was found to contain it, the last one.
    within: Mutex<Weak<Self>>,
}

/// The objects of a team, numbered alike on all members.
#[derive(Debug, Default)]
struct Objects {
    next: u64,
    /// Where each lies, by its number.
    ranges: BTreeMap<u64, Range<usize>>,
    /// Those whose handle is gone here.
    dropped: BTreeSet<u64>,
}

impl Uses {
    /// Those of a team of these members that has just been made: its handle.
    pub(crate) fn new(config: TeamConfig, members: Arc<Members>) -> Arc<Self> {
        Arc::new(Self {
            config,
            members,
            handle: AtomicBool::new(true),
            entered: AtomicPtr::default(),
            thread: AtomicUsize::new(0),
            contexts: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            released: Arc::default(),
            objects: Mutex::default(),
            window: OnceLock::new(),
            within: Mutex::default(),
        })
    }

    #[inline]
    pub(crate) fn has_member(&self, pe: usize) -> bool {
        self.members.rank_of(pe).is_some()
    }

    /// A thread comes to a collective by a call.
    ///
    /// # Errors
    ///
    /// Where a thread that is in one has called it, and whether that is this one.
    #[inline]
    pub(crate) fn enter(
        &self,
        call: &'static Location<'static>,
    ) -> Result<(), (&'static Location<'static>, bool)> {
        let (null, call) = (core::ptr::null_mut(), core::ptr::from_ref(call).cast_mut());
        match self.entered.compare_exchange(null, call, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => {
                self.thread.store(this_thread(), Ordering::Relaxed);
                Ok(())
            }
            // Every thread writes its own number or 0, and 0 when it leaves: who reads its own is still in.
            // SAFETY: not null, and nothing but references that live for ever is stored there.
            Err(there) => Err((unsafe { &*there }, self.thread.load(Ordering::Relaxed) == this_thread())),
        }
    }

    #[inline]
    pub(crate) fn leave(&self) {
        self.thread.store(0, Ordering::Relaxed);
        self.entered.store(core::ptr::null_mut(), Ordering::Release);
    }

    pub(crate) fn is_entered(&self) -> bool {
        !self.entered.load(Ordering::Relaxed).is_null()
    }

    pub(crate) fn drop_handle(&self) {
        self.handle.store(false, Ordering::Release);
    }

    pub(crate) fn is_dropped(&self) -> bool {
        let is_used = self.contexts() > 0 || !self.has_landed() || self.objects() > 0;
        !self.handle.load(Ordering::Acquire) && !is_used
    }

    pub(crate) fn contexts(&self) -> usize {
        self.contexts.load(Ordering::Acquire)
    }

    /// Whether no collective goes on beside the program at one of the places that there are for them.
    pub(crate) fn is_free(&self, place: usize) -> bool {
        self.requests.load(Ordering::Acquire) >> place & 1 == 0
    }

    pub(crate) fn has_landed(&self) -> bool {
        self.requests.load(Ordering::Acquire) == 0
    }

    /// Takes the place of a collective that goes on beside the program, for as long as the result lives.
    pub(crate) fn claim_request(self: &Arc<Self>, place: usize) -> RequestClaim {
        let before = self.requests.fetch_or(1 << place, Ordering::AcqRel);
        assert!(before >> place & 1 == 0, "place {place} is taken");
        RequestClaim { uses: Arc::clone(self), place }
    }

    pub(crate) fn objects(&self) -> usize {
        let objects = self.lock();
        objects.ranges.len() - objects.dropped.len()
    }

    /// Counts a context, for as long as the result lives.
    #[allow(deprecated, reason = "its new name is younger than the oldest Rust that is promised")]
    pub(crate) fn claim_context(self: &Arc<Self>) -> Result<ContextClaim, TeamError> {
        let limit = self.config.contexts;
        self.contexts
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| (used < limit).then_some(used + 1))
            .map_err(|_| TeamError::Contexts { limit })?;
        Ok(ContextClaim(Arc::clone(self)))
    }

    /// Enters an object that all members have come to, and gives its number.
    pub(crate) fn insert_object(&self, range: Range<usize>) -> u64 {
        let mut objects = self.lock();
        let id = objects.next;
        objects.next += 1;
        objects.ranges.insert(id, range);
        id
    }

    /// Keeps what all members have taken for their windows, as long as there is anything of the team.
    pub(crate) fn keep_window(&self, range: Option<Range<usize>>) {
        let kept = self.window.set(range);
        assert!(kept.is_ok(), "members take windows once");
    }

    /// What all members have taken for their windows, once they have looked for room.
    pub(crate) fn window(&self) -> Option<&Option<Range<usize>>> {
        self.window.get()
    }

    pub(crate) fn has_object_at(&self, Extent { offset, bytes }: Extent) -> bool {
        let is_inside = |range: &Range<usize>| range.start <= offset && offset + bytes <= range.end;
        self.lock().ranges.values().any(is_inside)
    }

    pub(crate) fn contain(self: &Arc<Self>, other: &Self) -> bool {
        let mut within = other.within.lock();
        // Nobody else has its address: a team that is gone is there as long as it is named.
        let is_known = core::ptr::eq(within.as_ptr(), Arc::as_ptr(self));
        if !is_known && other.members.iter().all(|pe| self.has_member(pe.number())) {
            *within = Arc::downgrade(self);
            return true;
        }
        is_known
    }

    /// A bit for each object, in the order of their numbers: whether its handle is gone here.
    pub(crate) fn dropped_objects(&self) -> Vec<u64> {
        let objects = self.lock();
        let mut words = vec![0; objects.ranges.len().div_ceil(64)];
        for (k, id) in objects.ranges.keys().enumerate() {
            words[k / 64] |= u64::from(objects.dropped.contains(id)) << (k % 64);
        }
        words
    }

    /// Takes out the objects whose bits are set, because no member has them any more; gives where they lay.
    pub(crate) fn take_objects(&self, gone: &[u64]) -> Vec<Range<usize>> {
        let mut objects = self.lock();
        let marked = objects.ranges.keys().copied().enumerate();
        let gone: Vec<u64> =
            marked.filter(|(k, _)| gone[k / 64] >> (k % 64) & 1 == 1).map(|(_, id)| id).collect();
        gone.iter()
            .filter_map(|id| {
                objects.dropped.remove(id);
                objects.ranges.remove(id)
            })
            .collect()
    }

    /// The objects, with what has been dropped since the last look.
    fn lock(&self) -> MutexGuard<'_, Objects> {
        let mut objects = self.objects.lock();
        objects.dropped.extend(self.released.take());
        objects
    }
}

/// A number that no other thread of the process has while this one lives.
fn this_thread() -> usize {
    thread_local!(static PLACE: Cell<u8> = const { Cell::new(0) });
    PLACE.with(|place| core::ptr::from_ref(place).addr())
}

/// One context of a team: counted until it is dropped.
#[derive(Debug)]
pub(crate) struct ContextClaim(Arc<Uses>);

impl ContextClaim {
    pub(crate) fn members(&self) -> &Arc<Members> {
        &self.0.members
    }
}

impl Drop for ContextClaim {
    fn drop(&mut self) {
        self.0.contexts.fetch_sub(1, Ordering::Release);
    }
}

/// The place of a collective of a team that goes on beside the program: taken until it is over.
#[derive(Debug)]
pub(crate) struct RequestClaim {
    uses: Arc<Uses>,
    place: usize,
}

impl Drop for RequestClaim {
    fn drop(&mut self) {
        self.uses.requests.fetch_and(!(1 << self.place), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_is_dropped_with_the_last_that_is_left_of_it() {
        let uses = Uses::new(TeamConfig::with_contexts(1), Members::of_one_node(1, [0]));
        let claim = uses.claim_context().unwrap();
        assert_eq!(uses.claim_context().unwrap_err(), TeamError::Contexts { limit: 1 });
        let object = uses.insert_object(64..128);
        uses.drop_handle();
        assert!(!uses.is_dropped());
        drop(claim);
        assert!(!uses.is_dropped());
        let (request, other) = (uses.claim_request(0), uses.claim_request(3));
        drop(other);
        assert!(!uses.is_free(0) && uses.is_free(3));
        uses.released.push(object);
        assert!(!uses.is_dropped());
        drop(request);
        assert!(uses.is_dropped());
    }

    #[test]
    fn objects_are_taken_out_by_what_all_have_dropped() {
        let uses = Uses::new(TeamConfig::default(), Members::of_one_node(1, [0]));
        let ids: Vec<u64> = (0..70).map(|k| uses.insert_object(k * 64..k * 64 + 1)).collect();
        uses.released.push(ids[3]);
        uses.released.push(ids[69]);
        assert_eq!(uses.dropped_objects(), [1 << 3, 1 << 5]);
        // Another member has 3 still.
        let freed = uses.take_objects(&[0, 1 << 5]);
        assert_eq!((freed.len(), freed[0].clone()), (1, 69 * 64..69 * 64 + 1));
        assert_eq!((uses.objects(), uses.dropped_objects()), (68, vec![1 << 3, 0]));
    }
}
