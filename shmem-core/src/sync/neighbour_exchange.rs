//! Exchanges between neighbours, one after the other, through two buffers and without a barrier.
//!
//! Each PE has two message buffers for each neighbour, with data and a signal in each (double buffering). Exchange k uses buffer
//! k mod 2, in this order on every PE: it sends all data of k, each followed by its signal; waits until the signals of all neighbours
//! show k; reads the data; then begins k + 1. Neighbours are symmetric: a PE waits for the PEs that it sends to. Two buffers are
//! enough for any delays:
//!
//! 1. A sends k + 2 to B after it has seen B's signal of k + 1.
//! 2. B sent k + 1 after it had read the data of k.
//! 3. So A's writes of k + 2 follow B's reads of k from the same buffer: B's reads, its signal, A's check of that signal, A's writes.
//! 4. No older message is in flight to that buffer: A's own k has arrived, since B has finished k. So a network may deliver the
//!    messages of different exchanges in any order, and the signal of a buffer shows k or the exchange two before.
//!
//! So the data of k does not change from the moment when its signal is seen until the next `begin`, and references to it are sound for
//! that long.
//!
//! In shared memory signals are plain stores, so that a PE does not wait for its neighbours' cache lines. A waiter may miss such a
//! store and sleep. So a sender calls [`settle`](Turn::settle) and rings before it waits for an exchange itself, or gives up.
//! Sleeps are short, because before that a sender may wait for a sleeping PE elsewhere.

use crate::loom_atomics::fence_after_store;
use crate::planted_fault::mutant;

/// A PE's progress in a series of exchanges. Exchanges are numbered from 1: a signal of 0 shows none.
#[derive(Debug, Default)]
pub struct Turns {
    last: u64,
    open: bool,
}

/// One exchange of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn(u64);

impl Turns {
    /// Begins the next exchange. `None`: the previous exchange is unfinished, and its data may still arrive.
    #[inline]
    pub fn begin(&mut self) -> Option<Turn> {
        if self.open {
            return None;
        }
        self.open = true;
        self.last += 1;
        Some(Turn(self.last))
    }

    /// Ends the exchange: the data of all neighbours has arrived.
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

    /// Index of the buffer.
    #[inline(always)]
    pub fn message(self) -> usize {
        if mutant("exchange-one-message") { 0 } else { (self.0 % 2) as usize }
    }

    /// Sends to a neighbour: `data` first, then `signal` with the number of the exchange. The closures write to buffer
    /// [`message`](Self::message) at the neighbour, where `signal` must be ordered after `data`.
    #[inline(always)]
    pub fn send(self, data: impl FnOnce(), signal: impl Fn(u64)) {
        let is_first = mutant("exchange-signal-first");
        if is_first {
            signal(self.0);
        }
        data();
        if !is_first {
            signal(self.0);
        }
    }

    /// Orders signals that were plain stores before the `ring` of each neighbour's bell, which must follow.
    #[inline(always)]
    pub fn settle(self) {
        if !mutant("exchange-unsettled") {
            fence_after_store();
        }
    }

    /// Whether the data has arrived. `signal` must be read with acquire ordering.
    #[inline(always)]
    pub fn has_come(self, signal: u64) -> bool {
        if mutant("exchange-old-signal") && self.0 > 2 {
            return signal + 2 >= self.0;
        }
        signal == self.0
    }
}
