//! The radices of halving and doubling: how many groups become one at each level, and into how many slices a block is cut.

/// Most levels: as many as halve 2^24 ranks.
const MOST_LEVELS: usize = 24;

/// Most slices of a block below the last level: of more, those who hold them send messages that are all gap.
const MOST_SLICES: usize = 64;

/// How many groups of a level make up one of the next. The groups of the first are ranks, and that of the last is all
/// of them.
///
/// All but the last are powers of two, so that a group is one vertex of the tree over ranks
/// ([`tree`](crate::collective::tree)): one value stands for it, and is combined with those of its neighbours alone.
/// Where ranks end, the last group of a level has fewer members, down to a single rank.
///
/// At each level a slice of a block is cut into as many, until there are enough; behind that slices stay whole
/// but for the last level, and one of those who hold them is given all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Radices {
    ranks: usize,
    each: [usize; MOST_LEVELS],
    /// Into how many a slice is cut.
    cuts: [usize; MOST_LEVELS],
    /// The level whose digit of a slice says who of a group is given it.
    deciders: [usize; MOST_LEVELS],
    /// The radices of lower levels multiplied, and the cuts of higher ones.
    distances: [usize; MOST_LEVELS],
    weights: [usize; MOST_LEVELS],
    levels: usize,
}

impl Radices {
    /// Groups that are made one at most: each other member of one needs a slot, and of two chunks at a time.
    pub(in crate::collective) const MOST: usize = 8;

    /// Most levels of any number of ranks.
    pub(super) const MOST_LEVELS: usize = MOST_LEVELS;

    /// Those of so many ranks: of four, which take as many messages as of two and half the rounds, and what is left.
    pub(in crate::collective) fn of(ranks: usize) -> Self {
        assert!(ranks > 0, "of no ranks there is no value");
        let twos = ranks.trailing_zeros();
        let odd = ranks >> twos;
        let mut each = Each { radices: [1; MOST_LEVELS], levels: 0 };
        if odd <= Self::MOST {
            // What is odd is in the last level, beside as many twos as leave few enough. Every group has all members.
            let together = odd > 1 && odd * 2 <= Self::MOST && twos > 0;
            let (twos, last) = if together { (twos - 1, odd * 2) } else { (twos, odd) };
            let fours = core::iter::repeat_n(4, twos as usize / 2);
            fours.chain((twos % 2 == 1).then_some(2)).for_each(|radix| each.push(radix));
            if last > 1 {
                each.push(last);
            }
        } else {
            // Three that are left of four would have to share four slices: of two, two share as many, or one has both.
            let is_uneven = ranks % 4 == 3;
            let mut groups = ranks;
            if is_uneven {
                each.push(2);
                groups = groups.div_ceil(2);
            }
            while groups > Self::MOST {
                each.push(4);
                groups = groups.div_ceil(4);
            }
            each.push(groups);
        }
        each.cut(ranks)
    }

    /// From the first level on.
    pub(in crate::collective) fn each(&self) -> &[usize] {
        &self.each[..self.levels]
    }

    /// How many ranks there are.
    pub(in crate::collective) fn ranks(&self) -> usize {
        self.ranks
    }

    /// How far from each other the members of a group of a level are: so many ranks are each of them.
    pub(in crate::collective) fn distance(&self, level: usize) -> usize {
        self.distances[level]
    }

    /// Into how many slices each is cut at a level; 1 where it stays whole.
    pub(in crate::collective) fn cut(&self, level: usize) -> usize {
        self.cuts[level]
    }

    /// The level whose digit of a slice says which member of a group is given it at a level: this one, if it is cut.
    pub(in crate::collective) fn decider(&self, level: usize) -> usize {
        self.deciders[level]
    }

    /// What one more makes of the number of a slice at a level: all that it is cut into further on.
    pub(in crate::collective) fn weight(&self, level: usize) -> usize {
        self.weights[level]
    }

    /// Which of those that a slice was cut into at a level one is.
    pub(in crate::collective) fn digit(&self, slice: usize, level: usize) -> usize {
        slice / self.weight(level) % self.cut(level)
    }
}

/// Radices that are being chosen.
struct Each {
    radices: [usize; MOST_LEVELS],
    levels: usize,
}

impl Each {
    fn push(&mut self, radix: usize) {
        self.radices[self.levels] = radix;
        self.levels += 1;
    }

    /// With what slices are cut into.
    fn cut(self, ranks: usize) -> Radices {
        let Self { radices: each, levels } = self;
        let (mut cuts, mut deciders) = ([1; MOST_LEVELS], [0; MOST_LEVELS]);
        let (mut slices, mut lower, mut whole) = (1, [0; MOST_LEVELS], 0);
        let mut cut_levels = 0;
        for level in 0..levels {
            if slices * each[level] <= MOST_SLICES || level + 1 == levels {
                (cuts[level], deciders[level]) = (each[level], level);
                slices *= each[level];
                lower[cut_levels] = level;
                cut_levels += 1;
            } else {
                // Another digit each time, so that slices come to other members, on other nodes.
                deciders[level] = lower[whole % cut_levels];
                whole += 1;
            }
        }
        let (mut distances, mut weights) = ([1; MOST_LEVELS], [1; MOST_LEVELS]);
        for level in 1..levels {
            distances[level] = distances[level - 1] * each[level - 1];
        }
        for level in (1..levels).rev() {
            weights[level - 1] = weights[level] * cuts[level];
        }
        Radices { ranks, each, cuts, deciders, distances, weights, levels }
    }
}
