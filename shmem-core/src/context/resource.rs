//! What gives out endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};

use crate::endpoint::{Endpoint, Far, Waiting};
use crate::observe::Observer;
use crate::pe::Pe;
use crate::segment::Segments;
use crate::transport::{Channel, Transport};

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

    /// Waits until all that any endpoint has started is visible to every PE, endpoints included
    /// that nobody can reach any more.
    fn quiet_all(&self);
}

/// Endpoints that cost nothing: stores in shared memory, and a channel each on the transport to
/// other nodes, if there are any. A limit can be set all the same.
pub struct Endpoints {
    base: *mut u8,
    stride: usize,
    mine: *mut u8,
    me: Pe,
    transport: Option<Arc<dyn Transport>>,
    segments: Arc<Segments>,
    waiting: Arc<Waiting>,
    limit: Option<usize>,
    used: AtomicUsize,
    /// Endpoints given out so far. The number of each is also that of its channel: each has its own, so
    /// that a forgotten one can still be quieted.
    opened: AtomicU32,
    observer: Option<Arc<dyn Observer>>,
}

// SAFETY: the pointers are addresses only; see `Endpoint`.
unsafe impl Send for Endpoints {}
// SAFETY: as above.
unsafe impl Sync for Endpoints {}

impl Endpoints {
    /// # Safety
    ///
    /// As [`Endpoint::new`]; `transport` must be given if any PE has no slot, and reach it.
    #[expect(clippy::too_many_arguments, reason = "the facts of a node, once")]
    pub unsafe fn new(
        base: *mut u8,
        stride: usize,
        mine: *mut u8,
        me: Pe,
        transport: Option<Arc<dyn Transport>>,
        segments: Arc<Segments>,
        waiting: Arc<Waiting>,
        limit: Option<usize>,
    ) -> Self {
        let (used, opened) = (AtomicUsize::new(0), AtomicU32::new(0));
        Self { base, stride, mine, me, transport, segments, waiting, limit, used, opened, observer: None }
    }

    /// Endpoints whose operations `observer` is told of. The job's PEs must be marked
    /// ([`Pe::observed`]), or it is told of few.
    #[must_use]
    pub fn observed_by(self, observer: Option<Arc<dyn Observer>>) -> Self {
        Self { observer, ..self }
    }
}

impl Resource for Endpoints {
    fn name(&self) -> &'static str {
        "endpoints"
    }

    fn limit(&self) -> Option<usize> {
        self.limit
    }

    fn open(&self, _: Options) -> Result<Endpoint, Exhausted> {
        let limit = self.limit.unwrap_or(usize::MAX);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| (used < limit).then_some(used + 1))
            .map_err(|used| Exhausted { resource: self.name(), used, limit })?;
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let far = self
            .transport
            .as_ref()
            .map(|transport| Far { transport: Arc::clone(transport), channel: Channel(number) });
        let (segments, waiting) = (Arc::clone(&self.segments), Arc::clone(&self.waiting));
        // SAFETY: the promise of `new`.
        let endpoint =
            unsafe { Endpoint::new(self.base, self.stride, self.mine, self.me, far, segments, waiting) };
        Ok(endpoint.named(number, self.observer.clone()))
    }

    fn close(&self, _: Endpoint) {
        self.used.fetch_sub(1, Ordering::Relaxed);
    }

    #[inline]
    fn quiet_all(&self) {
        fence(Ordering::SeqCst);
        if let Some(transport) = &self.transport {
            for channel in 0..self.opened.load(Ordering::Relaxed) {
                transport.quiet(Channel(channel));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Patience;

    fn endpoints(limit: Option<usize>) -> Endpoints {
        let segments = Arc::new(Segments::new(1 << 21, 21));
        let waiting = Arc::new(Waiting::new(Patience::for_node(1, 1), None, |_| String::new(), |_| ()));
        let nowhere = core::ptr::null_mut();
        // SAFETY: PE 0 is the only PE of a job that has no memory and issues no operation.
        let me = unsafe { Pe::new(0, 0) };
        // SAFETY: as above.
        unsafe { Endpoints::new(nowhere, 0, nowhere, me, None, segments, waiting, limit) }
    }

    #[test]
    fn a_limit_is_kept_and_said() {
        let resource = endpoints(Some(2));
        let first = resource.open(Options::default()).unwrap();
        let _second = resource.open(Options::default()).unwrap();
        let error = resource.open(Options::default()).map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no context can be created: 2 of 2 endpoints are in use on this PE; destroy one, or raise \
             SHMEM_MAX_RESOURCES"
        );
        resource.close(first);
        assert!(resource.open(Options::default()).is_ok());
    }

    #[test]
    fn without_a_limit_there_is_always_another() {
        let resource = endpoints(None);
        assert!((0..1000).all(|_| resource.open(Options::default()).is_ok()));
    }
}
