use super::{Arrival, Chunks, Departure, Fate, Memory, Place, Plan};

/// A broadcast along one of two trees of the ranks: every second chunk, which the root gives to the top of that. A rank that
/// has others below it in one tree has none in the other, so that each sends no more than the root does. The root sends
/// each chunk once. What goes along one tree waits for nothing in the other: in each a rank is as far from the root as it is there, and
/// all that it is sent comes at the pace of the root. (Sanders, Speck, Träff: Two-tree algorithms for full bandwidth broadcast,
/// 2009.)
///
/// The ranks but the root are numbered from 1 on. In the first tree, which is in order, those with odd numbers are
/// leaves. The second is the first one with the numbers turned round, or, of an odd count, moved on by one: leaves
/// are those with even numbers, and at most one rank is a leaf of both. Of two ranks there is one way.
pub(in crate::collective) struct Tree {
    ranks: usize,
    root: usize,
    /// The number of this rank behind the root, whose own is 0.
    number: usize,
    /// Which of the two it is.
    way: usize,
    /// All chunks, of both.
    chunks: Chunks,
    /// Slots for those of this one.
    slots: usize,
}

impl Tree {
    /// Both for `rank`, in a window of an even number of slots. Of two ranks the first has all chunks.
    pub(in crate::collective) fn both(
        ranks: usize,
        rank: usize,
        root: usize,
        chunks: Chunks,
        slots: usize,
    ) -> [Self; 2] {
        assert!(ranks > 1 && slots.is_multiple_of(2), "{ranks} ranks, {slots} slots");
        let (number, slots) = ((rank + ranks - root) % ranks, slots / Self::ways(ranks));
        [0, 1].map(|way| Self { ranks, root, number, way, chunks, slots })
    }

    /// How many there are, which chunks take in turn.
    pub(in crate::collective) fn ways(ranks: usize) -> usize {
        (ranks - 1).min(2)
    }

    /// Ranks but the root.
    fn others(&self) -> usize {
        self.ranks - 1
    }

    fn rank(&self, number: usize) -> usize {
        (self.root + number) % self.ranks
    }

    /// The place of who has a number, as in the first tree; and back.
    fn place(&self, number: usize) -> usize {
        match (self.way, self.others() % 2) {
            (0, _) => number,
            (_, 0) => self.ranks - number,
            _ => number % self.others() + 1,
        }
    }

    fn number(&self, place: usize) -> usize {
        match (self.way, self.others() % 2) {
            (0, _) => place,
            (_, 0) => self.ranks - place,
            _ => (place + self.others() - 2) % self.others() + 1,
        }
    }

    /// Who is above this rank, and which of those below it this one is.
    fn above(&self) -> (usize, usize) {
        let place = self.place(self.number);
        let mut at = top(self.others());
        if at == place {
            return (0, self.way);
        }
        loop {
            let [left, right] = below(at, self.others());
            let side = usize::from(place > at);
            let next = if side == 0 { left } else { right };
            if next == Some(place) {
                return (self.number(at), side);
            }
            at = next.unwrap_or_else(|| unreachable!("place {place} is in a tree of {}", self.others()));
        }
    }

    /// Who is below this rank.
    fn below(&self) -> [Option<usize>; 2] {
        if self.number == 0 {
            let mut tops = [None; 2];
            tops[self.way] = Some(self.number(top(self.others())));
            return tops;
        }
        below(self.place(self.number), self.others()).map(|place| Some(self.number(place?)))
    }

    /// Where its chunks lie.
    fn places(&self) -> impl Iterator<Item = Place> {
        let chunks = (self.way..self.chunks.count()).step_by(Self::ways(self.ranks));
        chunks.map(|chunk| Place::of(Memory::Result, 0, self.chunks.range(chunk)))
    }
}

impl Plan for Tree {
    fn departures(&self) -> impl Iterator<Item = Departure> {
        let below = self.below();
        self.places().enumerate().flat_map(move |(number, place)| {
            let below = below.into_iter().enumerate();
            below.filter_map(move |(word, to)| {
                Some(Departure {
                    to: self.rank(to?),
                    number,
                    from: place,
                    lands: Some(place.at),
                    after: if self.number == 0 { 0 } else { number + 1 },
                    word,
                    clearance: (number + 1).saturating_sub(self.slots) as u64,
                })
            })
        })
    }

    fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        let above = (self.number > 0).then(|| self.above());
        let come =
            above.into_iter().flat_map(|(number, word)| self.places().map(move |into| (number, word, into)));
        come.map(|(number, word, into)| Arrival { from: self.rank(number), word, into, fate: Fate::Kept })
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
