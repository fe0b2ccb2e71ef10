//! Whether all members have come with one number, found by one reduction.

/// What members say of a number, which has its complement beside it: the largest of both, of all members, are those of one
/// number if they have come with the same.
pub(super) struct Alike(pub(super) [u64; 2]);

impl Alike {
    /// What one says who has come with a number, or with none.
    pub(super) fn of(number: Option<u64>) -> Self {
        Self(number.map_or([u64::MAX; 2], |number| [number, !number]))
    }

    /// Whether all have come with one.
    pub(super) fn is_one(&self) -> bool {
        let [highest, lowest] = self.0;
        highest == !lowest
    }
}
