//! The number of a processing element, and its place on this node.

use core::fmt;

/// A validated PE of this job.
///
/// Made only by `World::pe` and its relatives, so that no operation has to check it again. Besides
/// the number it carries the PE's slot in the node's arena, resolved once: the choice between
/// shared memory and the network is one predictable branch. In a job that is
/// [observed](crate::observe) the slot is marked as well, which sends every operation to the same
/// side of that branch as the network's.
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

    /// The mark of a slot that operations do not use straight away.
    const OBSERVED: u32 = 1 << 31;

    /// # Safety
    ///
    /// `number` must be a PE of the running job, and `slot` its slot in this node's arena, below 2^31, or
    /// [`OFF_NODE`](Self::OFF_NODE).
    #[doc(hidden)]
    pub const unsafe fn new(number: u32, slot: u32) -> Self {
        Self { number, slot }
    }

    /// The same PE, of which every operation is to be told to an observer.
    #[doc(hidden)]
    #[must_use]
    pub const fn observed(self) -> Self {
        Self { number: self.number, slot: self.slot | Self::OBSERVED }
    }

    /// The PE's number in the job, from 0.
    #[inline(always)]
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// Its slot in this node's arena, if operations may use it straight away: if it is on this node, and
    /// nobody observes them.
    #[inline(always)]
    pub const fn slot(self) -> Option<usize> {
        if self.slot < Self::OBSERVED { Some(self.slot as usize) } else { None }
    }

    /// Its slot in this node's arena, if it is on this node.
    #[inline(always)]
    pub const fn on_node(self) -> Option<usize> {
        if self.slot == Self::OFF_NODE { None } else { Some((self.slot & !Self::OBSERVED) as usize) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_hides_a_slot_and_keeps_it() {
        // SAFETY: nothing is issued to it.
        let near = unsafe { Pe::new(3, 2) };
        assert_eq!((near.slot(), near.on_node()), (Some(2), Some(2)));
        assert_eq!((near.observed().slot(), near.observed().on_node()), (None, Some(2)));
        // SAFETY: as above.
        let far = unsafe { Pe::new(3, Pe::OFF_NODE) };
        assert_eq!((far.slot(), far.on_node()), (None, None));
        assert_eq!(far.observed(), far);
    }
}
