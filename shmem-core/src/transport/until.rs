//! When an operation is done with local memory.

/// How long a transport may use the local memory of an operation: read the source, or write the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until the operation returns.
    Return,
    /// Until a quiet of its channel, or of its channel and PE, that was called after the operation had returned.
    /// Bytes of a source that are at the target are read no more: who knows that from what was made of them there may change
    /// them before.
    Quiet,
}
