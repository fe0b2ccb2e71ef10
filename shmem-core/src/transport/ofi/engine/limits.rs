//! How much is under way at a time, and how it is cut into messages.

use super::message::{BEFORE_ANSWER, INDEX, MOST_BEFORE_DATA, MOST_BESIDE_ELEMENTS};

/// The least that a message must be able to have: a put's head and some data.
pub(crate) const LEAST_MESSAGE: usize = 512;

/// How much is under way at a time. The same on all PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages from one PE to another that have not been answered.
    pub window: u16,
    /// Bytes of a message, at least [`LEAST_MESSAGE`].
    pub message: usize,
    /// PEs that memory for long messages is lent to.
    pub grants: usize,
    /// Bytes of a message that goes through it. More of them overlap better, fewer cost less.
    pub slot: usize,
    /// Lists that one PE has asked of another, and that have not been answered: so few that what all PEs may ask for at a time comes to
    /// 64 KiB for each.
    pub lists: u16,
    /// Bytes that such a list brings.
    pub asked: usize,
}

impl Limits {
    /// Parts so long that the time of a message is small against that of its bytes, and so short that packing,
    /// the wire and unpacking go on at the same time.
    pub const DEFAULT: Self =
        Self { window: 64, message: 64 << 10, grants: 0, slot: 64 << 10, lists: 4, asked: 16 << 10 };

    /// With messages of at most so many bytes.
    #[must_use]
    pub fn with_message_of(self, most: usize) -> Self {
        Self { message: self.message.min(most), slot: self.slot.min(most), ..self }
    }

    /// Bytes of the longest message, whichever way it goes.
    pub fn longest(&self) -> usize {
        if self.grants > 0 { self.message.max(self.slot) } else { self.message }
    }

    /// Bytes of the shortest of the longest, by the way that they go.
    pub(super) fn least(&self) -> usize {
        self.message.min(self.slot)
    }

    /// Bytes of blocks that each message of a transfer of so many bytes carries, at least: to a PE that has lent memory
    /// for them, or to one that has not.
    pub fn carries(&self, bytes: usize, borrows: bool) -> usize {
        self.message_for(borrows && self.lends(bytes)) - MOST_BEFORE_DATA
    }

    /// Whether so many bytes go through memory that is lent, where there is some.
    pub(super) fn lends(&self, bytes: usize) -> bool {
        self.grants > 0 && bytes + MOST_BEFORE_DATA > self.message
    }

    /// Bytes of the messages that a transfer is cut into.
    pub(super) fn message_for(&self, borrows: bool) -> usize {
        if borrows { self.slot } else { self.message }
    }

    /// Bytes of a list that may be asked for at a time.
    pub(super) fn answer(&self) -> usize {
        self.asked.min(self.message - BEFORE_ANSWER)
    }

    /// Whether a message has room for an element of so many bytes, whichever way it goes.
    pub fn places(&self, size: usize) -> bool {
        MOST_BESIDE_ELEMENTS + INDEX + size <= self.least()
    }

    /// Whether elements of so many bytes may be asked for, of any PE.
    pub fn picks(&self, size: usize) -> bool {
        size <= self.answer()
    }

    /// Elements that a message of a list brings, each of which takes so many bytes of it.
    pub(super) fn sent(&self, each: usize, borrows: bool) -> usize {
        (self.message_for(borrows) - MOST_BESIDE_ELEMENTS) / each
    }

    /// Elements of `size` bytes that are asked for at a time, each of which takes so many bytes of the request.
    pub(super) fn wanted(&self, size: usize, each: usize) -> usize {
        let request = self.message - MOST_BESIDE_ELEMENTS;
        // Where they go takes as many bytes as indices do.
        (self.answer() / size.max(INDEX)).min(request / each)
    }
}
