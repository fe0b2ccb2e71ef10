//! Signals of puts, kept until the data is delivered.
//!
//! A put with a signal registers the signal here, with the number of its writes. The completion of the last write makes the signal
//! due, and the next thread that makes progress sends it. A signal is an event of its stream until it is sent: so a quiet waits for
//! the signal first, then for the change of the word. The table grows to the largest number of signals in flight, and is kept.

use std::collections::VecDeque;

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::exclusion::Mutex;
use crate::transport::{Channel, Remote, SignalOp};

/// A signal's change, and its channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignalUpdate {
    pub(super) channel: Channel,
    pub(super) signal: Remote,
    pub(super) op: SignalOp,
}

/// The signals of this PE that are not sent yet.
#[derive(Default)]
pub(super) struct PendingSignals {
    table: Mutex<SignalTable>,
    /// The number of signals in the table, readable without the lock.
    pending: AtomicUsize,
    /// How many of them are due.
    due: AtomicUsize,
}

#[derive(Default)]
struct SignalTable {
    /// Each signal, and how many writes of its data are not delivered.
    signals: Vec<Option<(SignalUpdate, usize)>>,
    free: Vec<u32>,
    due: VecDeque<u32>,
}

impl PendingSignals {
    /// Adds a signal behind `writes` writes, none of which was started. Returns its number in the table.
    pub(super) fn expect(&self, update: SignalUpdate, writes: usize) -> u32 {
        assert!(writes > 0, "a signal behind nothing waits for ever");
        let table = &mut *self.table.lock();
        let number = table.free.pop().unwrap_or_else(|| {
            table.signals.push(None);
            (table.signals.len() - 1) as u32
        });
        table.signals[number as usize] = Some((update, writes));
        self.pending.fetch_add(1, Ordering::Relaxed);
        number
    }

    /// Counts a write of a signal's data as delivered.
    pub(super) fn delivered(&self, number: u32) {
        let table = &mut *self.table.lock();
        let Some((_, writes)) = &mut table.signals[number as usize] else {
            unreachable!("signal {number} went before its data was delivered")
        };
        *writes -= 1;
        if *writes == 0 {
            table.due.push_back(number);
            self.due.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of signals whose data is delivered.
    #[inline]
    pub(super) fn due(&self) -> usize {
        self.due.load(Ordering::Relaxed)
    }

    /// Takes a signal that may be sent. The caller [puts it back](Self::put_back), or reports it as [sent](Self::sent).
    pub(super) fn next(&self) -> Option<(u32, SignalUpdate)> {
        let table = &mut *self.table.lock();
        let number = table.due.pop_front()?;
        table.signals[number as usize].map(|(update, _)| (number, update))
    }

    pub(super) fn put_back(&self, number: u32) {
        self.table.lock().due.push_back(number);
    }

    pub(super) fn sent(&self, number: u32) {
        let table = &mut *self.table.lock();
        table.signals[number as usize] = None;
        table.free.push(number);
        self.due.fetch_sub(1, Ordering::Relaxed);
        self.pending.fetch_sub(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn any(&self) -> bool {
        self.pending.load(Ordering::Acquire) > 0
    }

    /// Whether a signal of a channel for a PE is in the table, or `operation` says that one is in flight. The table is read first:
    /// a signal is an operation before it leaves the table.
    pub(super) fn has_or(&self, channel: Channel, pe: usize, operation: impl FnOnce() -> bool) -> bool {
        let is_one = |(update, _): &(SignalUpdate, usize)| {
            update.channel == channel && update.signal.pe.number() == pe
        };
        (self.any() && self.table.lock().signals.iter().flatten().any(is_one)) || operation()
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::pe::Pe;

    fn update() -> SignalUpdate {
        // SAFETY: no operation of an arena uses it.
        let pe = unsafe { Pe::new(7, Pe::OFF_NODE) };
        let signal = Remote { pe, segment: 1, offset: 8 };
        SignalUpdate { channel: Channel(5), signal, op: SignalOp::Add(1) }
    }

    #[test]
    fn a_signal_without_room_is_due_behind_the_others() {
        let signals = PendingSignals::default();
        let numbers @ [first, second] = [(); 2].map(|()| signals.expect(update(), 1));
        assert_eq!(signals.due(), 0);
        numbers.into_iter().for_each(|number| signals.delivered(number));
        assert_eq!(signals.due(), 2);
        let next = || signals.next().unwrap().0;
        assert_eq!(next(), first);
        signals.put_back(first);
        assert_eq!(([next(), next()], signals.due()), ([second, first], 2));
        numbers.into_iter().for_each(|number| signals.sent(number));
        assert!(signals.due() == 0 && !signals.any());
    }

    #[test]
    fn a_signal_is_due_behind_its_last_write_and_found_until_it_is_an_operation() {
        let (signals, is_started) = (PendingSignals::default(), Cell::new(false));
        let number = signals.expect(update(), 2);
        signals.delivered(number);
        assert!(signals.next().is_none(), "a write is not delivered");
        assert!(signals.has_or(Channel(5), 7, || false) && !signals.has_or(Channel(5), 8, || false));
        signals.delivered(number);
        // A thread that looks for operations finds the change if it was started before. Another thread starts it now.
        let looks_and_sends = || {
            let found = is_started.replace(true);
            if !found {
                signals.sent(signals.next().unwrap().0);
            }
            found
        };
        assert!(signals.has_or(Channel(5), 7, looks_and_sends));
    }
}
