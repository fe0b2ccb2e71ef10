//! How far a member has come in a plan.

use super::carrier::Carrier;
use super::plan::{Arrival, Departure};

mod strand;

use strand::Strand;

/// How far a member has come in a [plan](super::plan). It waits for nothing, and no strand for another one.
pub(super) struct Cursor<D: Iterator, A: Iterator> {
    strands: [Option<Strand<D, A>>; 2],
}

impl<D: Iterator<Item = Departure>, A: Iterator<Item = Arrival>> Cursor<D, A> {
    /// At the beginning of one strand, or two that share a window of so many slots. Of each the departures are given, and the
    /// arrivals twice.
    pub(super) fn new(strands: impl ExactSizeIterator<Item = (D, [A; 2])>, slots: usize) -> Self {
        let (count, mut strands) = (strands.len(), strands.enumerate());
        let next = |_| strands.next().map(|(which, strand)| Strand::new(strand, (which, count), slots));
        Self { strands: [0, 1].map(next) }
    }

    /// A number that changes when something was done.
    pub(super) fn moved(&self) -> usize {
        self.strands.iter().flatten().map(Strand::moved).sum()
    }

    /// Does all that can be done now. Whether that was the last of it.
    pub(super) fn poll(&mut self, carrier: &mut impl Carrier) -> bool {
        loop {
            // In turn, so that whoever sends in both, the root, serves both.
            let moved = |moved, strand: &mut Strand<D, A>| strand.step(carrier) || moved;
            if !self.strands.iter_mut().flatten().fold(false, moved) {
                return self.strands.iter_mut().flatten().all(Strand::is_over);
            }
        }
    }

    /// Whose chunk comes next, or else who has yet to say that it may be sent the next one.
    pub(super) fn awaited(&mut self) -> Option<usize> {
        self.strands.iter_mut().flatten().find_map(Strand::awaited)
    }
}

#[cfg(test)]
mod tests;
