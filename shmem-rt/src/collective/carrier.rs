//! What carries out the orders of a [cursor](super::cursor).

use super::plan::{Departure, Place};

/// A PE's window, its words, and its way to the others, which are called by their ranks.
pub(super) trait Carrier {
    /// How many chunks have come to a slot.
    fn come(&self, slot: usize) -> u64;

    /// What a word says that may be sent.
    fn told(&self, word: usize) -> u64;

    /// Sends a chunk to a slot of its receiver, and counts it there behind it.
    fn send(&mut self, departure: &Departure, slot: usize);

    /// Tells a member, in a word of it, that so many more chunks may come.
    fn tell(&mut self, rank: usize, word: usize, chunks: u64);

    /// Copies a chunk to where it belongs.
    fn keep(&mut self, slot: usize, into: Place);

    /// Combines what lies at a place with chunks that have come to some slots one behind the other, round the window,
    /// from `first` on. `members` of a group are there, of whom this one is number `mine`, and what has come is of
    /// the ones before it, round the group.
    fn combine(&mut self, first: usize, members: usize, mine: usize, into: Place);
}
