//! What gives out endpoints.
//!
//! A resource has units, of which a node may have few. Which unit an endpoint is to lie on is decided by
//! the [mapping](super::mapping), whose [`Assignment`] is all that the resource is told; endpoints of one unit
//! share what it consists of, behind a lock where the assignment says so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use super::mapping::{Assignment, Tracking};
use crate::endpoint::{Endpoint, Far, Waiting};
use crate::exclusion::Mutex;
use crate::observe::Observer;
use crate::pe::Pe;
use crate::segment::Segments;
use crate::transport::{Channel, Lane, Transport};

/// A source of endpoints: a node's network interface, or shared memory.
pub trait Resource: Send + Sync {
    /// What units are called, in the plural.
    fn name(&self) -> &'static str;

    /// How many units this node has; `None`: as many as anybody likes.
    fn units(&self) -> Option<usize>;

    /// Gives an endpoint on a unit, which the first one makes.
    ///
    /// # Errors
    ///
    /// Why there is none, in words: what a unit is made of has run out.
    fn open(&self, assignment: Assignment) -> Result<Endpoint, String>;

    /// Takes back an endpoint of a unit, which the last one ends.
    ///
    /// # Safety
    ///
    /// It was opened here, with this assignment, and has been quieted.
    unsafe fn close(&self, endpoint: Endpoint, assignment: Assignment);

    /// Waits until all that any endpoint has started is visible to every PE, endpoints included
    /// that nobody can reach any more. From any thread, whatever others do.
    fn quiet_all(&self);
}

/// Endpoints that cost nothing: stores in shared memory, and channels on the transport to other nodes, if
/// there are any. No lock stands on the way of a store, whatever the assignment says; the transport has its own.
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
    fn open(
        &mut self,
        assignment: Assignment,
        open: impl FnOnce(Lane) -> Result<Channel, String>,
    ) -> Result<Channel, String> {
        let Assignment { unit, locked, tracking } = assignment;
        let known = self.of_unit.get(&unit).copied().filter(|_| tracking == Tracking::Counter);
        let channel = match known {
            Some(channel) => channel,
            None => open(Lane { unit, shared: locked, tracking, patient: false })?.0,
        };
        if tracking == Tracking::Counter {
            self.of_unit.insert(unit, channel);
        }
        *self.used.entry(channel).or_insert(0) += 1;
        Ok(Channel(channel))
    }

    /// Says whether that was the last endpoint on it.
    fn close(&mut self, Channel(channel): Channel) -> bool {
        let used = self.used.entry(channel).and_modify(|used| *used -= 1);
        let is_last = *used.or_insert(0) == 0;
        if is_last {
            self.used.remove(&channel);
            self.of_unit.retain(|_, of_unit| *of_unit != channel);
        }
        is_last
    }
}

// SAFETY: the pointers are addresses only; see `Endpoint`.
unsafe impl Send for Endpoints {}
// SAFETY: the pointers are addresses only; see `Endpoint`.
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
}

impl Resource for Endpoints {
    fn name(&self) -> &'static str {
        "endpoints"
    }

    fn units(&self) -> Option<usize> {
        self.transport.as_ref()?.units()
    }

    fn open(&self, assignment: Assignment) -> Result<Endpoint, String> {
        let far = match &self.transport {
            Some(transport) => {
                let channel = self.channels.lock().open(assignment, |lane| transport.open(lane))?;
                Some(Far { transport: Arc::clone(transport), channel })
            }
            None => None,
        };
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let (segments, waiting) = (Arc::clone(&self.segments), Arc::clone(&self.waiting));
        // SAFETY: the promise of `new`.
        let endpoint =
            unsafe { Endpoint::new(self.base, self.stride, self.mine, self.me, far, segments, waiting) };
        Ok(endpoint.named(number, self.observer.clone()))
    }

    unsafe fn close(&self, endpoint: Endpoint, _: Assignment) {
        if let Some(far) = endpoint.far_if_any()
            && self.channels.lock().close(far.channel)
        {
            // SAFETY: that was the last endpoint on the channel, and it has been quieted (caller).
            unsafe { far.transport.close(far.channel) };
        }
    }

    #[inline]
    fn quiet_all(&self) {
        fence(Ordering::SeqCst);
        if let Some(transport) = &self.transport {
            // Not behind the lock: a quiet takes its time.
            let channels: Vec<_> = self.channels.lock().used.keys().copied().collect();
            for channel in channels {
                transport.quiet(Channel(channel));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(unit: u32, tracking: Tracking) -> Assignment {
        Assignment { unit, locked: true, tracking }
    }

    #[test]
    fn what_is_only_counted_is_counted_by_the_unit_until_its_last_endpoint_is_gone() {
        let (mut channels, mut next) = (Channels::default(), 0);
        let refused = channels.open(assignment(5, Tracking::Counter), |_| Err("none is left".to_owned()));
        assert_eq!(refused, Err("none is left".to_owned()));
        let mut open = |channels: &mut Channels, unit, tracking| {
            let channel = channels.open(assignment(unit, tracking), |lane| {
                assert_eq!((lane.unit, lane.tracking), (unit, tracking));
                next += 1;
                Ok(Channel(next - 1))
            });
            channel.unwrap()
        };
        let opened = [5, 5, 6].map(|unit| open(&mut channels, unit, Tracking::Counter));
        assert_eq!(opened, [0, 0, 1].map(Channel));
        assert_eq!([5, 5].map(|unit| open(&mut channels, unit, Tracking::Events)), [2, 3].map(Channel));
        assert_eq!(open(&mut channels, 5, Tracking::Hybrid), Channel(4));
        assert_eq!(opened.map(|channel| channels.close(channel)), [false, true, true]);
        assert!(!channels.used.contains_key(&0) && channels.of_unit.is_empty());
        assert_eq!(open(&mut channels, 5, Tracking::Counter), Channel(5), "the unit begins anew");
    }
}
