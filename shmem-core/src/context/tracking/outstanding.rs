//! The events of one stream that are under way.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Most events of one stream that are under way at a time.
pub const OUTSTANDING: usize = 256;

/// A ring of events, in the order in which they were started. They complete in any order, and leave in order.
///
/// One thread works on it at a time (the unit's promise), so loads and stores are enough.
pub(super) struct Outstanding {
    done: [AtomicBool; OUTSTANDING],
    /// Events that have left, and events that have been started; both wrap.
    left: AtomicU32,
    started: AtomicU32,
}

const _: () = assert!(OUTSTANDING.is_power_of_two(), "numbers of events wrap");

impl Outstanding {
    pub(super) fn new() -> Self {
        let done = [const { AtomicBool::new(false) }; OUTSTANDING];
        Self { done, left: AtomicU32::new(0), started: AtomicU32::new(0) }
    }

    /// How many are under way, or complete behind one that is.
    #[inline]
    pub(super) fn len(&self) -> usize {
        let (left, started) = (self.left.load(Ordering::Relaxed), self.started.load(Ordering::Relaxed));
        started.wrapping_sub(left) as usize
    }

    /// The place of the next event, if there is one.
    #[inline]
    pub(super) fn place(&self) -> Option<u32> {
        (self.len() < OUTSTANDING).then(|| self.started.load(Ordering::Relaxed))
    }

    /// The event at that place is under way.
    #[inline]
    pub(super) fn start(&self, place: u32) {
        self.done[place as usize % OUTSTANDING].store(false, Ordering::Relaxed);
        self.started.store(place.wrapping_add(1), Ordering::Relaxed);
    }

    /// The event at a place is complete.
    #[inline]
    pub(super) fn complete(&self, place: u32) {
        self.done[place as usize % OUTSTANDING].store(true, Ordering::Relaxed);
        let started = self.started.load(Ordering::Relaxed);
        let mut left = self.left.load(Ordering::Relaxed);
        while left != started && self.done[left as usize % OUTSTANDING].load(Ordering::Relaxed) {
            left = left.wrapping_add(1);
        }
        self.left.store(left, Ordering::Relaxed);
    }
}
