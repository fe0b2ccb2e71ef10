//! The terms of an operation: its remote memory, how long it may use local memory, and its channel.

use crate::fixed_text::named;
use crate::pe::Pe;

/// Bytes in another PE's memory.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// The PE.
    pub pe: Pe,
    /// Number of the segment.
    pub segment: u32,
    /// Bytes from the start of the PE's slot.
    pub offset: usize,
}

/// Until when a transport may use the local memory of an operation: read the source, or write the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until the operation returns.
    Return,
    /// Until a quiet of its channel, or of its channel and PE, that was called after the operation had returned.
    /// A source is not read any more when its bytes are at the target: a caller that knows of their arrival may change it earlier.
    Quiet,
}

/// Completes transfers when dropped, by return or by unwinding, since their memory is about to be reused. If that fails, the
/// process ends: transfers may still use the memory.
pub(crate) struct Completes<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for Completes<F> {
    fn drop(&mut self) {
        let failed = Incomplete;
        (self.0)();
        core::mem::forget(failed);
    }
}

/// Ends the process when it is dropped: a thread that waits for transfers has unwound, and they may still use its memory.
pub(crate) struct Incomplete;

impl Drop for Incomplete {
    fn drop(&mut self) {
        eprintln!("shmem: transfers could not be completed; others may still use their buffers");
        std::process::abort();
    }
}

named! {
    /// How the completion of a context's operations is tracked; names are for reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tracking {
        /// Every operation is an event of its context: `quiet` waits for the context's events.
        Events = "events of each context",
        /// Small operations of all contexts of a unit are counted together, large ones are events: `quiet` waits for small ones of the
        /// unit and large ones of the context. If the unit has one counter for both, a context with small operations in flight waits
        /// for all operations of the unit.
        Hybrid = "a counter of small operations, events for large ones",
        /// Operations of a unit are counted: `quiet` waits for all of the unit.
        Counter = "a counter",
    }
}

impl Tracking {
    /// Least bytes of a large operation.
    pub const LARGE: usize = 4096;

    /// Whether an operation of `bytes` bytes is an event of its context, rather than counted.
    #[inline(always)]
    pub const fn is_event(self, bytes: usize) -> bool {
        match self {
            Self::Events => true,
            Self::Hybrid => bytes >= Self::LARGE,
            Self::Counter => false,
        }
    }
}

/// A channel's unit, and how it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Number of the unit, an endpoint with its queue. Its first channel creates it.
    pub unit: u32,
    /// How its operations are tracked.
    pub tracking: Tracking,
    /// Whether the channel is quieted only at its end: acknowledgements may be late.
    pub patient: bool,
}
