//! The number of a processing element, and its place on this node.

use core::fmt;

/// A validated PE of this job.
///
/// Made only by `World::pe` and its relatives, so that no operation has to check it again. Besides
/// the number it carries the PE's slot in the node's arena, resolved once: the choice between
/// shared memory and the network is one predictable branch.
///
/// The slot is meaningful in this process only. To send a PE to another one, send
/// [`number`](Pe::number) and come back through `World::pe`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pe {
    number: u32,
    slot: u32,
}

impl Pe {
    /// The slot of a PE that is not on this node.
    pub const OFF_NODE: u32 = u32::MAX;

    /// # Safety
    ///
    /// `number` must be a PE of the running job, and `slot` its slot in this node's arena, or
    /// [`OFF_NODE`](Self::OFF_NODE).
    #[doc(hidden)]
    pub const unsafe fn new(number: u32, slot: u32) -> Self {
        Self { number, slot }
    }

    /// The PE's number in the job, from 0.
    #[inline(always)]
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// Its slot in this node's arena, if it is on this node.
    #[inline(always)]
    pub const fn slot(self) -> Option<usize> {
        if self.slot == Self::OFF_NODE { None } else { Some(self.slot as usize) }
    }
}

impl fmt::Debug for Pe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PE {}", self.number)
    }
}

impl fmt::Display for Pe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}
