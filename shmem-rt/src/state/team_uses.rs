//! Records how one PE uses a team: its handle, its contexts, its objects and its started collectives.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock};

use shmem_core::exclusion::Mutex;
use shmem_core::heap::Released;
use shmem_core::object::Extent;

use crate::error::TeamError;
use crate::members::Members;

/// The configuration of a team. It must be equal on all members.
///
/// Source: OpenSHMEM 1.6, `shmem_team_config_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TeamConfig {
    /// Upper limit on the contexts of the team that a member has at the same time.
    pub contexts: usize,
}

impl TeamConfig {
    /// The configuration of a team whose members each have at most `contexts` contexts at the same time.
    #[must_use]
    pub const fn with_contexts(contexts: usize) -> Self {
        Self { contexts }
    }
}

/// The uses of a team on this PE. The team's index is free again when no member uses the team.
#[derive(Debug)]
pub(crate) struct Uses {
    pub(crate) config: TeamConfig,
    pub(crate) members: Arc<Members>,
    handle: AtomicBool,
    /// Source line of the call of the thread that is in a collective of the team, or null.
    entered: AtomicPtr<Location<'static>>,
    /// Number of the thread that is in a collective, written by that thread; 0 before it is written.
    thread: AtomicUsize,
    contexts: AtomicUsize,
    /// A bit for each place in the team's table of started collectives: whether the place is in use.
    requests: AtomicUsize,
    /// Objects of the team whose handles this PE has dropped since the last `lock`.
    pub(crate) released: Arc<Released>,
    objects: Mutex<Objects>,
    /// Range of each member's symmetric memory through which long collectives move data in chunks. Unset: not searched yet; `None`:
    /// no memory.
    window: OnceLock<Option<Range<usize>>>,
}

#[derive(Debug, Default)]
struct Objects {
    next: u64,
    ranges: BTreeMap<u64, Range<usize>>,
    /// IDs of objects whose handles were dropped on this PE.
    dropped: BTreeSet<u64>,
}

impl Uses {
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
        })
    }

    #[inline]
    pub(crate) fn has_member(&self, pe: usize) -> bool {
        self.members.rank_of(pe).is_some()
    }

    /// Records that a thread enters a collective. Fails if one is inside, with its call and whether it is the calling thread.
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
            // A thread that reads its own number is inside: only that thread writes the number, and it writes 0 when it leaves.
            // SAFETY: the pointer is not null, and only references with a static lifetime are stored there.
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

    pub(crate) fn is_free(&self, place: usize) -> bool {
        self.requests.load(Ordering::Acquire) >> place & 1 == 0
    }

    pub(crate) fn has_landed(&self) -> bool {
        self.requests.load(Ordering::Acquire) == 0
    }

    pub(crate) fn claim_request(self: &Arc<Self>, place: usize) -> RequestClaim {
        let before = self.requests.fetch_or(1 << place, Ordering::AcqRel);
        assert!(before >> place & 1 == 0, "place {place} is taken");
        RequestClaim { uses: Arc::clone(self), place }
    }

    pub(crate) fn objects(&self) -> usize {
        let objects = self.lock();
        objects.ranges.len() - objects.dropped.len()
    }

    #[allow(deprecated, reason = "its new name is younger than the oldest Rust that is promised")]
    pub(crate) fn claim_context(self: &Arc<Self>) -> Result<ContextClaim, TeamError> {
        let limit = self.config.contexts;
        self.contexts
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| (used < limit).then_some(used + 1))
            .map_err(|_| TeamError::Contexts { limit })?;
        Ok(ContextClaim(Arc::clone(self)))
    }

    /// Records an object that all members have allocated, and returns its ID.
    pub(crate) fn insert_object(&self, range: Range<usize>) -> u64 {
        let mut objects = self.lock();
        let id = objects.next;
        objects.next += 1;
        objects.ranges.insert(id, range);
        id
    }

    pub(crate) fn keep_window(&self, range: Option<Range<usize>>) {
        let kept = self.window.set(range);
        assert!(kept.is_ok(), "members take windows once");
    }

    /// Returns the range through which long collectives move data in chunks: `None` before the members have searched for free
    /// memory, `Some(None)` if there was none.
    pub(crate) fn window(&self) -> Option<&Option<Range<usize>>> {
        self.window.get()
    }

    pub(crate) fn has_object_at(&self, Extent { offset, bytes }: Extent) -> bool {
        let is_inside = |range: &Range<usize>| range.start <= offset && offset + bytes <= range.end;
        self.lock().ranges.values().any(is_inside)
    }

    /// Returns whether every member of `other` is a member of this team.
    pub(crate) fn contain(&self, other: &Self) -> bool {
        other.members.iter().all(|pe| self.has_member(pe.number()))
    }

    /// Returns a bit for each object, in the order of their IDs: whether the object's handle was dropped on this PE.
    pub(crate) fn dropped_objects(&self) -> Vec<u64> {
        let objects = self.lock();
        let mut words = vec![0; objects.ranges.len().div_ceil(64)];
        for (k, id) in objects.ranges.keys().enumerate() {
            words[k / 64] |= u64::from(objects.dropped.contains(id)) << (k % 64);
        }
        words
    }

    /// Removes the objects whose bits in `gone` are set, because all members have dropped their handles. Returns their ranges.
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

    /// Locks the objects, and records which handles were dropped since the last call.
    fn lock(&self) -> MutexGuard<'_, Objects> {
        let mut objects = self.objects.lock();
        objects.dropped.extend(self.released.take());
        objects
    }
}

fn this_thread() -> usize {
    thread_local!(static PLACE: Cell<u8> = const { Cell::new(0) });
    PLACE.with(|place| core::ptr::from_ref(place).addr())
}

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
