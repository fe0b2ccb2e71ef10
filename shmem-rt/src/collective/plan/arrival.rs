use super::Place;

/// A chunk that comes to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Arrival {
    /// The rank that sends it.
    pub(in crate::collective) from: usize,
    /// The word of that rank in which it is told that it may.
    pub(in crate::collective) word: usize,
    /// Where it belongs.
    pub(in crate::collective) into: Place,
    /// What becomes of it.
    pub(in crate::collective) fate: Fate,
}

/// What becomes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) enum Fate {
    /// It is copied to where it belongs.
    Kept,
    /// It stays in its slot until the operands that it is combined with are there.
    Awaited,
    /// It is the last one of a group of `members`, of whom this rank is number `mine`, and what it has lies at the
    /// same place. The others have come in the order `mine - 1`, `mine - 2` .., round the group. All are combined
    /// there.
    Combined { members: usize, mine: usize },
}
