//! The interface to the network, and errors of messages.

use thiserror::Error;

use super::bounce_slots::{BounceSlot, Region};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The message was sent; its buffer is free again.
    Done,
    /// There is no room now, and nothing was sent.
    Full,
}

/// Carries messages to every other PE.
///
/// A wire loses no message and delivers none twice. Messages of one PE to another may overtake each other. Memory safety does not rest
/// on that: a thread that waits for a lost message waits for ever, and an answer to a message for which there was no
/// [room](Sent::Full) ends the program.
pub(crate) trait Wire {
    /// Sends a message of `bytes` bytes to a PE, if there is room. `write` encodes it, once, in a buffer of that size. Makes no progress,
    /// and does not wait.
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent;

    /// Whether this wire reaches a PE. Messages of other PEs are refused.
    fn reaches(&self, pe: usize) -> bool;

    /// The memory of a grant of this PE, of [`SLOTS`](super::SLOTS) messages, always the same for one number. `None`: there is none.
    fn lend(&self, _grant: usize) -> Option<Region> {
        None
    }

    /// As [`try_send`](Self::try_send), by writing the message to a slot of the PE, whose engine is notified when it
    /// [has landed](super::Engine::landed).
    fn try_write(
        &self,
        _pe: usize,
        _slot: BounceSlot,
        _bytes: usize,
        _write: &mut dyn FnMut(&mut [u8]),
    ) -> Sent {
        Sent::Full
    }

    /// Passes messages that have arrived to the engine, and has it send its answers. Called by threads that wait for room or for an
    /// answer, without a lock of the engine.
    fn progress(&self);
}

/// A message of a PE of this job that no engine can have sent. The job has to end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "a message of {bytes} bytes from PE {from} is malformed: {flaw}; all PEs must run the same program with the same library"
)]
pub(crate) struct Fault {
    pub(super) from: u32,
    pub(super) bytes: usize,
    pub(super) flaw: Flaw,
}

/// The error in a message.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum Flaw {
    #[error("it has another length than its head says")]
    Length,
    /// Its sender is this PE, or one that the wire does not reach.
    #[error("that PE sends none to this one")]
    Sender,
    #[error("there is no kind {0} of messages")]
    Kind(u8),
    /// A width, an operation or a number of loops that does not exist.
    #[error("it asks for what does not exist")]
    Operation,
    /// Its blocks have more bytes than a message, or a larger extent than any memory.
    #[error("its blocks fit no message")]
    Blocks,
    /// Its elements have more bytes than a message or a request may have, or a larger extent than any memory.
    #[error("its elements fit no message")]
    Elements,
    #[error("segment {0} is not registered here")]
    Segment(u32),
    #[error("{bytes} bytes at offset {offset:#x} do not lie in segment {segment}")]
    Bounds { segment: u32, offset: usize, bytes: usize },
    #[error("the word at offset {0:#x} is not aligned")]
    Alignment(usize),
    /// It was written to a slot that was not lent to its sender, or is of a kind that is not written to slots.
    #[error("it was written to slot {0}, which was not lent for that")]
    Slot(u32),
    #[error("it answers what was not asked")]
    Answer,
}
