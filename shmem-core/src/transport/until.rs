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

/// Completes what was started with memory that is about to be used again when it is dropped, by return or by unwinding. If that
/// fails, the process ends: others may still use the memory.
pub(crate) struct Completes<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for Completes<F> {
    fn drop(&mut self) {
        let failed = Incomplete;
        (self.0)();
        core::mem::forget(failed);
    }
}

/// Ends the process when it is dropped: what completes transfers has unwound.
struct Incomplete;

impl Drop for Incomplete {
    fn drop(&mut self) {
        eprintln!("shmem: transfers could not be completed; others may still use their buffers");
        std::process::abort();
    }
}
