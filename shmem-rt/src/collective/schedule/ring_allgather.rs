//! Ring allgather: each rank's block passes from rank to rank.
//!
//! In turn `t` a rank sends the block of the rank `t` before it: first its own, then the block that it received one turn before.
//!
//! Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in MPICH", 2005.

use super::{Chunks, Memory, Place, RecvStep, Schedule, SendStep, Then};

pub(in crate::collective) struct RingAllgather {
    ranks: usize,
    rank: usize,
    chunks: Chunks,
    slots: usize,
}

impl RingAllgather {
    /// Returns the schedule of `rank`. The source is the block of that rank; the result receives the blocks of all ranks.
    pub(in crate::collective) fn new(ranks: usize, rank: usize, chunks: Chunks, slots: usize) -> Self {
        Self { ranks, rank, chunks, slots }
    }

    /// Returns (turn, chunk index) of every send; receives have the same sequence.
    fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.ranks - 1).flat_map(|turn| (0..self.chunks.count()).map(move |chunk| (turn, chunk)))
    }

    /// Returns the place of a chunk in the block of the rank `before` ranks before this one.
    fn at(&self, before: usize, chunk: usize) -> Place {
        let block = (self.rank + self.ranks - before) % self.ranks;
        Place::of(Memory::Result, block * self.chunks.bytes, self.chunks.range(chunk))
    }
}

impl Schedule for RingAllgather {
    fn sends(&self) -> impl Iterator<Item = SendStep> {
        self.steps().map(|(turn, chunk)| {
            let number = turn * self.chunks.count() + chunk;
            SendStep {
                to: (self.rank + 1) % self.ranks,
                number,
                from: match turn {
                    0 => Place::of(Memory::Source, 0, self.chunks.range(chunk)),
                    _ => self.at(turn, chunk),
                },
                lands: Some(self.at(turn, chunk).at),
                after: (number + 1).saturating_sub(self.chunks.count()),
                credit: 0,
                needs: (number + 1).saturating_sub(self.slots) as u64,
            }
        })
    }

    fn receives(&self) -> impl Iterator<Item = RecvStep> {
        let from = (self.rank + self.ranks - 1) % self.ranks;
        self.steps().map(move |(turn, chunk)| RecvStep {
            from,
            credit: 0,
            into: self.at(turn + 1, chunk),
            then: Then::Copy,
        })
    }

    fn credits(&self) -> usize {
        1
    }
}
