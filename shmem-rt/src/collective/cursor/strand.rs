use core::iter::{Peekable, Skip};

use shmem_core::primitive::mutant;

use crate::collective::carrier::Carrier;
use crate::collective::plan::{Arrival, Departure, Fate};

/// Most slots that are told of together.
const MOST_TOLD_OF: usize = 4;

/// How far a member has come in a strand of a [plan](crate::collective::plan): what it sends next, what comes next, and of which
/// slots it has not said yet that they are empty again.
pub(super) struct Strand<D: Iterator, A: Iterator> {
    departures: Peekable<D>,
    arrivals: Peekable<A>,
    /// The arrivals of which those who send them are told next.
    ahead: Skip<A>,
    /// Slots of this strand.
    slots: usize,
    /// Of how many strands it is which one.
    turn: (usize, usize),
    /// Departures that were sent.
    sent: usize,
    /// Arrivals whose slots have been emptied.
    emptied: usize,
    /// Arrivals behind these that lie in their slots.
    awaited: usize,
}

impl<D: Iterator<Item = Departure>, A: Iterator<Item = Arrival>> Strand<D, A> {
    /// At the beginning. The arrivals are given twice. Strands have slots of their window in turn.
    pub(super) fn new(
        (departures, [arrivals, ahead]): (D, [A; 2]),
        (which, strands): (usize, usize),
        slots: usize,
    ) -> Self {
        let (turn, slots) = ((which, strands), slots / strands);
        let (departures, arrivals) = (departures.peekable(), arrivals.peekable());
        // A slot that is emptied is told to who sends the chunk which will lie there.
        let ahead = ahead.skip(slots);
        Self { departures, arrivals, ahead, slots, turn, sent: 0, emptied: 0, awaited: 0 }
    }

    /// A number that changes when something was done.
    pub(super) fn moved(&self) -> usize {
        self.sent + self.emptied + self.awaited
    }

    /// Does what can be done next, if there is such a thing.
    pub(super) fn step(&mut self, carrier: &mut impl Carrier) -> bool {
        self.send(carrier) || self.take(carrier)
    }

    /// Whether nothing is left to do.
    pub(super) fn is_over(&mut self) -> bool {
        self.departures.peek().is_none() && self.arrivals.peek().is_none()
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
        carrier.send(&departure, self.slot(departure.number));
        self.sent += 1;
        true
    }

    /// Takes the next chunk, if it has come.
    fn take(&mut self, carrier: &mut impl Carrier) -> bool {
        let number = self.emptied + self.awaited;
        // Its slot has been written so many times that it has been written by this one.
        let has_come = carrier.come(self.slot(number)) > (number / self.slots) as u64;
        let Some(arrival) = self.arrivals.next_if(|_| has_come) else { return false };
        match arrival.fate {
            Fate::Kept => carrier.keep(self.slot(number), arrival.into),
            Fate::Awaited => {
                self.awaited += 1;
                return true;
            }
            Fate::Combined { members, mine } => {
                carrier.combine(self.slot(self.emptied), members, mine, arrival.into)
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

    /// The slot of an arrival with a number.
    fn slot(&self, number: usize) -> usize {
        let (which, strands) = self.turn;
        number % self.slots * strands + which
    }
}
