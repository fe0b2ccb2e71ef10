//! What each channel waits for.

use core::sync::atomic::{AtomicU64, Ordering};

use super::fault::Flaw;
use crate::transport::Channel;

/// Counters that channels have. Channels beyond share them, and wait for each other then.
const STREAMS: usize = 1024;

/// The messages of every channel that have not been answered.
pub(super) struct Streams {
    unanswered: Box<[Unanswered]>,
}

/// A counter on a line of its own: channels of different threads share none.
#[repr(align(64))]
struct Unanswered(AtomicU64);

impl Streams {
    /// Bytes of the counters.
    pub(super) const BYTES: usize = STREAMS * size_of::<Unanswered>();

    pub(super) fn new() -> Self {
        Self { unanswered: (0..STREAMS).map(|_| Unanswered(AtomicU64::new(0))).collect() }
    }

    fn of(&self, Channel(channel): Channel) -> &AtomicU64 {
        &self.unanswered[channel as usize % STREAMS].0
    }

    /// A message is about to be sent.
    pub(super) fn start(&self, channel: Channel) {
        self.of(channel).fetch_add(1, Ordering::Relaxed);
    }

    /// A message was not sent after all.
    pub(super) fn withdraw(&self, channel: Channel) {
        self.of(channel).fetch_sub(1, Ordering::Relaxed);
    }

    /// Messages have been answered.
    ///
    /// # Errors
    ///
    /// If there were not so many.
    pub(super) fn answered(&self, channel: Channel, count: u64) -> Result<(), Flaw> {
        // Release: whoever finds the channel quiet finds what the answers have brought.
        let less = |unanswered: u64| unanswered.checked_sub(count);
        #[allow(deprecated, reason = "its new name is younger than the oldest Rust that is promised")]
        let found = self.of(channel).fetch_update(Ordering::Release, Ordering::Relaxed, less);
        found.map(|_| ()).map_err(|_| Flaw::Answer)
    }

    /// How many messages of a channel have not been answered.
    pub(super) fn unanswered(&self, channel: Channel) -> u64 {
        self.of(channel).load(Ordering::Acquire)
    }
}
