//! A number, and where it lies.

/// A number that members of a team have found together ([`min_at`](crate::Team::min_at)), and where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located<N> {
    /// The number.
    pub value: N,
    /// The rank of the member that has it; in a world, the number of the PE.
    pub rank: usize,
    /// Its place in what that member has given.
    pub index: usize,
}
