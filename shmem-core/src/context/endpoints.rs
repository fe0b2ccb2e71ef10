//! Opens endpoints on units of the transport. A unit is a hardware queue that issues operations and reports their completion.
//!
//! The [mapping](super::mapping) decides on which unit an endpoint is opened. Endpoints of the same unit share its queues and
//! counters. A lock protects these if the [`Assignment`] says so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use super::mapping::{Assignment, Tracking};
use crate::endpoint::{Endpoint, RemotePath};
use crate::exclusion::Mutex;
use crate::transport::{Channel, ChannelOptions, Transport};

/// Opens and closes the endpoints of a PE. An endpoint has access to shared memory, and a channel on the transport if the job has
/// other nodes. Accesses to shared memory take no lock, whatever the [`Assignment`] says: only units of the transport have locks.
pub struct Endpoints {
    /// What all endpoints have in common. Issues no operations itself.
    template: Endpoint,
    transport: Option<Arc<dyn Transport>>,
    opened: AtomicU32,
    channels: Mutex<Channels>,
}

/// The transport's channels in use, each a stream of operations on a unit. They include the channels of endpoints that were
/// forgotten (`mem::forget`).
#[derive(Default)]
struct Channels {
    /// Number of endpoints on each channel.
    used: BTreeMap<u32, usize>,
    /// The channel of each unit whose operations are tracked by a counter.
    of_unit: BTreeMap<u32, u32>,
}

impl Channels {
    /// Returns an endpoint's channel. Endpoints of a unit whose operations are tracked by a counter share one channel.
    fn open(
        &mut self,
        assignment: Assignment,
        open: impl FnOnce(ChannelOptions) -> Result<Channel, String>,
    ) -> Result<Channel, String> {
        let Assignment { unit, tracking, .. } = assignment;
        let known = self.of_unit.get(&unit).copied().filter(|_| tracking == Tracking::Counter);
        let channel = match known {
            Some(channel) => channel,
            None => open(ChannelOptions { unit, tracking, patient: false })?.0,
        };
        if tracking == Tracking::Counter {
            self.of_unit.insert(unit, channel);
        }
        *self.used.entry(channel).or_insert(0) += 1;
        Ok(Channel(channel))
    }

    /// Removes an endpoint from its channel. Returns whether the endpoint was the channel's last.
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

impl Endpoints {
    /// Makes the endpoints of a PE. Each is a copy of `template`, which has no route to other nodes, plus a channel on `transport`.
    ///
    /// # Safety
    ///
    /// `transport`, if it is `Some`, must reach all PEs that have no slot in this node's shared memory.
    pub unsafe fn new(template: Endpoint, transport: Option<Arc<dyn Transport>>) -> Self {
        Self { template, transport, opened: AtomicU32::new(0), channels: Mutex::default() }
    }

    /// Number of units that this node has, or `None` if the number is not limited.
    pub fn units(&self) -> Option<usize> {
        self.transport.as_ref()?.units()
    }

    /// Opens an endpoint on a unit. The first endpoint of a unit creates the unit.
    ///
    /// # Errors
    ///
    /// A text that says why, if the transport has no resources for another unit.
    pub fn open(&self, assignment: Assignment) -> Result<Endpoint, String> {
        let far = match &self.transport {
            Some(transport) => {
                let channel = self.channels.lock().open(assignment, |lane| transport.open(lane))?;
                Some(RemotePath { transport: Arc::clone(transport), channel })
            }
            None => None,
        };
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the transport reaches all PEs that have no slot (caller of `new`).
        Ok(unsafe { self.template.with_far(number, far) })
    }

    /// Closes an endpoint. If it is the last endpoint of its channel, closes the channel.
    ///
    /// # Safety
    ///
    /// The endpoint must have been opened by `self`, and must be quiet.
    pub unsafe fn close(&self, endpoint: Endpoint) {
        if let Some(far) = endpoint.far_if_any()
            && self.channels.lock().close(far.channel)
        {
            // SAFETY: the endpoint was the last one of its channel, and is quiet (caller).
            unsafe { far.transport.close(far.channel) };
        }
    }

    /// Blocks until all operations of all endpoints, also of forgotten ones, are visible to every PE. Any thread may call this.
    #[inline]
    pub fn quiet_all(&self) {
        fence(Ordering::SeqCst);
        if let Some(transport) = &self.transport {
            // The lock is released before the quiets, because they may take long.
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
