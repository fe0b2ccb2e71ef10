//! Streams: the completion state of each channel.
//!
//! A stream counts its events (operations whose completion is reported one by one) and its unanswered messages. For its counted
//! operations it keeps one number `n`: they are all among the first `n` operations of its unit (an endpoint).

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::sparse::Sparse;
use crate::exclusion::Mutex;
use crate::transport::{Channel, ChannelOptions, Tracking};

pub(super) const STREAMS: usize = 4096;

pub(super) struct Streams {
    streams: Sparse<Stream>,
    /// For each channel number that was ever used, whether the channel is open.
    open: Mutex<Vec<bool>>,
}

/// A stream, aligned so that streams of different threads share no cache line.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Stream {
    unit: AtomicU32,
    tracking: AtomicU32,
    patient: AtomicBool,
    events: AtomicU64,
    /// A number `n` such that all counted operations of the stream are among the unit's first `n` operations.
    counted: AtomicU64,
    /// Numbers of unanswered messages, by the kind of answer ([`Due`]).
    messages: [AtomicU64; 2],
}

/// The kind of answer to a message.
///
/// An acknowledgement names a channel, and no request. So results are counted separately. Otherwise a PE that acknowledges too many
/// messages could make a channel quiet while a result is still being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Acknowledgement that the message was carried out.
    Acknowledgement,
    /// Data for memory of the sender.
    Result,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self { streams: Sparse::new(STREAMS), open: Mutex::default() }
    }

    pub(super) fn open(&self, lane: ChannelOptions) -> Option<Channel> {
        let mut open = self.open.lock();
        let number = open.iter().position(|is_open| !is_open).unwrap_or(open.len());
        if number == STREAMS {
            return None;
        }
        if number == open.len() {
            open.push(true);
        }
        open[number] = true;
        let stream = self.streams.entry(number);
        stream.unit.store(lane.unit, Ordering::Relaxed);
        stream.tracking.store(lane.tracking as u32, Ordering::Relaxed);
        stream.patient.store(lane.patient, Ordering::Relaxed);
        stream.counted.store(0, Ordering::Relaxed);
        Some(Channel(number as u32))
    }

    /// Frees the number of a quiet channel, for other channels.
    pub(super) fn close(&self, Channel(number): Channel) {
        self.open.lock()[number as usize] = false;
    }

    #[inline(always)]
    pub(super) fn get(&self, Channel(number): Channel) -> &Stream {
        self.streams.entry(number as usize)
    }

    /// Counts `count` messages of a channel as answered, or as not sent. Returns `None` if fewer are unanswered. Another PE has
    /// sent the channel number, so the channel may not exist.
    pub(super) fn answered(&self, Channel(number): Channel, due: Due, count: u64) -> Option<()> {
        let Some(stream) = self.streams.get(number as usize) else { return (count == 0).then_some(()) };
        let messages = &stream.messages[due as usize];
        // `Release`, so that a thread that finds the channel quiet finds the data of the answers.
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

    /// Whether acknowledgements may be late, because the channel is quieted only at its end.
    #[inline(always)]
    pub(super) fn is_patient(&self) -> bool {
        self.patient.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn tracking(&self) -> Tracking {
        Tracking::ALL[self.tracking.load(Ordering::Relaxed) as usize]
    }

    /// Counts an operation that is about to be started, and whose completion is reported (an event).
    #[inline(always)]
    pub(super) fn expect(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back an [`expect`](Self::expect): the event has ended, or was not started.
    #[inline(always)]
    pub(super) fn ended(&self) {
        self.events.fetch_sub(1, Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn events(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }

    /// Records that a counted operation has started, and is among the first `started` operations of its unit (an endpoint).
    #[inline(always)]
    pub(super) fn count(&self, started: u64) {
        // Threads that share a stream call this in any order.
        self.counted.fetch_max(started, Ordering::Relaxed);
    }

    /// The number of operations of the unit that must complete for the stream's counted ones to be complete.
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
