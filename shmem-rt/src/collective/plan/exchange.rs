use super::{Arrival, Chunks, Departure, Fate, Memory, Notice, Place, Plan};

/// A reduction of two ranks: each sends the other one all that it has, and combines what comes where its own lies. By
/// [levels](super::Levels) as many bytes would go, but half of them would wait until the other half has come. Of more ranks
/// each would send `M - 1` times what it has, and by levels less than twice that.
///
/// **A result is written where an operand was sent from.** So what each is told is not that a slot is free, but that
/// its own chunks have [landed](Notice::Landed), and a chunk that has come is combined only when that is said of the own
/// one with the same number: nobody reads there any more.
///
/// **Slots.** Chunk `k` is told of when it has landed and chunk `k - slots / 2` has been combined, which empties its slot. So
/// who is told of chunk `k` may send chunk `k + slots / 2`: that one's slot was the slot of chunk `k - slots / 2`.
///
/// **No circle.** Chunks are told of some at a time, a quarter of the slots at most. Telling of those that end with chunk `k`
/// waits for chunk `k` to come, which was sent when chunk `k - slots / 2` was told of, at the latest with the quarter behind that;
/// and for chunk `k - slots / 2` to be combined, which waits for the same of the other rank. Both are told of before chunk `k`.
pub(in crate::collective) struct Exchange {
    rank: usize,
    chunks: Chunks,
    slots: usize,
}

impl Exchange {
    /// Ranks that there are.
    pub(in crate::collective) const RANKS: usize = 2;

    /// For `rank`, of chunks that end between items.
    pub(in crate::collective) fn new(rank: usize, chunks: Chunks, slots: usize) -> Self {
        Self { rank, chunks, slots }
    }

    fn other(&self) -> usize {
        Self::RANKS - 1 - self.rank
    }

    fn at(&self, chunk: usize) -> Place {
        Place::of(Memory::Result, 0, self.chunks.range(chunk))
    }
}

impl Plan for Exchange {
    fn departures(&self) -> impl Iterator<Item = Departure> {
        (0..self.chunks.count()).map(|chunk| Departure {
            to: self.other(),
            number: chunk,
            from: self.at(chunk),
            lands: None,
            after: 0,
            word: 0,
            clearance: if chunk < self.slots { 0 } else { (chunk - self.slots / 2 + 1) as u64 },
        })
    }

    fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        (0..self.chunks.count()).map(|chunk| Arrival {
            from: self.other(),
            word: 0,
            into: self.at(chunk),
            fate: Fate::Combined { members: Self::RANKS, mine: self.rank },
        })
    }

    fn words(&self) -> usize {
        1
    }

    fn notice(&self) -> Notice {
        Notice::Landed
    }
}
