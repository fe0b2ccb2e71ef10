//! What carries messages from PE to PE.

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
/// overtake each other.
pub trait Wire {
    /// Sends a message of `bytes` bytes to a PE, if there is room: has `write` put it together, once, in a
    /// buffer of that size. Delivers nothing meanwhile, and does not wait.
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent;

    /// Hands what has arrived to the engine, and has it send its answers. Called by whoever waits for room or
    /// for an answer, without a lock of the engine.
    fn progress(&self);
}
