//! What carries messages from PE to PE.

use super::loan::{Place, Slot};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is on its way, and its bytes are no longer needed.
    Done,
    /// There is no room for it now: nothing was sent.
    Full,
}

/// A way for messages to every other PE.
///
/// It loses none and carries none twice. Order is nobody's promise: messages of one PE to another may
/// overtake each other. No memory depends on that: whoever waits for what was lost waits on, and what is answered although
/// there was no [room](Sent::Full) for it ends the program.
pub trait Wire {
    /// Sends a message of `bytes` bytes to a PE, if there is room: has `write` put it together, once, in a
    /// buffer of that size. Delivers nothing meanwhile, and does not wait.
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent;

    /// Whether a PE is reached this way: messages of all others are none of this wire's.
    fn reaches(&self, pe: usize) -> bool;

    /// The memory of a loan of this PE's, of [`SLOTS`](super::SLOTS) messages, as others reach it; it stays where it
    /// is. `None`: there is none to be had.
    fn lend(&self, loan: usize) -> Option<Place>;

    /// As [`try_send`](Self::try_send), by writing the message to a slot of the PE's. When it is there, the PE's
    /// engine is told that it [has landed](super::Engine::landed).
    fn try_write(&self, pe: usize, slot: Slot, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent;

    /// Hands what has arrived to the engine, and has it send its answers. Called by whoever waits for room or
    /// for an answer, without a lock of the engine.
    fn progress(&self);
}
