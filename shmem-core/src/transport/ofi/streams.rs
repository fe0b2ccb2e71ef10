//! Streams: what channels are numbers of.
//!
//! A table, so that an operation finds its unit by an index; it grows with the streams that are open at a time. Channels that are counted together are one
//! stream of their unit; those whose operations are events have one each, which counts what is under way.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::record::Purpose;
use super::sparse::Sparse;
use crate::exclusion::Mutex;
use crate::transport::{Channel, Lane, Tracking};

/// Most streams that are open at a time.
pub(super) const STREAMS: usize = 4096;

/// The streams of a PE.
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

/// A stream.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Stream {
    unit: AtomicU32,
    tracking: AtomicU32,
    patient: AtomicBool,
    /// Events under way.
    events: AtomicU64,
    /// How many operations its unit had started when the last one of the stream was that is counted.
    counted: AtomicU64,
}

impl Streams {
    /// Bytes of the table before any is open.
    pub(super) const BYTES: usize = Sparse::<Stream>::bytes(STREAMS);

    /// Bytes of it besides while there are no more than a block has.
    pub(super) const OF_FIRST: usize = Sparse::<Stream>::OF_REGION + Sparse::<Stream>::OF_BLOCK;

    pub(super) fn new() -> Self {
        Self { streams: Sparse::new(STREAMS), open: Mutex::default() }
    }

    /// A number for a channel.
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

    /// An event of a stream has ended.
    #[inline(always)]
    pub(super) fn ended(&self, number: u32) {
        self.streams.entry(number as usize).events.fetch_sub(1, Ordering::Release);
    }
}

impl Stream {
    /// The unit that it lies on.
    #[inline(always)]
    pub(super) fn unit(&self) -> usize {
        self.unit.load(Ordering::Relaxed) as usize
    }

    /// Whether nobody waits for it but at the end.
    #[inline(always)]
    pub(super) fn is_patient(&self) -> bool {
        self.patient.load(Ordering::Relaxed)
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

    /// What a record is for, if there is one, of an operation of so many bytes on this stream, which is to be
    /// started and nobody waits for by itself.
    #[inline(always)]
    pub(super) fn begin(&self, Channel(number): Channel, bytes: usize) -> Purpose {
        if !self.tracking().is_event(bytes) {
            return Purpose::Counted;
        }
        self.expect();
        Purpose::Event(number)
    }

    /// Counts an event that is to be started.
    #[inline(always)]
    pub(super) fn expect(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
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

    /// Events under way.
    #[inline(always)]
    pub(super) fn events(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(tracking: Tracking) -> Lane {
        Lane { unit: 3, shared: false, tracking, patient: false }
    }

    #[test]
    fn numbers_run_out_and_come_back() {
        let streams = Streams::new();
        let all: Vec<_> = (0..STREAMS).map(|_| streams.open(lane(Tracking::Hybrid)).unwrap()).collect();
        assert_eq!(streams.open(lane(Tracking::Hybrid)), None);
        [5, 9, 7].into_iter().for_each(|started| streams.get(all[5]).count(started));
        assert_eq!(streams.get(all[5]).counted(), 9);
        streams.close(all[5]);
        let again = streams.open(Lane { unit: 4, patient: true, ..lane(Tracking::Counter) }).unwrap();
        let (stream, other) = (streams.get(again), streams.get(all[6]));
        assert_eq!((again, stream.counted()), (all[5], 0), "it starts anew");
        assert_eq!((stream.unit(), stream.tracking(), stream.is_patient()), (4, Tracking::Counter, true));
        assert_eq!((other.unit(), other.tracking(), other.is_patient()), (3, Tracking::Hybrid, false));
    }

    #[test]
    fn events_are_counted_by_the_stream_and_small_operations_by_the_unit() {
        let streams = Streams::new();
        for (tracking, bytes, is_event) in [
            (Tracking::Events, 8, true),
            (Tracking::Hybrid, Tracking::LARGE - 1, false),
            (Tracking::Hybrid, Tracking::LARGE, true),
            (Tracking::Counter, Tracking::LARGE, false),
        ] {
            let channel = streams.open(lane(tracking)).unwrap();
            let stream = streams.get(channel);
            let purpose = if is_event { Purpose::Event(channel.0) } else { Purpose::Counted };
            assert_eq!((stream.begin(channel, bytes), stream.events()), (purpose, is_event.into()));
            stream.expect();
            streams.ended(channel.0);
            assert_eq!(stream.events(), is_event.into());
        }
    }
}
