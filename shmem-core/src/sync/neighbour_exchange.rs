//! Exchanges between neighbours, one after the other, through two buffers and without a barrier.
//!
//! Each PE has two buffers for each neighbour, with data and a signal in each (double buffering). Exchange k uses buffer k mod 2.
//! In exchange k every PE sends data to each neighbour, followed by a signal of value k; waits until the signals of all neighbours
//! are k; and reads their data. Then it begins exchange k + 1. Neighbours are symmetric: a PE waits for the PEs that it sends to.
//! Two buffers are enough for any delays:
//!
//! 1. A sends its data of k + 2 to B after it has seen B's signal of k + 1.
//! 2. B sent its signal of k + 1 after it had read the data of k.
//! 3. So A's writes of k + 2 follow B's reads of k from the same buffer: B's reads, B's signal, A's check of that signal, A's
//!    writes.
//! 4. No older data is in flight to that buffer: A's data of k has arrived, since B has finished k. So a network may deliver the
//!    data of different exchanges in any order, and the signal of a buffer is k or k - 2.
//!
//! So the data of k does not change from the moment when its signal is seen until the next `begin`, and references to the data are
//! sound for that long.
//!
//! In shared memory signals are plain stores, so that a PE does not wait for its neighbours' cache lines. A neighbour may miss such
//! a store and go to sleep. So before the sender waits for its own exchange, or gives it up, it calls [`settle`](Turn::settle) and
//! rings the neighbours' bells. Until then a neighbour may sleep though the signal is there, while the sender waits for it in
//! another operation; so sleeps are short.

use crate::loom_atomics::fence_after_store;
use crate::planted_fault::mutant;

/// The progress of a PE in a series of exchanges. Exchanges are numbered from 1, so no exchange has the signal 0.
#[derive(Debug, Default)]
pub struct Turns {
    last: u64,
    open: bool,
}

/// One exchange of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn(u64);

impl Turns {
    /// Begins the next exchange. Returns `None` if the previous exchange is unfinished, because neighbours' data may still arrive
    /// for it.
    #[inline]
    pub fn begin(&mut self) -> Option<Turn> {
        if self.open {
            return None;
        }
        self.open = true;
        self.last += 1;
        Some(Turn(self.last))
    }

    /// Ends the exchange, after the data of all neighbours has arrived.
    #[inline]
    pub fn finish(&mut self) {
        self.open = false;
    }
}

impl Turn {
    /// Returns the number of the exchange, from 1.
    #[inline(always)]
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the index of the buffer that the exchange uses.
    #[inline(always)]
    pub fn message(self) -> usize {
        if mutant("exchange-one-message") { 0 } else { (self.0 % 2) as usize }
    }

    /// Sends to a neighbour: calls `data`, and then `signal` with the number of the exchange. The closures write to buffer
    /// [`message`](Self::message) at the neighbour, where the write of `signal` must be ordered after the write of `data`.
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

    /// Makes signals that were written by plain stores visible before later rings. The caller must then ring the neighbours' bells.
    #[inline(always)]
    pub fn settle(self) {
        if !mutant("exchange-unsettled") {
            fence_after_store();
        }
    }

    /// Whether a neighbour's data has arrived. `signal` is the neighbour's signal, which must be read with acquire ordering.
    #[inline(always)]
    pub fn has_arrived(self, signal: u64) -> bool {
        if mutant("exchange-old-signal") && self.0 > 2 {
            return signal + 2 >= self.0;
        }
        signal == self.0
    }
}
