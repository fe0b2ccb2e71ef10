//! Pending signals of puts.
//!
//! The signal is the last step of a put with a signal. When its data is delivered, a signal is *due*, and the next thread that
//! makes progress sends it. Until it is sent, a signal counts as an unfinished operation (event) of its channel. So a quiet waits
//! first until the signal is sent, then for the change of its word. The list of due signals keeps its capacity, so most signals
//! allocate nothing.

use std::collections::VecDeque;

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::exclusion::Mutex;
use crate::transport::{Channel, Remote, SignalOp};

/// The pending change of a signal, and its channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignalUpdate {
    pub(super) channel: Channel,
    pub(super) signal: Remote,
    pub(super) op: SignalOp,
}

/// The signals of this PE that are not sent yet.
#[derive(Default)]
pub(super) struct PendingSignals {
    /// Signals whose data is delivered, except those that a thread is sending.
    due: Mutex<VecDeque<SignalUpdate>>,
    /// Number of signals that are due, or that a thread is sending.
    delivered: AtomicUsize,
    /// Number of all signals that are not sent yet.
    pending: AtomicUsize,
}

impl PendingSignals {
    /// Counts a signal whose data is about to be sent.
    pub(super) fn expect(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes a signal due, because its data is delivered.
    pub(super) fn deliver(&self, update: SignalUpdate) {
        // Counted before the push, because another thread may take the signal at once, and subtract it.
        self.delivered.fetch_add(1, Ordering::Relaxed);
        self.due.lock().push_back(update);
    }

    /// The number of signals that are due, or that a thread is sending.
    #[inline]
    pub(super) fn delivered(&self) -> usize {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Calls `send` for each due signal. It returns `false` if there was no room; the signal then stays due.
    pub(super) fn send(&self, mut send: impl FnMut(SignalUpdate) -> bool) {
        for _ in 0..self.delivered() {
            // The list is empty if other threads are sending the remaining signals.
            let Some(update) = self.due.lock().pop_front() else { return };
            if send(update) {
                self.delivered.fetch_sub(1, Ordering::Relaxed);
                self.pending.fetch_sub(1, Ordering::Release);
            } else {
                self.due.lock().push_back(update);
            }
        }
    }

    /// Whether a signal is not sent yet.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.pending.load(Ordering::Acquire) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe::Pe;

    #[test]
    fn a_signal_without_room_is_due_behind_the_others() {
        // SAFETY: no operation of an arena uses it.
        let pe = unsafe { Pe::new(7, Pe::OFF_NODE) };
        let update = |number| {
            let signal = Remote { pe, segment: 1, offset: 8 };
            SignalUpdate { channel: Channel(number), signal, op: SignalOp::Add(1) }
        };
        let signals = PendingSignals::default();
        signals.send(|_| panic!("nothing is due"));
        for number in 0..3 {
            signals.expect();
            signals.deliver(update(number));
        }
        let tried = |room: u32| {
            let mut tried = Vec::new();
            signals.send(|SignalUpdate { channel: Channel(number), .. }| {
                tried.push(number);
                number == room
            });
            tried
        };
        assert_eq!((tried(1), signals.delivered()), (vec![0, 1, 2], 2));
        assert_eq!((tried(0), signals.delivered()), (vec![0, 2], 1));
        assert!(signals.any());
        assert_eq!((tried(2), signals.any()), (vec![2], false));
    }
}
