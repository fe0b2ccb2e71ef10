//! Whose contributions make a result.

use crate::group::Team;

/// Whose contributions a member combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Those of all members.
    All,
    /// Those of lower ranks, and its own.
    UpTo,
    /// Those of lower ranks.
    Before,
}

impl Extent {
    /// How many they are, from the lowest rank on.
    pub(super) fn members(self, team: &Team) -> usize {
        self.members_up_to(team.rank(), team.size())
    }

    /// How many they are for one rank of so many.
    pub(super) fn members_up_to(self, rank: usize, members: usize) -> usize {
        match self {
            Self::All => members,
            Self::UpTo => rank + 1,
            Self::Before => rank,
        }
    }
}
