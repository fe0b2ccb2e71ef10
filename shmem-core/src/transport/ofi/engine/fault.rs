//! What a message can be wrong in.

use thiserror::Error;

/// A message of a PE of this job that no engine of it can have sent. The job is to end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "a message of {bytes} bytes from PE {from} is malformed: {flaw}; all PEs must run the same program with the same library"
)]
pub struct Fault {
    /// Who sent it.
    pub from: u32,
    /// Bytes that have arrived.
    pub bytes: usize,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// It ends too early, or goes on behind its end.
    #[error("it has another length than its head says")]
    Length,
    /// It is of this PE itself, or of one that is reached in another way.
    #[error("that PE sends none to this one")]
    Sender,
    /// It is of no kind.
    #[error("there is no kind {0} of messages")]
    Kind(u8),
    /// A width, an operation or a number of loops that does not exist.
    #[error("it asks for what does not exist")]
    Operation,
    /// Its blocks are more than fit a message, or lie further apart than any memory is long.
    #[error("its blocks fit no message")]
    Blocks,
    /// Elements of a list are more than fit a message, more than may be asked for, or lie further apart than any memory is long.
    #[error("its elements fit no message")]
    Elements,
    /// The segment is not registered here.
    #[error("segment {0} is not registered here")]
    Segment(u32),
    /// The bytes do not lie in the segment.
    #[error("{bytes} bytes at offset {offset:#x} do not lie in segment {segment}")]
    Bounds {
        /// The segment.
        segment: u32,
        /// Bytes from the start of the slot.
        offset: usize,
        /// Bytes from the first to behind the last.
        bytes: usize,
    },
    /// An atomic word that is not aligned.
    #[error("the word at offset {0:#x} is not aligned")]
    Alignment(usize),
    /// The sender has more messages unanswered than it may.
    #[error("it is one more than may be unanswered")]
    Window,
    /// It was written to a slot that was not lent to its sender, or is none of those that may be.
    #[error("it was written to slot {0}, which was not lent for that")]
    Slot(u32),
    /// It answers what nobody asked.
    #[error("it answers what was not asked")]
    Answer,
}
