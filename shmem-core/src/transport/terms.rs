//! The terms of an operation: where it goes, how long it may use local memory, and the channel that it goes through.

use crate::pe::Pe;

/// Bytes in another PE's memory.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// The PE.
    pub pe: Pe,
    /// Index of the segment, which is the index of its key.
    pub segment: u32,
    /// Bytes from the start of the PE's slot.
    pub offset: usize,
}

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

/// How a context learns that its operations are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// Every operation is an event of its own context: `quiet` waits for those of the context.
    Events,
    /// Small operations of all contexts of a unit are counted together, large ones are events: `quiet` waits for
    /// small ones of the unit and large ones of the context. Where the unit has one counter for both, who has small ones
    /// under way waits for all of the unit.
    Hybrid,
    /// The operations of a unit are counted: `quiet` waits for those of all its contexts.
    Counter,
}

impl Tracking {
    /// From so many bytes on an operation is large.
    pub const LARGE: usize = 4096;

    /// Whether an operation of so many bytes is an event of its context, rather than counted.
    #[inline(always)]
    pub const fn is_event(self, bytes: usize) -> bool {
        match self {
            Self::Events => true,
            Self::Hybrid => bytes >= Self::LARGE,
            Self::Counter => false,
        }
    }

    /// In words, for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Events => "events of each context",
            Self::Hybrid => "a counter of small operations, events for large ones",
            Self::Counter => "a counter",
        }
    }
}

/// What a channel is to lie on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The unit: an endpoint with what belongs to it. The first channel on it makes it.
    pub unit: u32,
    /// Whether several threads use it at the same time.
    pub shared: bool,
    /// How its operations are tracked.
    pub tracking: Tracking,
    /// Whether nobody waits for its operations but at the end: what says that they are complete may come late.
    pub patient: bool,
}
