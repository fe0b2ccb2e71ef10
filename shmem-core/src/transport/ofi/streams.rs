//! Streams: what channels are numbers of.
//!
//! A fixed table, so that an operation finds its unit by an index. Channels that are counted together are one
//! stream of their unit; those whose operations are events have one each, which counts what is under way.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::transport::{Channel, Lane, Tracking};

/// Most streams that are open at a time.
pub(super) const STREAMS: usize = 4096;

/// The streams of a PE.
pub(super) struct Streams {
    streams: Box<[Stream]>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Numbers that were used and are free again.
    free: Vec<u32>,
    /// Numbers that were never used start here.
    fresh: u32,
}

/// A stream.
#[repr(align(128))]
pub(super) struct Stream {
    unit: AtomicU32,
    tracking: AtomicU32,
    /// Events under way.
    events: AtomicU64,
}

impl Streams {
    pub(super) fn new() -> Self {
        let stream =
            || Stream { unit: AtomicU32::new(0), tracking: AtomicU32::new(0), events: AtomicU64::new(0) };
        Self { streams: (0..STREAMS).map(|_| stream()).collect(), open: Mutex::default() }
    }

    /// A number for a channel.
    pub(super) fn open(&self, lane: Lane) -> Option<Channel> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let number = open.free.pop().or_else(|| {
            let number = open.fresh;
            ((number as usize) < STREAMS).then(|| {
                open.fresh += 1;
                number
            })
        })?;
        let stream = &self.streams[number as usize];
        stream.unit.store(lane.unit, Ordering::Relaxed);
        stream.tracking.store(lane.tracking as u32, Ordering::Relaxed);
        Some(Channel(number))
    }

    /// Takes a number back. It has been quieted.
    pub(super) fn close(&self, Channel(number): Channel) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).free.push(number);
    }

    #[inline(always)]
    pub(super) fn get(&self, Channel(number): Channel) -> &Stream {
        &self.streams[number as usize]
    }

    /// An event of a stream has ended.
    #[inline(always)]
    pub(super) fn ended(&self, number: u32) {
        self.streams[number as usize].events.fetch_sub(1, Ordering::Release);
    }
}

impl Stream {
    /// The unit that it lies on.
    #[inline(always)]
    pub(super) fn unit(&self) -> usize {
        self.unit.load(Ordering::Relaxed) as usize
    }

    /// How it is tracked.
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
    pub(super) fn begin(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    /// Events under way.
    #[inline(always)]
    pub(super) fn events(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_out_and_come_back() {
        let streams = Streams::new();
        let lane = Lane { unit: 3, shared: false, tracking: Tracking::Hybrid };
        let all: Vec<_> = (0..STREAMS).map(|_| streams.open(lane).unwrap()).collect();
        assert_eq!(streams.open(lane), None);
        streams.close(all[5]);
        let again = streams.open(Lane { unit: 4, shared: true, tracking: Tracking::Events }).unwrap();
        assert_eq!(again, all[5]);
        let stream = streams.get(again);
        assert_eq!((stream.unit(), stream.tracking()), (4, Tracking::Events));
        assert_eq!(streams.get(all[6]).tracking(), Tracking::Hybrid);
    }

    #[test]
    fn events_are_counted_by_the_stream() {
        let streams = Streams::new();
        let channel = streams.open(Lane { unit: 0, shared: false, tracking: Tracking::Events }).unwrap();
        let stream = streams.get(channel);
        stream.begin();
        stream.begin();
        streams.ended(channel.0);
        assert_eq!(stream.events(), 1);
    }
}
