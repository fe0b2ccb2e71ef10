//! What carries messages from PE to PE, and what one can be wrong in.

use thiserror::Error;

use super::bounce::{Region, Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It is on its way, and its bytes are no longer needed.
    Done,
    /// There is no room for it now: nothing was sent.
    Full,
}

/// A way for messages to every other PE.
///
/// It loses none and carries none twice. Order is nobody's promise: messages of one PE to another may overtake each other. No memory
/// depends on that: whoever waits for what was lost waits on, and what is answered although there was no [room](Sent::Full) for
/// it ends the program.
pub(crate) trait Wire {
    /// Sends a message of `bytes` bytes to a PE, if there is room: has `write` put it together, once, in a buffer of that size.
    /// Delivers nothing meanwhile, and does not wait.
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent;

    /// Whether a PE is reached this way: messages of all others are none of this wire's.
    fn reaches(&self, pe: usize) -> bool;

    /// The memory of a grant of this PE's, of [`SLOTS`](super::SLOTS) messages, as others reach it; it stays where it is. `None`: there
    /// is none to be had.
    fn lend(&self, _grant: usize) -> Option<Region> {
        None
    }

    /// As [`try_send`](Self::try_send), by writing the message to a slot of the PE's. When it is there, the PE's engine is notified
    /// that it [has landed](super::Engine::landed).
    fn try_write(&self, _pe: usize, _slot: Slot, _bytes: usize, _write: &mut dyn FnMut(&mut [u8])) -> Sent {
        Sent::Full
    }

    /// Hands what has arrived to the engine, and has it send its answers. Called by whoever waits for room or for an answer, without
    /// a lock of the engine.
    fn progress(&self);
}

/// A message of a PE of this job that no engine of it can have sent. The job is to end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "a message of {bytes} bytes from PE {from} is malformed: {flaw}; all PEs must run the same program with the same library"
)]
pub(crate) struct Fault {
    pub(super) from: u32,
    pub(super) bytes: usize,
    pub(super) flaw: Flaw,
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It ends too early, or goes on behind its end.
    #[error("it has another length than its head says")]
    Length,
    /// It is of this PE itself, or of one that is reached in another way.
    #[error("that PE sends none to this one")]
    Sender,
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
    #[error("segment {0} is not registered here")]
    Segment(u32),
    #[error("{bytes} bytes at offset {offset:#x} do not lie in segment {segment}")]
    Bounds { segment: u32, offset: usize, bytes: usize },
    #[error("the word at offset {0:#x} is not aligned")]
    Alignment(usize),
    /// It was written to a slot that was not lent to its sender, or is none of those that may be.
    #[error("it was written to slot {0}, which was not lent for that")]
    Slot(u32),
    #[error("it answers what was not asked")]
    Answer,
}
