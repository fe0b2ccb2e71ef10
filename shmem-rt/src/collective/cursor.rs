//! How far a member has come in a plan.

use core::iter::{Peekable, Skip};

use super::carrier::Carrier;
use super::plan::{Arrival, Departure, Fate};

/// Most slots that are told of together.
const MOST_TOLD_OF: usize = 4;

/// How far a member has come in a [plan](super::plan): what it sends next, what comes next, and what it has not said
/// yet of slots that are empty again. It waits for nothing.
pub(super) struct Cursor<D: Iterator, A: Iterator> {
    departures: Peekable<D>,
    arrivals: Peekable<A>,
    /// The arrivals that will lie in slots which are emptied now.
    ahead: Skip<A>,
    slots: usize,
    /// Departures that were sent.
    sent: usize,
    /// Arrivals whose slots have been emptied.
    emptied: usize,
    /// Arrivals behind these that lie in their slots.
    awaited: usize,
}

impl<D: Iterator<Item = Departure>, A: Iterator<Item = Arrival>> Cursor<D, A> {
    /// At the beginning. The arrivals are given twice.
    pub(super) fn new(departures: D, arrivals: [A; 2], slots: usize) -> Self {
        let [arrivals, ahead] = arrivals;
        let (departures, arrivals, ahead) = (departures.peekable(), arrivals.peekable(), ahead.skip(slots));
        Self { departures, arrivals, ahead, slots, sent: 0, emptied: 0, awaited: 0 }
    }

    /// A number that changes when something was done.
    pub(super) fn moved(&self) -> usize {
        self.sent + self.emptied + self.awaited
    }

    /// Does all that can be done now. Whether that was the last of it.
    pub(super) fn poll(&mut self, carrier: &mut impl Carrier) -> bool {
        loop {
            let has_sent = self.send(carrier);
            let has_taken = self.take(carrier);
            if !has_sent && !has_taken {
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
        let may = |departure: &Departure| {
            let Departure { after, word, clearance, .. } = *departure;
            emptied >= after && (clearance == 0 || carrier.told(word) >= clearance)
        };
        let Some(departure) = self.departures.next_if(may) else { return false };
        carrier.send(&departure, departure.number % self.slots);
        self.sent += 1;
        true
    }

    /// Takes the next chunk, if it has come.
    fn take(&mut self, carrier: &mut impl Carrier) -> bool {
        let (slots, number) = (self.slots, self.emptied + self.awaited);
        // A slot that has been written so many times has been written by this one.
        let has_come = |_: &Arrival| carrier.come(number % slots) > (number / slots) as u64;
        let Some(arrival) = self.arrivals.next_if(has_come) else { return false };
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

    /// A slot has been emptied. Of each quarter of them, those who send there next are told together, so that three
    /// quarters are always free or full.
    fn tell(&mut self, carrier: &mut impl Carrier) {
        let quarter = (self.slots / 4).clamp(1, MOST_TOLD_OF);
        if !self.emptied.is_multiple_of(quarter) {
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
}

#[cfg(test)]
mod tests;
