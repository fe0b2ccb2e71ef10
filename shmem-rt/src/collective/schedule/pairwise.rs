//! Pairwise exchange: in step `t` each rank sends its part for the rank `t` further on, and receives one from the rank `t` before.
//!
//! So each rank receives from one rank at a time.
//!
//! Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in MPICH", 2005.

use shmem_core::system_area::MOST_CREDITS;

use super::{Chunks, Memory, Place, RecvStep, Schedule, SendStep, Then};

pub(in crate::collective) struct Pairwise {
    ranks: usize,
    rank: usize,
    chunks: Chunks,
    slots: usize,
}

impl Pairwise {
    /// Maximum number of ranks, because a rank has one credit counter for each other rank.
    pub(in crate::collective) const MOST_RANKS: usize = MOST_CREDITS + 1;

    /// Returns the schedule of `rank`. The source contains the parts for all ranks; the result receives the parts from all ranks.
    pub(in crate::collective) fn new(ranks: usize, rank: usize, chunks: Chunks, slots: usize) -> Self {
        Self { ranks, rank, chunks, slots }
    }

    /// Returns (distance, chunk index) of every send; receives have the same sequence.
    fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        (1..self.ranks).flat_map(|distance| (0..self.chunks.count()).map(move |chunk| (distance, chunk)))
    }

    fn at(&self, memory: Memory, rank: usize, chunk: usize) -> Place {
        Place::of(memory, rank * self.chunks.bytes, self.chunks.range(chunk))
    }
}

impl Schedule for Pairwise {
    fn sends(&self) -> impl Iterator<Item = SendStep> {
        self.steps().map(|(distance, chunk)| {
            let to = (self.rank + distance) % self.ranks;
            let first = (distance - 1) * self.chunks.count();
            SendStep {
                to,
                number: first + chunk,
                from: self.at(Memory::Source, to, chunk),
                lands: Some(self.at(Memory::Result, self.rank, chunk).at),
                after: 0,
                credit: distance - 1,
                needs: (first + chunk + 1).saturating_sub(first.max(self.slots)) as u64,
            }
        })
    }

    fn receives(&self) -> impl Iterator<Item = RecvStep> {
        self.steps().map(|(distance, chunk)| {
            let from = (self.rank + self.ranks - distance) % self.ranks;
            RecvStep {
                from,
                credit: distance - 1,
                into: self.at(Memory::Result, from, chunk),
                then: Then::Copy,
            }
        })
    }

    fn credits(&self) -> usize {
        self.ranks - 1
    }
}
