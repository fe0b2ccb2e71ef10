//! Assignment of bounce buffers (slots) to senders of long messages. The memory of the slots is in `ofi/lent_buffers.rs`.
//!
//! A provider sends short messages at once, but needs one more round trip for long ones. So a target grants slots to each sender of
//! long messages. The sender writes a message to a slot by one RDMA write, which notifies the target. The answer names the slots
//! that are free again. A sender requests a grant when it first needs one, does not wait for the answer, and keeps the grant to the
//! end of the job. A sender without a grant sends short messages.

use crate::exclusion::Mutex;

use super::wire::Malformed;

/// Number of slots of a grant. With several, one message is packed while others travel and are unpacked.
pub(crate) const SLOTS: usize = 8;

/// Memory of a grant on another PE, with the provider's key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) key: u64,
    /// Secret number of the grant, which each write must carry.
    pub(crate) mark: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BounceSlot {
    /// The slot's number among all slots of its PE.
    pub(crate) number: u32,
    pub(crate) region: Region,
    /// The slot's number in its grant.
    pub(crate) index: usize,
}

/// Slots that a PE lends to another PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) first: u32,
    pub(super) region: Region,
}

/// The slots that another PE lends to this PE, or the state of the request for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Borrowed {
    #[default]
    Unasked,
    Asked,
    Refused,
    Slots {
        grant: Grant,
        free: u32,
    },
}

impl Borrowed {
    /// Undoes a grant request that was not sent.
    pub(super) fn withdraw(&mut self) {
        if *self == Self::Asked {
            *self = Self::Unasked;
        }
    }

    pub(super) fn answered(&mut self, grant: Option<Grant>) -> Result<(), Malformed> {
        if *self != Self::Asked {
            return Err(Malformed::Answer);
        }
        if let Some(Grant { first, .. }) = grant
            && first.checked_add(SLOTS as u32).is_none()
        {
            return Err(Malformed::Slot(first));
        }
        *self = grant.map_or(Self::Refused, |grant| Self::Slots { grant, free: (1 << SLOTS) - 1 });
        Ok(())
    }

    /// Takes a free slot of the grant, if there is one.
    pub(super) fn take(&mut self) -> Option<BounceSlot> {
        let Self::Slots { grant, free } = self else { return None };
        let index = free.trailing_zeros();
        ((index as usize) < SLOTS).then(|| {
            *free &= !(1 << index);
            BounceSlot { number: grant.first + index, region: grant.region, index: index as usize }
        })
    }

    pub(super) fn give_back(&mut self, slots: u32) -> Result<(), Malformed> {
        match self {
            _ if slots == 0 => Ok(()),
            Self::Slots { free, .. } if slots >> SLOTS == 0 && *free & slots == 0 => {
                *free |= slots;
                Ok(())
            }
            _ => Err(Malformed::Answer),
        }
    }
}

/// The PEs that have a grant from this PE, by the grant's number.
#[derive(Default)]
pub(super) struct Borrowers(Mutex<Vec<u32>>);

impl Borrowers {
    /// Returns the number of a PE's grant: its present one, or a new one, if there are fewer than `most` grants.
    pub(super) fn lend(&self, pe: u32, most: usize) -> Option<usize> {
        let mut borrowers = self.0.lock();
        let has = borrowers.iter().position(|&borrower| borrower == pe);
        has.or_else(|| {
            (borrowers.len() < most).then(|| {
                borrowers.push(pe);
                borrowers.len() - 1
            })
        })
    }

    /// The bit of a slot in the grant of a PE. Fails if the slot is not in this grant.
    pub(super) fn bit(&self, slot: u32, pe: u32) -> Result<u32, Malformed> {
        let borrowers = self.0.lock();
        let (grant, index) = (slot as usize / SLOTS, slot as usize % SLOTS);
        if borrowers.get(grant) == Some(&pe) { Ok(1 << index) } else { Err(Malformed::Slot(slot)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_without_numbers_are_not_borrowed() {
        let grant = |first| Grant { first, region: Region { address: 0, key: 0, mark: 0 } };
        let mut borrowed = Borrowed::Asked;
        assert_eq!(borrowed.answered(Some(grant(u32::MAX - 3))), Err(Malformed::Slot(u32::MAX - 3)));
        borrowed.answered(Some(grant(u32::MAX - SLOTS as u32))).unwrap();
        assert_eq!((0..=SLOTS).filter_map(|_| borrowed.take()).count(), SLOTS);
    }
}
