//! Exchanges between neighbours, one after the other, through two buffers and without a barrier.
//!
//! Every neighbour has two messages at the receiver: data and a signal in each. Exchange k uses message
//! k mod 2, in a fixed order on every PE: all data of k, each with its signal behind it; then a wait until
//! the signals of all neighbours show k; then the data that came is read; only then does k + 1 begin. The
//! relation is symmetric: who sends to a PE also waits for it. Two messages are enough, whatever delays
//! there are:
//!
//! 1. A sends k + 2 to B after it has seen the signal of k + 1 that B sent (A has finished k + 1, and waited
//!    for B as for all its neighbours).
//! 2. B sent k + 1 after it had finished k and read its data, since its exchanges follow each other.
//! 3. So what A writes as k + 2 comes behind all that B reads of k, which lay in the same message: the
//!    reads of B, its signal, A's look at that signal, A's writes.
//! 4. Nothing older is on its way to that message: A's own k has arrived, since B has finished k. So a
//!    network may deliver the messages of different exchanges in any order, and the signal of a message
//!    can only be what it was two exchanges ago, or k. It never shows an exchange to come.
//!
//! Signals are plain stores where memory is shared, so that a PE does not wait for the lines of all its
//! neighbours before it computes. A waiter may miss such a store just then, and go to sleep; so whoever sent has
//! to [`settle`](Turn::settle) and ring before it waits for an exchange itself, or gives up. Until then it may
//! wait in other ways for a PE that sleeps, so nobody sleeps long without a look.
//!
//! Therefore nobody writes the data of k between the moment when its signal is seen and the next `begin`:
//! references to it may be given out for that long.

use crate::primitive::{fence_after_store, mutant};

/// How far a PE has come in a series of exchanges. They are numbered from 1, so that signals of zero mean
/// that nothing has come.
#[derive(Debug, Default)]
pub struct Turns {
    last: u64,
    open: bool,
}

/// One exchange of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn(u64);

impl Turns {
    /// Begins the next exchange. `None`: the one before was never finished, and what its neighbours sent
    /// may still be coming.
    #[inline]
    pub fn begin(&mut self) -> Option<Turn> {
        if self.open {
            return None;
        }
        self.open = true;
        self.last += 1;
        Some(Turn(self.last))
    }

    /// Ends the exchange that was begun: all neighbours' data is there.
    #[inline]
    pub fn finish(&mut self) {
        self.open = false;
    }
}

impl Turn {
    /// The number of the exchange, from 1.
    #[inline(always)]
    pub fn number(self) -> u64 {
        self.0
    }

    /// Which of the two messages it uses.
    #[inline(always)]
    pub fn message(self) -> usize {
        if mutant("exchange-one-message") { 0 } else { (self.0 % 2) as usize }
    }

    /// Sends to a neighbour: data first, then its signal, which becomes the number that `signal` is given.
    /// The two closures write to message [`message`](Self::message) at the neighbour, and `signal` is ordered
    /// behind `data` there.
    ///
    /// Inside a closure nobody knows who called: data whose sender may be wrong is sent between the two halves of this,
    /// [`before_data`](Self::before_data) and [`behind_data`](Self::behind_data).
    #[inline(always)]
    pub fn send(self, data: impl FnOnce(), signal: impl Fn(u64)) {
        self.before_data(&signal);
        data();
        self.behind_data(&signal);
    }

    /// What stands before the data: nothing. (Unless a test is to find that order matters.)
    #[inline(always)]
    pub fn before_data(self, signal: impl FnOnce(u64)) {
        if mutant("exchange-signal-first") {
            signal(self.0);
        }
    }

    /// What stands behind the data: its signal.
    #[inline(always)]
    pub fn behind_data(self, signal: impl FnOnce(u64)) {
        if !mutant("exchange-signal-first") {
            signal(self.0);
        }
    }

    /// Orders the signals that were plain stores before a look for sleepers, which is to follow: `ring` of each
    /// neighbour's bell.
    #[inline(always)]
    pub fn settle(self) {
        if !mutant("exchange-unsettled") {
            fence_after_store();
        }
    }

    /// Whether the data of a message has come, by its signal, read with acquire ordering.
    #[inline(always)]
    pub fn has_come(self, signal: u64) -> bool {
        if mutant("exchange-old-signal") && self.0 > 2 {
            return signal + 2 >= self.0;
        }
        signal == self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_shows_its_own_exchange_which_begins_when_the_one_before_is_finished() {
        let mut turns = Turns::default();
        for number in 1..10 {
            let turn = turns.begin().unwrap();
            assert_eq!((turn.number(), turn.message()), (number, number as usize % 2));
            assert_eq!([turns.begin(), turns.begin()], [None; 2], "asking twice changes nothing");
            // What the word can be: its last exchange of the same message, or this one.
            assert!(turn.has_come(number) && !turn.has_come(number.saturating_sub(2)));
            turns.finish();
        }
    }
}
