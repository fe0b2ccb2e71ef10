//! Streams: the completion state of each channel, by its number.
//!
//! Operations that are counted are a number of their endpoint's; events and messages under way are counted by the stream.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::sparse::Sparse;
use crate::exclusion::Mutex;
use crate::transport::{Channel, Lane, Tracking};

/// Most streams that are open at a time.
pub(super) const STREAMS: usize = 4096;

pub(super) struct Streams {
    streams: Sparse<Stream>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Numbers that were used and are free again.
    free: Vec<u32>,
    /// Numbers that were never used start here.
    fresh: u32,
}

/// A stream, on lines of its own: streams of different threads share none.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Stream {
    unit: AtomicU32,
    tracking: AtomicU32,
    patient: AtomicBool,
    events: AtomicU64,
    /// How many operations its unit had started when the last one of the stream was that is counted.
    counted: AtomicU64,
    /// Messages under way that are answered by each [`Due`].
    messages: [AtomicU64; 2],
}

/// What answers a message.
///
/// An acknowledgement names a channel, and no request. Results are counted by themselves: otherwise a PE that acknowledges what it was
/// not sent could have a channel quiet while memory still waits for what comes from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// That it was carried out.
    Acknowledgement,
    /// What is written to memory of whoever asked.
    Result,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self { streams: Sparse::new(STREAMS), open: Mutex::default() }
    }

    pub(super) fn open(&self, lane: Lane) -> Option<Channel> {
        let mut open = self.open.lock();
        let number = open.free.pop().or_else(|| {
            let number = open.fresh;
            ((number as usize) < STREAMS).then(|| {
                open.fresh += 1;
                number
            })
        })?;
        let stream = self.streams.entry(number as usize);
        stream.unit.store(lane.unit, Ordering::Relaxed);
        stream.tracking.store(lane.tracking as u32, Ordering::Relaxed);
        stream.patient.store(lane.patient, Ordering::Relaxed);
        stream.counted.store(0, Ordering::Relaxed);
        Some(Channel(number))
    }

    /// Takes a number back. It has been quieted.
    pub(super) fn close(&self, Channel(number): Channel) {
        self.open.lock().free.push(number);
    }

    #[inline(always)]
    pub(super) fn get(&self, Channel(number): Channel) -> &Stream {
        self.streams.entry(number as usize)
    }

    /// Messages of a channel have been answered, or were not sent after all. `None`: not as many are under way. Whoever answers names
    /// any number, also of no channel.
    pub(super) fn answered(&self, Channel(number): Channel, due: Due, count: u64) -> Option<()> {
        let Some(stream) = self.streams.get(number as usize) else { return (count == 0).then_some(()) };
        let messages = &stream.messages[due as usize];
        // Release: whoever finds the channel quiet finds what the answers have brought.
        #[allow(deprecated, reason = "its new name is younger than the oldest Rust that is promised")]
        let found =
            messages.fetch_update(Ordering::Release, Ordering::Relaxed, |sent| sent.checked_sub(count));
        found.ok().map(drop)
    }
}

impl Stream {
    #[inline(always)]
    pub(super) fn unit(&self) -> usize {
        self.unit.load(Ordering::Relaxed) as usize
    }

    /// Whether nobody waits for it but at the end.
    #[inline(always)]
    pub(super) fn is_patient(&self) -> bool {
        self.patient.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn tracking(&self) -> Tracking {
        const EVENTS: u32 = Tracking::Events as u32;
        const HYBRID: u32 = Tracking::Hybrid as u32;
        match self.tracking.load(Ordering::Relaxed) {
            EVENTS => Tracking::Events,
            HYBRID => Tracking::Hybrid,
            _ => Tracking::Counter,
        }
    }

    /// Counts an event that is to be started.
    #[inline(always)]
    pub(super) fn expect(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    /// An event has ended, or was not started after all.
    #[inline(always)]
    pub(super) fn ended(&self) {
        self.events.fetch_sub(1, Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn events(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }

    /// An operation that is counted was started: the unit has started so many by now.
    #[inline(always)]
    pub(super) fn count(&self, started: u64) {
        // Threads that share a stream come here in any order.
        self.counted.fetch_max(started, Ordering::Relaxed);
    }

    /// With how many operations of the unit those of the stream that are counted are complete.
    #[inline(always)]
    pub(super) fn counted(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }

    pub(super) fn send(&self, due: Due) {
        self.messages[due as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn is_answered(&self) -> bool {
        self.messages.iter().all(|messages| messages.load(Ordering::Acquire) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(tracking: Tracking) -> Lane {
        Lane { unit: 3, shared: false, tracking, patient: false }
    }

    /// Whoever sends a message names any channel.
    #[test]
    fn what_is_no_channel_is_not_answered() {
        let streams = Streams::new();
        let channel = streams.open(lane(Tracking::Counter)).unwrap();
        streams.get(channel).send(Due::Result);
        for number in [1, 100, STREAMS as u32, u32::MAX] {
            assert_eq!(streams.answered(Channel(number), Due::Result, 1), None, "{number}");
        }
        assert!(!streams.get(channel).is_answered());
        assert_eq!(streams.answered(channel, Due::Result, 1), Some(()));
        assert!(streams.get(channel).is_answered());
    }
}
