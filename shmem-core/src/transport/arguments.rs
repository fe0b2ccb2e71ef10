//! Arguments of a transport's operations: remote memory, how long local memory may be used, and channels.

use crate::pe::Pe;
use crate::text::named;

/// The location of bytes in another PE's memory.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// The PE that owns the memory.
    pub pe: Pe,
    /// Number of the segment that contains the bytes.
    pub segment: u32,
    /// Bytes from the start of the PE's slot.
    pub offset: usize,
}

/// How long a transport may use the local memory of an operation: read the source, or write the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until the operation returns.
    Return,
    /// Until a quiet of the operation's channel, or of its channel and PE, that was called after the operation had returned. A
    /// source is not read after its bytes have arrived, so a caller that knows that they have arrived may change it earlier.
    Quiet,
}

named! {
    /// How the completion of a context's operations is tracked. The names are for reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tracking {
        /// The completion of each operation is reported as an event of its context. `quiet` waits for the context's events.
        Events = "events of each context",
        /// Small operations of all contexts of a [unit](ChannelOptions::unit) are counted together. Large operations are events of
        /// their context. `quiet` waits for the unit's small operations and the context's large ones. If the unit has only one
        /// counter, for small and large operations, a context with small operations in flight waits for all operations of the unit.
        Hybrid = "a counter of small operations, events for large ones",
        /// All operations of a [unit](ChannelOptions::unit) are counted together: `quiet` waits for all of them.
        Counter = "a counter",
    }
}

impl Tracking {
    /// Minimum bytes of a large operation.
    pub const LARGE: usize = 4096;

    /// Whether the completion of an operation of `bytes` bytes is reported as an event of its context, and not only counted.
    #[inline(always)]
    pub const fn is_event(self, bytes: usize) -> bool {
        match self {
            Self::Events => true,
            Self::Hybrid => bytes >= Self::LARGE,
            Self::Counter => false,
        }
    }
}

/// A channel's unit, and how the channel is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelOptions {
    /// Number of the unit (an endpoint with its completion queue), which is made when its first channel opens.
    pub unit: u32,
    /// How the channel's operations are tracked.
    pub tracking: Tracking,
    /// Whether `quiet` is called only after the channel's last operation, so that acknowledgements may be late.
    pub patient: bool,
}
