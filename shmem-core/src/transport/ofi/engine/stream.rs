//! What each channel waits for.

use core::sync::atomic::{AtomicU64, Ordering};

use super::super::sparse::Sparse;
use super::fault::Flaw;
use crate::transport::Channel;

/// Counters that channels have. Channels beyond share them, and wait for each other then.
const STREAMS: usize = 1024;

/// The messages of every channel that have not been answered.
pub(super) struct Streams {
    unanswered: Sparse<Unanswered>,
}

/// What answers a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// That it was carried out.
    Acknowledgement,
    /// What is written to memory of whoever asked.
    Result,
}

/// Counters on a line of their own: channels of different threads share none.
///
/// Results are counted by themselves. An acknowledgement names a channel, and no request: if it could stand for a result,
/// a PE that acknowledges what it was not sent would have a channel quiet while memory still waits for what comes from
/// another one.
#[derive(Default)]
#[repr(align(64))]
struct Unanswered {
    acknowledgements: AtomicU64,
    results: AtomicU64,
}

impl Streams {
    /// Bytes before any channel has sent.
    pub(super) const BYTES: usize = Sparse::<Unanswered>::bytes(STREAMS);

    /// Bytes besides while no channel beyond those of a block has.
    pub(super) const OF_FIRST: usize = Sparse::<Unanswered>::OF_REGION + Sparse::<Unanswered>::OF_BLOCK;

    pub(super) fn new() -> Self {
        Self { unanswered: Sparse::new(STREAMS) }
    }

    fn of(&self, Channel(channel): Channel) -> &Unanswered {
        self.unanswered.entry(channel as usize % STREAMS)
    }

    fn counter(&self, channel: Channel, due: Due) -> &AtomicU64 {
        let unanswered = self.of(channel);
        match due {
            Due::Acknowledgement => &unanswered.acknowledgements,
            Due::Result => &unanswered.results,
        }
    }

    /// A message is about to be sent.
    pub(super) fn start(&self, channel: Channel, due: Due) {
        self.counter(channel, due).fetch_add(1, Ordering::Relaxed);
    }

    /// Messages have been answered, or were not sent after all.
    ///
    /// # Errors
    ///
    /// If there were not so many.
    pub(super) fn answered(&self, channel: Channel, due: Due, count: u64) -> Result<(), Flaw> {
        // Release: whoever finds the channel quiet finds what the answers have brought.
        let less = |unanswered: u64| unanswered.checked_sub(count);
        #[allow(deprecated, reason = "its new name is younger than the oldest Rust that is promised")]
        let found = self.counter(channel, due).fetch_update(Ordering::Release, Ordering::Relaxed, less);
        found.map(|_| ()).map_err(|_| Flaw::Answer)
    }

    /// Whether every message of a channel has been answered.
    pub(super) fn is_quiet(&self, channel: Channel) -> bool {
        let Unanswered { acknowledgements, results } = self.of(channel);
        acknowledgements.load(Ordering::Acquire) == 0 && results.load(Ordering::Acquire) == 0
    }
}
