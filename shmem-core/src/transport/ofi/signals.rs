//! Signals that wait until the data before them is delivered.
//!
//! The pieces of the data are operations that are reported. Whoever reads the last of these completions makes the signal due, and
//! whoever makes progress sends what is due, as far as there is room. A signal is an event of its stream until it was handed over:
//! quiet waits for it, and then for the change. The table grows to as many as are under way, and stays.

use std::collections::VecDeque;

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::exclusion::Mutex;
use crate::transport::{Channel, Remote, SignalOp};

#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) channel: Channel,
    pub(super) signal: Remote,
    pub(super) op: SignalOp,
}

/// The signals of a PE that were not handed over yet.
#[derive(Default)]
pub(super) struct Signals {
    table: Mutex<Table>,
    /// How many there are, and how many of them are due: a look at it costs no lock.
    waiting: AtomicUsize,
    due: AtomicUsize,
}

#[derive(Default)]
struct Table {
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    due: VecDeque<u32>,
}

struct Entry {
    change: Change,
    /// Pieces of its data that are not delivered.
    pieces: usize,
}

impl Signals {
    /// A signal behind so many pieces, none of which was started yet: where it stands, for these.
    pub(super) fn expect(&self, change: Change, pieces: usize) -> u32 {
        assert!(pieces > 0, "a signal behind nothing waits for ever");
        let table = &mut *self.table.lock();
        let number = table.free.pop().unwrap_or_else(|| {
            table.entries.push(None);
            (table.entries.len() - 1) as u32
        });
        table.entries[number as usize] = Some(Entry { change, pieces });
        self.waiting.fetch_add(1, Ordering::Relaxed);
        number
    }

    pub(super) fn delivered(&self, number: u32) {
        let table = &mut *self.table.lock();
        let Some(entry) = &mut table.entries[number as usize] else {
            unreachable!("signal {number} went before its data was delivered")
        };
        entry.pieces -= 1;
        if entry.pieces == 0 {
            table.due.push_back(number);
            self.due.store(table.due.len(), Ordering::Release);
        }
    }

    #[inline]
    pub(super) fn due(&self) -> usize {
        self.due.load(Ordering::Acquire)
    }

    /// One that may be handed over; to be [put back](Self::put_back), or told that it [was](Self::handed_over).
    pub(super) fn next(&self) -> Option<(u32, Change)> {
        let table = &mut *self.table.lock();
        let number = table.due.pop_front()?;
        self.due.store(table.due.len(), Ordering::Release);
        table.entries[number as usize].as_ref().map(|entry| (number, entry.change))
    }

    pub(super) fn put_back(&self, number: u32) {
        let table = &mut *self.table.lock();
        table.due.push_back(number);
        self.due.store(table.due.len(), Ordering::Release);
    }

    pub(super) fn handed_over(&self, number: u32) {
        let table = &mut *self.table.lock();
        table.entries[number as usize] = None;
        table.free.push(number);
        self.waiting.fetch_sub(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn wait(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    pub(super) fn has(&self, channel: Channel, pe: usize) -> bool {
        let is_one = |entry: &Entry| entry.change.channel == channel && entry.change.signal.pe.number() == pe;
        self.wait() && self.table.lock().entries.iter().flatten().any(is_one)
    }

    /// Whether there is one of a channel, for a PE, or else an operation of theirs, as `operation` says. That is asked behind:
    /// a signal that is handed over between the two is an operation before it is none here.
    pub(super) fn has_or(&self, channel: Channel, pe: usize, operation: impl FnOnce() -> bool) -> bool {
        self.has(channel, pe) || operation()
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;
    use crate::pe::Pe;

    fn change(channel: u32, pe: u32) -> Change {
        // SAFETY: no operation of an arena uses it.
        let pe = unsafe { Pe::new(pe, Pe::OFF_NODE) };
        let signal = Remote { pe, segment: 1, offset: 8 };
        Change { channel: Channel(channel), signal, op: SignalOp::Add(1) }
    }

    #[test]
    fn a_signal_is_due_when_its_last_piece_is_delivered() {
        let signals = Signals::default();
        let (first, second) = (signals.expect(change(1, 3), 2), signals.expect(change(2, 4), 1));
        assert!(signals.has(Channel(1), 3) && !signals.has(Channel(1), 4) && !signals.has(Channel(2), 3));
        signals.delivered(first);
        assert!(signals.next().is_none() && signals.due() == 0);
        signals.delivered(second);
        assert_eq!(signals.due(), 1);
        let (number, next) = signals.next().unwrap();
        assert_eq!((number, next.channel), (second, Channel(2)));
        assert!(signals.has(Channel(2), 4), "it is not on its way yet");
        signals.put_back(number);
        signals.delivered(first);
        let order = [(); 2].map(|()| signals.next().unwrap().0);
        assert_eq!(order, [second, first]);
        order.into_iter().for_each(|number| signals.handed_over(number));
        assert!(!signals.wait() && signals.due() == 0 && signals.next().is_none());
        assert!(!signals.has(Channel(1), 3));
        assert!(
            [first, second].contains(&signals.expect(change(1, 3), 1)),
            "the table stays as long as it is"
        );
    }

    #[test]
    fn a_signal_that_is_handed_over_meanwhile_is_not_overlooked() {
        let (signals, is_started) = (Signals::default(), Cell::new(false));
        let number = signals.expect(change(5, 7), 1);
        signals.delivered(number);
        // Who looks for operations finds the change if it was started before; that it is now is another thread's doing.
        let looks_and_hands_over = || {
            let found = is_started.replace(true);
            if !found {
                signals.handed_over(signals.next().unwrap().0);
            }
            found
        };
        assert!(signals.has_or(Channel(5), 7, looks_and_hands_over));
    }
}
