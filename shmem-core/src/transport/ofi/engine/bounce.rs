//! Bounce buffers that a PE lends to another, for long messages.
//!
//! A wire copies a message that it sends at once through memory of its own on both sides, and has to arrange longer ones with the
//! receiver. So a target lends who sends it long messages some slots, of a message each. The interface writes a message there
//! by one operation and notifies the target; the answer names the slots that are free again. A grant is asked for when it is first
//! needed, without waiting for it, and kept to the end of the job; who gets none sends all messages the other way.

use crate::exclusion::Mutex;

use super::wire::Flaw;

/// Messages that a borrower may have under way: while one is packed, others travel and are unpacked.
pub(crate) const SLOTS: usize = 8;

/// Memory of another PE, as an interface names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) key: u64,
    /// What a write to it tells the PE, so that the PE believes it.
    pub(crate) mark: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Its number among all that the PE lends.
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

/// What this PE has borrowed from another.
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
    /// The question was not sent after all.
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
    pub(super) fn take(&mut self) -> Option<Slot> {
        let Self::Slots { grant, free } = self else { return None };
        let index = free.trailing_zeros();
        ((index as usize) < SLOTS).then(|| {
            *free &= !(1 << index);
            Slot { number: grant.first + index, region: grant.region, index: index as usize }
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

/// Who has borrowed from this PE, by the number of the grant.
#[derive(Default)]
pub(super) struct Borrowers(Mutex<Vec<u32>>);

impl Borrowers {
    /// The grant of a PE: the one that it has, or a new one, if there are fewer than `most`.
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

    /// The bit of a slot, in the grant of a PE.
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
