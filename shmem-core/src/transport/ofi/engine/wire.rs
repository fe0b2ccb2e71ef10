//! The engine's interface to the network, and errors of received messages.

use thiserror::Error;

use super::bounce_slots::{BounceSlot, Region};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The wire has taken the message, and delivers it.
    Done,
    /// There is no room now, and nothing was sent.
    Full,
}

/// Carries messages to every other PE.
///
/// A wire must lose no message and deliver none twice. Messages from one PE to another may overtake each other. If a wire breaks
/// these rules, memory stays safe: a thread that waits for a lost message waits for ever, and an answer to a message that was [not
/// sent](Sent::Full) ends the program.
pub(crate) trait Wire {
    /// Sends a message of `bytes` bytes to a PE, if there is room. `write`, called at most once, encodes the message in a buffer of
    /// that size. This method makes no progress, and does not wait.
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent;

    /// Whether this wire reaches a PE. Messages from PEs that it does not reach are refused.
    fn reaches(&self, pe: usize) -> bool;

    /// The memory of a grant, with [`SLOTS`](super::SLOTS) slots. All calls for a grant return the same. `None`: there is none.
    fn lend(&self, _grant: usize) -> Option<Region> {
        None
    }

    /// As [`try_send`](Self::try_send), but writes the message to a bounce slot of the PE. The PE's engine is notified when the
    /// message [has landed](super::Engine::landed).
    fn try_write(
        &self,
        _pe: usize,
        _slot: BounceSlot,
        _bytes: usize,
        _write: &mut dyn FnMut(&mut [u8]),
    ) -> Sent {
        Sent::Full
    }

    /// Passes messages that have arrived to the engine, and makes it send its answers. Called by threads that wait for room or for
    /// an answer, without a lock of the engine.
    fn progress(&self);
}

/// The error that a message of a PE of this job is malformed: no engine can have sent it. The job must end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "a message of {bytes} bytes from PE {from} is malformed: {flaw}; all PEs must run the same program with the same library"
)]
pub(crate) struct MessageError {
    pub(super) from: u32,
    pub(super) bytes: usize,
    pub(super) flaw: Malformed,
}

/// The reason why a message is malformed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum Malformed {
    #[error("it has another length than its head says")]
    Length,
    /// The message's sender is this PE, or a PE that the wire does not reach.
    #[error("that PE sends none to this one")]
    Sender,
    #[error("there is no kind {0} of messages")]
    Kind(u8),
    /// The message names a width, an operation or a number of loops that does not exist.
    #[error("it asks for what does not exist")]
    Operation,
    /// The message's blocks have more bytes than a message, or a larger extent than any memory.
    #[error("its blocks fit no message")]
    Blocks,
    /// The message's elements have more bytes than a message or a request may have, or a larger extent than any memory.
    #[error("its elements fit no message")]
    Elements,
    #[error("segment {0} is not registered here")]
    Segment(u32),
    #[error("{bytes} bytes at offset {offset:#x} do not lie in segment {segment}")]
    Bounds { segment: u32, offset: usize, bytes: usize },
    #[error("the word at offset {0:#x} is not aligned")]
    Alignment(usize),
    /// The message was written to a slot that was not lent to its sender, or is of a kind that is not written to slots.
    #[error("it was written to slot {0}, which was not lent for that")]
    Slot(u32),
    #[error("it answers what was not asked")]
    Answer,
}
