//! How far a member has come in a plan.

use core::iter::{Peekable, Skip};

use shmem_core::primitive::mutant;

use super::carrier::Carrier;
use super::plan::{Arrival, Departure, Fate, Notice};

/// Most slots or chunks that are told of together.
const MOST_TOLD_OF: usize = 4;

/// How far a member has come in a [plan](super::plan): what it sends next, what comes next, and what it has not said
/// yet of slots that are empty again, or of chunks that have landed. It waits for nothing.
pub(super) struct Cursor<D: Iterator, A: Iterator> {
    departures: Peekable<D>,
    arrivals: Peekable<A>,
    /// The arrivals of which those who send them are told next.
    ahead: Peekable<Skip<A>>,
    slots: usize,
    notice: Notice,
    /// Departures that were sent.
    sent: usize,
    /// Arrivals whose slots have been emptied.
    emptied: usize,
    /// Arrivals behind these that lie in their slots.
    awaited: usize,
    /// Arrivals that have been found to have landed, where that is told.
    landed: usize,
}

impl<D: Iterator<Item = Departure>, A: Iterator<Item = Arrival>> Cursor<D, A> {
    /// At the beginning. The arrivals are given twice.
    pub(super) fn new(departures: D, arrivals: [A; 2], slots: usize, notice: Notice) -> Self {
        let [arrivals, ahead] = arrivals;
        let (departures, arrivals) = (departures.peekable(), arrivals.peekable());
        // A slot that is emptied is told to who sends the chunk which will lie there.
        let first = if notice == Notice::Emptied { slots } else { 0 };
        let ahead = ahead.skip(first).peekable();
        Self { departures, arrivals, ahead, slots, notice, sent: 0, emptied: 0, awaited: 0, landed: 0 }
    }

    /// A number that changes when something was done.
    pub(super) fn moved(&self) -> usize {
        self.sent + self.emptied + self.awaited + self.landed
    }

    /// Does all that can be done now. Whether that was the last of it.
    pub(super) fn poll(&mut self, carrier: &mut impl Carrier) -> bool {
        loop {
            let has_sent = self.send(carrier);
            // Who waits to be told is told before anything is combined.
            let has_got_on = self.land(carrier) || self.take(carrier);
            if !has_sent && !has_got_on {
                return self.departures.peek().is_none() && self.arrivals.peek().is_none();
            }
        }
    }

    /// Whose chunk comes next, or else who has yet to say that it may be sent the next one.
    pub(super) fn awaited(&mut self) -> Option<usize> {
        let next = self.arrivals.peek().map(|arrival| arrival.from);
        next.or_else(|| self.departures.peek().map(|departure| departure.to))
    }

    /// Sends what may be sent.
    fn send(&mut self, carrier: &mut impl Carrier) -> bool {
        let emptied = self.emptied;
        let early = if mutant("credit-early") { self.slots as u64 / 2 } else { 0 };
        let may = |departure: &Departure| {
            let Departure { after, word, clearance, .. } = *departure;
            emptied >= after && (clearance == 0 || carrier.told(word) + early >= clearance)
        };
        let Some(departure) = self.departures.next_if(may) else { return false };
        carrier.send(&departure, departure.number % self.slots);
        self.sent += 1;
        true
    }

    /// Takes the next chunk, if it has come.
    fn take(&mut self, carrier: &mut impl Carrier) -> bool {
        let (slots, number) = (self.slots, self.emptied + self.awaited);
        let may = |arrival: &Arrival| match self.notice {
            Notice::Emptied => has_come(number, slots, carrier),
            Notice::Landed => {
                let has_landed = carrier.told(arrival.word) > number as u64;
                number < self.landed && (has_landed || mutant("exchange-unheard"))
            }
        };
        let Some(arrival) = self.arrivals.next_if(may) else { return false };
        match arrival.fate {
            Fate::Kept => carrier.keep(number % slots, arrival.into),
            Fate::Awaited => {
                self.awaited += 1;
                return true;
            }
            Fate::Combined { members, mine } => {
                carrier.combine(self.emptied % slots, members, mine, arrival.into)
            }
        }
        for _ in 0..=core::mem::take(&mut self.awaited) {
            self.emptied += 1;
            self.tell(carrier);
        }
        true
    }

    /// Finds that the next chunk has landed, where that is told, if it has.
    fn land(&mut self, carrier: &mut impl Carrier) -> bool {
        let (slots, number) = (self.slots, self.landed);
        let is_told = self.notice == Notice::Landed && number < self.emptied + slots / 2;
        if !is_told || !has_come(number, slots, carrier) {
            return false;
        }
        let Some(Arrival { from, word, .. }) = self.ahead.next() else { return false };
        self.landed += 1;
        let quarter = self.quarter();
        if self.landed.is_multiple_of(quarter) || self.ahead.peek().is_none() {
            carrier.tell(from, word, (number % quarter + 1) as u64);
        }
        true
    }

    /// A slot has been emptied. Of each quarter of them, those who send there next are told together, so that three
    /// quarters are always free or full.
    fn tell(&mut self, carrier: &mut impl Carrier) {
        let quarter = self.quarter();
        if self.notice == Notice::Landed || !self.emptied.is_multiple_of(quarter) {
            return;
        }
        let mut senders = [(0, 0, 0); MOST_TOLD_OF];
        let mut count = 0;
        for Arrival { from, word, .. } in self.ahead.by_ref().take(quarter) {
            match senders[..count].iter_mut().find(|sender| (sender.0, sender.1) == (from, word)) {
                Some(sender) => sender.2 += 1,
                None => {
                    senders[count] = (from, word, 1);
                    count += 1;
                }
            }
        }
        senders[..count].iter().for_each(|(rank, word, chunks)| carrier.tell(*rank, *word, *chunks));
    }

    /// How many chunks are told of together.
    fn quarter(&self) -> usize {
        (self.slots / 4).clamp(1, MOST_TOLD_OF)
    }
}

/// Whether the arrival with a number has come: its slot has been written so many times that it has been written by this one.
fn has_come(number: usize, slots: usize, carrier: &impl Carrier) -> bool {
    carrier.come(number % slots) > (number / slots) as u64
}

#[cfg(test)]
mod tests;
