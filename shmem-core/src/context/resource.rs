//! What gives out endpoints.
//!
//! A resource has units, of which a node may have few. Which unit an endpoint is to lie on is decided by
//! the [mapping](super::mapping), whose [`Grant`] is all that the resource is told; endpoints of one unit
//! share what it consists of, behind a lock where the grant says so.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::mapping::{Grant, Tracking};
use crate::endpoint::{Endpoint, Far, Waiting};
use crate::observe::Observer;
use crate::pe::Pe;
use crate::segment::Segments;
use crate::transport::{Channel, Transport};

/// A source of endpoints: a node's network interface, or shared memory.
pub trait Resource: Send + Sync {
    /// What units are called, in the plural.
    fn name(&self) -> &'static str;

    /// How many units this node has; `None`: as many as anybody likes.
    fn units(&self) -> Option<usize>;

    /// Gives an endpoint on a unit, which the first one makes.
    fn open(&self, grant: Grant) -> Endpoint;

    /// Takes back an endpoint of a unit, which the last one ends. It has been quieted.
    fn close(&self, endpoint: Endpoint, grant: Grant);

    /// Waits until all that any endpoint has started is visible to every PE, endpoints included
    /// that nobody can reach any more. From any thread, whatever others do.
    fn quiet_all(&self);
}

/// Endpoints that cost nothing: stores in shared memory, and channels on the transport to other nodes, if
/// there are any. No lock stands on the way of a store, whatever the grant says; the transport has its own.
pub struct Endpoints {
    base: *mut u8,
    stride: usize,
    mine: *mut u8,
    me: Pe,
    transport: Option<Arc<dyn Transport>>,
    segments: Arc<Segments>,
    waiting: Arc<Waiting>,
    /// Endpoints given out so far.
    opened: AtomicU32,
    channels: Mutex<Channels>,
    observer: Option<Arc<dyn Observer>>,
}

/// The channels in use, those of forgotten endpoints included.
#[derive(Default)]
struct Channels {
    /// How many endpoints are on each.
    used: BTreeMap<u32, usize>,
    /// The one that all endpoints of a unit are counted on.
    of_unit: BTreeMap<u32, u32>,
}

impl Channels {
    /// The channel for an endpoint: where operations are only counted, those of a unit have one together.
    fn open(&mut self, grant: Grant, number: u32) -> Channel {
        let channel = match grant.tracking {
            Tracking::Counter => *self.of_unit.entry(grant.unit).or_insert(number),
            Tracking::Events | Tracking::Hybrid => number,
        };
        *self.used.entry(channel).or_insert(0) += 1;
        Channel(channel)
    }

    fn close(&mut self, Channel(channel): Channel) {
        let used = self.used.entry(channel).and_modify(|used| *used -= 1);
        if *used.or_insert(0) == 0 {
            self.used.remove(&channel);
            self.of_unit.retain(|_, of_unit| *of_unit != channel);
        }
    }
}

// SAFETY: the pointers are addresses only; see `Endpoint`.
unsafe impl Send for Endpoints {}
// SAFETY: as above.
unsafe impl Sync for Endpoints {}

impl Endpoints {
    /// # Safety
    ///
    /// As [`Endpoint::new`]; `transport` must be given if any PE has no slot, and reach it.
    pub unsafe fn new(
        base: *mut u8,
        stride: usize,
        mine: *mut u8,
        me: Pe,
        transport: Option<Arc<dyn Transport>>,
        segments: Arc<Segments>,
        waiting: Arc<Waiting>,
    ) -> Self {
        let (opened, channels) = (AtomicU32::new(0), Mutex::default());
        Self { base, stride, mine, me, transport, segments, waiting, opened, channels, observer: None }
    }

    /// Endpoints whose operations `observer` is told of. The job's PEs must be marked
    /// ([`Pe::observed`]), or it is told of few.
    #[must_use]
    pub fn observed_by(self, observer: Option<Arc<dyn Observer>>) -> Self {
        Self { observer, ..self }
    }

    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resource for Endpoints {
    fn name(&self) -> &'static str {
        "endpoints"
    }

    fn units(&self) -> Option<usize> {
        None
    }

    fn open(&self, grant: Grant) -> Endpoint {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let far = self.transport.as_ref().map(|transport| Far {
            transport: Arc::clone(transport),
            channel: self.channels().open(grant, number),
        });
        let (segments, waiting) = (Arc::clone(&self.segments), Arc::clone(&self.waiting));
        // SAFETY: the promise of `new`.
        let endpoint =
            unsafe { Endpoint::new(self.base, self.stride, self.mine, self.me, far, segments, waiting) };
        endpoint.named(number, self.observer.clone())
    }

    fn close(&self, endpoint: Endpoint, _: Grant) {
        if let Some(far) = endpoint.far_if_any() {
            self.channels().close(far.channel);
        }
    }

    #[inline]
    fn quiet_all(&self) {
        fence(Ordering::SeqCst);
        if let Some(transport) = &self.transport {
            // Not behind the lock: a quiet takes its time.
            let channels: Vec<_> = self.channels().used.keys().copied().collect();
            for channel in channels {
                transport.quiet(Channel(channel));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(unit: u32, tracking: Tracking) -> Grant {
        Grant { unit, locked: true, tracking }
    }

    #[test]
    fn what_is_only_counted_is_counted_by_the_unit() {
        let mut channels = Channels::default();
        let mut open = |number, unit, tracking| channels.open(grant(unit, tracking), number).0;
        assert_eq!([(0, 5), (1, 5), (2, 6)].map(|(n, unit)| open(n, unit, Tracking::Counter)), [0, 0, 2]);
        assert_eq!([(3, 5), (4, 5)].map(|(n, unit)| open(n, unit, Tracking::Events)), [3, 4]);
        assert_eq!(open(5, 5, Tracking::Hybrid), 5);
    }

    #[test]
    fn a_channel_is_quieted_until_its_last_endpoint_is_gone() {
        let mut channels = Channels::default();
        let first = channels.open(grant(0, Tracking::Counter), 0);
        let second = channels.open(grant(0, Tracking::Counter), 1);
        channels.close(first);
        assert!(channels.used.contains_key(&0));
        channels.close(second);
        assert!(channels.used.is_empty() && channels.of_unit.is_empty());
        assert_eq!(channels.open(grant(0, Tracking::Counter), 2), Channel(2), "the unit begins anew");
    }
}
