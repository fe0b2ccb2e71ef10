//! What gives out endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::endpoint::Endpoint;
use super::wait::Waiting;
use crate::pe::Pe;
use crate::segment::Segments;

/// How an endpoint will be used: what a mapping on scarce resources may exploit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// One thread only.
    pub private: bool,
    /// No stores: puts and updates will not be issued through it (`SHMEM_CTX_NOSTORE`).
    pub no_store: bool,
}

/// No endpoint is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no context can be created: {used} of {limit} {resource} are in use on this PE; destroy one, or raise SHMEM_MAX_RESOURCES"
)]
pub struct Exhausted {
    /// What ran out.
    pub resource: &'static str,
    /// How many are in use.
    pub used: usize,
    /// How many there are.
    pub limit: usize,
}

/// A source of endpoints: a node's network interface, or shared memory.
pub trait Resource: Send + Sync {
    /// What one of them is called, in the plural.
    fn name(&self) -> &'static str;

    /// How many this PE may have; `None`: as many as it likes.
    fn limit(&self) -> Option<usize>;

    /// Gives one out.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when the limit is reached.
    fn open(&self, options: Options) -> Result<Endpoint, Exhausted>;

    /// Takes one back. It has been quieted.
    fn close(&self, endpoint: Endpoint);
}

/// Endpoints on shared memory: they cost nothing. A limit can be set all the same.
pub struct SharedMemory {
    base: *mut u8,
    stride: usize,
    mine: *mut u8,
    me: Pe,
    segments: Arc<Segments>,
    waiting: Arc<Waiting>,
    limit: Option<usize>,
    used: AtomicUsize,
}

// SAFETY: the pointers are addresses only; see `Endpoint`.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// # Safety
    ///
    /// As [`Endpoint::new`], without PEs off the node.
    pub unsafe fn new(
        base: *mut u8,
        stride: usize,
        mine: *mut u8,
        me: Pe,
        segments: Arc<Segments>,
        waiting: Arc<Waiting>,
        limit: Option<usize>,
    ) -> Self {
        Self { base, stride, mine, me, segments, waiting, limit, used: AtomicUsize::new(0) }
    }
}

impl Resource for SharedMemory {
    fn name(&self) -> &'static str {
        "shared-memory endpoints"
    }

    fn limit(&self) -> Option<usize> {
        self.limit
    }

    fn open(&self, _: Options) -> Result<Endpoint, Exhausted> {
        let limit = self.limit.unwrap_or(usize::MAX);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| (used < limit).then_some(used + 1))
            .map_err(|used| Exhausted { resource: self.name(), used, limit })?;
        let (segments, waiting) = (Arc::clone(&self.segments), Arc::clone(&self.waiting));
        // SAFETY: the promise of `new`.
        Ok(unsafe { Endpoint::new(self.base, self.stride, self.mine, self.me, None, segments, waiting) })
    }

    fn close(&self, _: Endpoint) {
        self.used.fetch_sub(1, Ordering::Relaxed);
    }
}
