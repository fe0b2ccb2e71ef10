//! Who may use which bounce buffers of another PE, for long messages. Their memory is in `ofi/bounce_memory.rs`.
//!
//! A wire sends short messages at once, and needs a round trip more for long ones. So a target lends the sender of long messages a grant:
//! some slots, each for one message. The interface writes a message to a slot by one operation and notifies the target; the answer names
//! the slots that are free again. A sender asks for a grant when it first needs one, does not wait for it, and keeps it to the end of
//! the job. A sender without a grant sends short messages.

use crate::exclusion::Mutex;

use super::network_interface::Flaw;

/// Slots of a grant. There are several, so that one message is packed while others travel and are unpacked.
pub(crate) const SLOTS: usize = 8;

/// Memory of another PE, with the key of the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) key: u64,
    /// The secret number that each write must carry.
    pub(crate) mark: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BounceSlot {
    /// Its number among all slots of the PE.
    pub(crate) number: u32,
    pub(crate) region: Region,
    /// Its number in the grant.
    pub(crate) index: usize,
}

/// Slots that a PE has lent to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) first: u32,
    pub(super) region: Region,
}

/// The grant that this PE has from another.
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
    /// Undoes an unsent request.
    pub(super) fn withdraw(&mut self) {
        if *self == Self::Asked {
            *self = Self::Unasked;
        }
    }

    pub(super) fn answered(&mut self, grant: Option<Grant>) -> Result<(), Flaw> {
        if *self != Self::Asked {
            return Err(Flaw::Answer);
        }
        if let Some(Grant { first, .. }) = grant
            && first.checked_add(SLOTS as u32).is_none()
        {
            return Err(Flaw::Slot(first));
        }
        *self = grant.map_or(Self::Refused, |grant| Self::Slots { grant, free: (1 << SLOTS) - 1 });
        Ok(())
    }

    /// A slot to write to, if one is free.
    pub(super) fn take(&mut self) -> Option<BounceSlot> {
        let Self::Slots { grant, free } = self else { return None };
        let index = free.trailing_zeros();
        ((index as usize) < SLOTS).then(|| {
            *free &= !(1 << index);
            BounceSlot { number: grant.first + index, region: grant.region, index: index as usize }
        })
    }

    pub(super) fn give_back(&mut self, slots: u32) -> Result<(), Flaw> {
        match self {
            _ if slots == 0 => Ok(()),
            Self::Slots { free, .. } if slots >> SLOTS == 0 && *free & slots == 0 => {
                *free |= slots;
                Ok(())
            }
            _ => Err(Flaw::Answer),
        }
    }
}

/// The borrowers of this PE, by the number of their grant.
#[derive(Default)]
pub(super) struct Borrowers(Mutex<Vec<u32>>);

impl Borrowers {
    /// The grant of a PE: its present one, or a new one, if there are fewer than `most`.
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

    /// The bit of a slot in the grant of a PE; an error if the slot is not the PE's.
    pub(super) fn bit(&self, slot: u32, pe: u32) -> Result<u32, Flaw> {
        let borrowers = self.0.lock();
        let (grant, index) = (slot as usize / SLOTS, slot as usize % SLOTS);
        if borrowers.get(grant) == Some(&pe) { Ok(1 << index) } else { Err(Flaw::Slot(slot)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_without_numbers_are_not_borrowed() {
        let grant = |first| Grant { first, region: Region { address: 0, key: 0, mark: 0 } };
        let mut borrowed = Borrowed::Asked;
        assert_eq!(borrowed.answered(Some(grant(u32::MAX - 3))), Err(Flaw::Slot(u32::MAX - 3)));
        borrowed.answered(Some(grant(u32::MAX - SLOTS as u32))).unwrap();
        assert_eq!((0..=SLOTS).filter_map(|_| borrowed.take()).count(), SLOTS);
    }
}
