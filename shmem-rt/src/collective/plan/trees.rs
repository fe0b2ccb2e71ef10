use super::{Arrival, Chunks, Departure, Fate, Memory, Place, Plan};

/// A broadcast: every second chunk goes along one of two trees of the ranks, and the root gives it to the top of
/// that. A rank that has others below it in one tree has none in the other, so that each sends no more than the root
/// does. The root sends each chunk once. (Sanders, Speck, Träff: Two-tree algorithms for full bandwidth broadcast,
/// 2009.)
///
/// The ranks but the root are numbered from 1 on. In the first tree, which is in order, those with odd numbers are
/// leaves. The second is the first one with the numbers turned round, or, of an odd count, moved on by one: leaves
/// are those with even numbers, and at most one rank is a leaf of both. Of two ranks there is one way.
pub(in crate::collective) struct Trees {
    ranks: usize,
    root: usize,
    /// The number of this rank behind the root, whose own is 0.
    number: usize,
    chunks: Chunks,
    slots: usize,
}

impl Trees {
    /// For `rank`, in a window of an even number of slots.
    pub(in crate::collective) fn new(
        ranks: usize,
        rank: usize,
        root: usize,
        chunks: Chunks,
        slots: usize,
    ) -> Self {
        assert!(ranks > 1 && slots.is_multiple_of(2), "{ranks} ranks, {slots} slots");
        Self { ranks, root, number: (rank + ranks - root) % ranks, chunks, slots }
    }

    /// Ranks but the root.
    fn others(&self) -> usize {
        self.ranks - 1
    }

    /// How many ways there are, which chunks take in turn.
    fn ways(&self) -> usize {
        self.others().min(2)
    }

    fn rank(&self, number: usize) -> usize {
        (self.root + number) % self.ranks
    }

    /// The place in the first tree of who has a number, for the way with a number; and back.
    fn place(&self, way: usize, number: usize) -> usize {
        match (way, self.others() % 2) {
            (0, _) => number,
            (_, 0) => self.ranks - number,
            _ => number % self.others() + 1,
        }
    }

    fn number(&self, way: usize, place: usize) -> usize {
        match (way, self.others() % 2) {
            (0, _) => place,
            (_, 0) => self.ranks - place,
            _ => (place + self.others() - 2) % self.others() + 1,
        }
    }

    /// Who is above a rank on a way, and which of those below it this one is.
    fn above(&self, way: usize, number: usize) -> (usize, usize) {
        let place = self.place(way, number);
        let mut at = top(self.others());
        if at == place {
            return (0, way);
        }
        loop {
            let [left, right] = below(at, self.others());
            let side = usize::from(place > at);
            let next = if side == 0 { left } else { right };
            if next == Some(place) {
                return (self.number(way, at), side);
            }
            at = next.unwrap_or_else(|| unreachable!("place {place} is in a tree of {}", self.others()));
        }
    }

    /// Who is below a rank on a way.
    fn below(&self, way: usize) -> [Option<usize>; 2] {
        if self.number == 0 {
            let mut tops = [None; 2];
            tops[way] = Some(self.number(way, top(self.others())));
            return tops;
        }
        below(self.place(way, self.number), self.others()).map(|place| Some(self.number(way, place?)))
    }

    fn at(&self, chunk: usize) -> Place {
        Place::of(Memory::Result, 0, self.chunks.range(chunk))
    }
}

impl Plan for Trees {
    fn departures(&self) -> impl Iterator<Item = Departure> {
        let below = [0, 1].map(|way| if way < self.ways() { self.below(way) } else { [None; 2] });
        (0..self.chunks.count()).flat_map(move |chunk| {
            let numbers = below[chunk % self.ways()].into_iter().enumerate();
            numbers.filter_map(move |(word, number)| {
                Some(Departure {
                    to: self.rank(number?),
                    number: chunk,
                    from: self.at(chunk),
                    lands: Some(self.at(chunk).at),
                    after: if self.number == 0 { 0 } else { chunk + 1 },
                    word,
                    clearance: chunk.checked_sub(self.slots).map_or(0, |late| late / self.ways() + 1) as u64,
                })
            })
        })
    }

    fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        let count = if self.number == 0 { 0 } else { self.chunks.count() };
        let above = [0, 1]
            .map(|way| if way < self.ways() && count > 0 { self.above(way, self.number) } else { (0, 0) });
        (0..count).map(move |chunk| {
            let (number, word) = above[chunk % self.ways()];
            Arrival { from: self.rank(number), word, into: self.at(chunk), fate: Fate::Kept }
        })
    }

    fn words(&self) -> usize {
        2
    }
}

/// The top of a tree in order whose places are 1 to `places`: those that can be halved most often are highest.
fn top(places: usize) -> usize {
    1 << places.ilog2()
}

/// The places below one on the left and on the right: tops of what is left of it, as far as the next higher one, and
/// what is right of it.
fn below(place: usize, places: usize) -> [Option<usize>; 2] {
    let reach = 1 << place.trailing_zeros();
    let right = (reach - 1).min(places - place);
    [(reach > 1).then(|| place - reach / 2), (right > 0).then(|| place + top(right))]
}
