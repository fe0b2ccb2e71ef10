//! Limits of messages in flight, and how transfers are cut into messages.

use super::message::{BEFORE_ANSWER, INDEX, MOST_BEFORE_DATA, MOST_BESIDE_ELEMENTS};

/// The least allowed [`Limits::message`]: room for a put's fields and some data.
pub(super) const LEAST_MESSAGE: usize = 512;

/// Limits of messages in flight. The same on all PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most unanswered messages from one PE to another.
    pub window: u16,
    /// Most bytes of a message, at least [`LEAST_MESSAGE`].
    pub message: usize,
    /// Most PEs that get slots for long messages.
    pub grants: usize,
    /// Most bytes of a message in a slot. Shorter messages overlap better, longer ones cost less.
    pub slot: usize,
    /// Most unanswered list requests from one PE to another: their results take at most 64 KiB per sender.
    pub lists: u16,
    /// Most bytes of a list request's result.
    pub asked: usize,
}

impl Limits {
    /// Messages so long that their number costs little, and so short that packing, sending and unpacking overlap.
    pub const DEFAULT: Self =
        Self { window: 64, message: 64 << 10, grants: 0, slot: 64 << 10, lists: 4, asked: 16 << 10 };

    /// The limits with messages of at most `most` bytes.
    #[must_use]
    pub fn with_message_of(self, most: usize) -> Self {
        Self { message: self.message.min(most), slot: self.slot.min(most), ..self }
    }

    /// Bytes of the longest message, in a slot or not.
    pub fn longest(&self) -> usize {
        if self.grants > 0 { self.message.max(self.slot) } else { self.message }
    }

    /// Most bytes of a message that fits both a slot and the wire.
    pub(super) fn least(&self) -> usize {
        self.message.min(self.slot)
    }

    /// Bytes of blocks for which each message of a transfer of `bytes` bytes has room, with a grant or without.
    pub fn carries(&self, bytes: usize, borrows: bool) -> usize {
        self.message_for(borrows && self.lends(bytes)) - MOST_BEFORE_DATA
    }

    /// Whether a transfer of `bytes` bytes uses slots, if there are some.
    pub(super) fn lends(&self, bytes: usize) -> bool {
        self.grants > 0 && bytes + MOST_BEFORE_DATA > self.message
    }

    /// Most bytes of each message of a transfer.
    pub(super) fn message_for(&self, borrows: bool) -> usize {
        if borrows { self.slot } else { self.message }
    }

    /// Most bytes of the result of one request for a list.
    pub(super) fn answer(&self) -> usize {
        self.asked.min(self.message - BEFORE_ANSWER)
    }

    /// Whether a message has room for an element of `size` bytes, in a slot or not.
    pub fn places(&self, size: usize) -> bool {
        MOST_BESIDE_ELEMENTS + INDEX + size <= self.least()
    }

    /// Whether elements of `size` bytes may be requested.
    pub fn picks(&self, size: usize) -> bool {
        size <= self.answer()
    }

    /// Most elements in a message that writes a list, at `each` bytes per element.
    pub(super) fn sent(&self, each: usize, borrows: bool) -> usize {
        (self.message_for(borrows) - MOST_BESIDE_ELEMENTS) / each
    }

    /// Most elements of `size` bytes in one request, at `each` request bytes each.
    pub(super) fn wanted(&self, size: usize, each: usize) -> usize {
        let request = self.message - MOST_BESIDE_ELEMENTS;
        // Positions of results take as many bytes as indices do.
        (self.answer() / size.max(INDEX)).min(request / each)
    }
}
