//! The number of a processing element, and its slot on this node.

use core::fmt;

/// The argument of `on`: a [`Pe`], and nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a PE",
    label = "expected a `Pe`",
    note = "ask the world for a PE: `world.pe(1)?` for one by its number, `world.me()` for this one"
)]
pub trait OnPe: sealed::Sealed {
    #[doc(hidden)]
    fn pe(self) -> Pe;
}

impl OnPe for Pe {
    #[inline(always)]
    fn pe(self) -> Pe {
        self
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Pe {}
}

/// A validated PE of this job.
///
/// Made only by `World::pe` and related methods, so operations need not check the number again. The value also has the PE's slot in
/// the node's arena, so the choice between shared memory and the network is one predictable branch. In an
/// [observed](crate::observe) job, slots are marked: every operation takes the network's branch, which notifies the observer.
///
/// The slot is valid in this process only. To send a PE to another process, send [`number`](Pe::number) and call `World::pe` there.
/// If PEs are threads of one process, each has an arena of its own, for which alone its slots are valid. A `Pe` then records the
/// PE that made it, and operations of other PEs refuse it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Pe {
    number: u32,
    slot: u32,
}

impl Pe {
    /// The slot number that stands for a PE on another node.
    pub const OFF_NODE: u32 = u32::MAX;

    /// The bit that marks a slot that operations do not access directly.
    pub(crate) const OBSERVED: u32 = 1 << 31;

    /// The bits of the slot number; all set: the PE is on another node.
    const SLOT: u32 = 0xffff;

    /// Makes the value of a PE. Panics if the slot is 65535 or more, and not [`OFF_NODE`](Self::OFF_NODE).
    ///
    /// # Safety
    ///
    /// `number` must be a PE of the running job, and `slot` the PE's slot in this node's arena, or [`OFF_NODE`](Self::OFF_NODE).
    #[doc(hidden)]
    pub const unsafe fn new(number: u32, slot: u32) -> Self {
        if slot == Self::OFF_NODE {
            return Self { number, slot: Self::OBSERVED | Self::SLOT };
        }
        assert!(slot < Self::SLOT, "a node has fewer than 65535 PEs");
        Self { number, slot }
    }

    /// Returns the PE as a value that PE `viewer` made, for PEs that are threads of one process. Operations compare the viewer with
    /// the calling PE before they use the slot.
    /// Panics if `viewer` is 32767 or more, because the value has 15 bits for the viewer.
    ///
    /// # Safety
    ///
    /// As for [`observed`](Self::observed): mark all PEs of a job before any PE is given out, or mark none.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn seen_by(self, viewer: u32) -> Self {
        assert!(viewer < 0x7fff, "one process has fewer than 32767 PEs");
        Self { number: self.number, slot: self.slot & Self::SLOT | (viewer + 1) << 16 | Self::OBSERVED }
    }

    /// Whether both values were made by the same PE, or neither value records its maker.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn is_seen_with(self, other: Self) -> bool {
        (self.slot ^ other.slot) & !(Self::OBSERVED | Self::SLOT) == 0
    }

    /// Returns this PE with a mark. Operations on a marked PE are reported to an observer.
    ///
    /// # Safety
    ///
    /// Mark all PEs of a job before any PE is given out, or mark none, because a marked PE is not equal to the unmarked one.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn observed(self) -> Self {
        Self { number: self.number, slot: self.slot | Self::OBSERVED }
    }

    /// The PE's number in the job, from 0.
    #[inline(always)]
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// The PE's slot in this node's arena, if operations may access the slot directly: the PE is on this node, and not marked.
    #[inline(always)]
    pub const fn slot(self) -> Option<usize> {
        self.slot_below(Self::OBSERVED)
    }

    /// The PE's slot in this node's arena, if the slot is below `slots`. A marked slot never is.
    #[inline(always)]
    pub(crate) const fn slot_below(self, slots: u32) -> Option<usize> {
        if self.slot < slots { Some(self.slot as usize) } else { None }
    }

    /// The PE's slot in this node's arena, if the PE is on this node.
    #[inline(always)]
    pub const fn on_node(self) -> Option<usize> {
        let slot = self.slot & Self::SLOT;
        if slot == Self::SLOT { None } else { Some(slot as usize) }
    }

    /// The bytes of a list of PEs, to share it in a memfd. Different PEs have different bytes.
    pub(crate) const fn bytes_of(pes: &[Self]) -> &[u8] {
        // SAFETY: each PE is two adjacent words of 32 bits, without padding (`repr(C)`). So all bytes of the slice are
        // initialised, and they live as long as the slice.
        unsafe { core::slice::from_raw_parts(pes.as_ptr().cast(), size_of_val(pes)) }
    }

    /// Whether this PE has the same slot as `near`, a PE on this node. Marks do not count.
    #[inline(always)]
    pub(crate) const fn shares_slot(self, near: Self) -> bool {
        // PEs on other nodes have a slot number above all slots.
        (self.slot ^ near.slot) & Self::SLOT == 0
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
        // SAFETY: nothing is issued to it, nor is it compared with those of a job.
        let marked = unsafe { near.observed() };
        assert_eq!((marked.slot(), marked.on_node()), (None, Some(2)));
        // SAFETY: nothing is issued to it.
        let far = unsafe { Pe::new(3, Pe::OFF_NODE) };
        assert_eq!((far.slot(), far.on_node()), (None, None));
        // SAFETY: nothing is issued to it, nor is it compared with those of a job.
        assert_eq!(unsafe { far.observed() }, far);
        // SAFETY: nothing is issued to it.
        let other = unsafe { Pe::new(4, 1) };
        for (pe, shares) in [(near, true), (marked, true), (far, false), (other, false)] {
            assert_eq!((pe.shares_slot(near), pe.shares_slot(marked)), (shares, shares), "{pe:?}");
        }
    }

    #[test]
    fn a_pe_carries_whose_it_is() {
        // SAFETY: nothing is issued to any of them.
        let [near, far] = [2, Pe::OFF_NODE].map(|slot| unsafe { Pe::new(3, slot) });
        for pe in [near, far] {
            // SAFETY: nothing is issued to them, nor are they compared with those of a job.
            let seen = [0, 1, 0x7ffe].map(|viewer| unsafe { pe.seen_by(viewer) });
            for (one, viewer) in seen.iter().zip(0..) {
                assert_eq!((one.number(), one.slot(), one.on_node()), (3, None, pe.on_node()));
                // SAFETY: nothing is issued to them, nor are they compared with those of a job.
                assert_eq!(unsafe { one.observed() }, *one);
                for (other, another) in seen.iter().zip(0..) {
                    assert_eq!(
                        (one.is_seen_with(*other), one == other),
                        (viewer == another, viewer == another)
                    );
                }
                assert!(!one.is_seen_with(near) && !one.is_seen_with(far));
            }
        }
        assert!(near.is_seen_with(far));
    }
}
