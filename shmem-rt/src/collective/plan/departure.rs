use super::Place;

/// A chunk that a rank sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Departure {
    /// The rank that it goes to.
    pub(in crate::collective) to: usize,
    /// Which of that rank's arrivals it is.
    pub(in crate::collective) number: usize,
    /// Where it lies.
    pub(in crate::collective) from: Place,
    /// Where in the result of its receiver it belongs, if it is [kept](super::Fate::Kept) there as it is.
    pub(in crate::collective) lands: Option<usize>,
    /// How many of its own arrivals the sender must have emptied before: of those the chunk is made.
    pub(in crate::collective) after: usize,
    /// The sender's word in which it is told what it may send.
    pub(in crate::collective) word: usize,
    /// What that word must say, at least; 0 of chunks for which there is a slot from the start.
    pub(in crate::collective) clearance: u64,
}
