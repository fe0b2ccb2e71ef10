//! Lengths of what members have, as all of them know them.

/// How many bytes members have.
#[derive(Clone, Copy)]
pub(super) enum Lengths<'l> {
    /// As many each.
    Equal(usize),
    /// By their ranks.
    Each(&'l [usize]),
}

impl Lengths<'_> {
    /// Those of the member with a rank.
    pub(super) fn of(self, rank: usize) -> usize {
        match self {
            Self::Equal(bytes) => bytes,
            Self::Each(bytes) => bytes[rank],
        }
    }

    /// The most that a member has.
    pub(super) fn longest(self) -> usize {
        match self {
            Self::Equal(bytes) => bytes,
            Self::Each(bytes) => bytes.iter().copied().max().unwrap_or_default(),
        }
    }
}
