//! Memory of this PE that it lends to others, for long messages.
//!
//! It is taken and registered when a loan is made, so that a PE to which nobody sends such messages has none.

use std::sync::OnceLock;

use super::domain::Domain;
use super::engine::{Place, SLOTS};
use super::object::Object;
use super::pages::Pages;
use crate::libfabric::bindings::{fid_ep, fid_mr};

/// Most PEs that memory is lent to.
pub(super) const MOST: usize = 32;

/// Entries of a completion queue that they need.
pub(super) const COMPLETIONS: usize = MOST * SLOTS;

/// Slots start on lines.
const LINE: usize = 128;

/// The memory of all loans, by number.
pub(super) struct Loans {
    memory: Box<[OnceLock<Option<Memory>>]>,
    /// Bytes of a slot.
    slot: usize,
}

/// The memory of one. Fields are closed in order.
struct Memory {
    registered: Object<fid_mr>,
    slots: Pages,
}

impl Loans {
    /// So many loans of slots of `slot` bytes.
    pub(super) fn new(count: usize, slot: usize) -> Self {
        Self { memory: (0..count).map(|_| OnceLock::new()).collect(), slot }
    }

    /// The memory of a loan, as others reach it; `None`: there is none left, or none that may be registered.
    ///
    /// # Safety
    ///
    /// The domain must outlive the loans.
    pub(super) unsafe fn lend(
        &self,
        number: usize,
        domain: &Domain,
        endpoint: &Object<fid_ep>,
    ) -> Option<Place> {
        let memory = self.memory[number].get_or_init(|| {
            let bytes = self.offset(SLOTS);
            let slots = Pages::of(bytes).ok()?;
            // SAFETY: the pages are given back behind their registration, which the domain outlives (caller).
            let registered = unsafe { domain.register_landing((slots.start(), bytes), endpoint) };
            Some(Memory { registered: registered.ok()?, slots })
        });
        let Memory { registered, slots } = memory.as_ref()?;
        let address = if domain.demands.virtual_addresses { slots.start() as u64 } else { 0 };
        // SAFETY: registered memory that is open.
        Some(Place { address, key: unsafe { (*registered.raw()).key } })
    }

    /// Where a slot of a loan lies in it.
    pub(super) fn offset(&self, index: usize) -> usize {
        self.slot.next_multiple_of(LINE) * index
    }

    /// A message of so many bytes that was written to a slot, if there is such a slot.
    pub(super) fn message(&self, slot: u32, bytes: usize) -> Option<&[u8]> {
        let (loan, index) = (slot as usize / SLOTS, slot as usize % SLOTS);
        let memory = self.memory.get(loan)?.get()?.as_ref()?;
        let start = memory.slots.start().wrapping_add(self.offset(index)).cast_const();
        // SAFETY: zeroed pages of a slot, which stay until the loans are dropped. Its borrower writes to it
        // only while it is free, and learns that it is when what was in it was carried out; who does not keep to that
        // could as well write to any other registered memory, which all PEs promise each other not to.
        (bytes <= self.slot).then(|| unsafe { core::slice::from_raw_parts(start, bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_lent_has_no_message() {
        let loans = Loans::new(2, 1000);
        for slot in [0, 7, 8, u32::MAX] {
            assert_eq!(loans.message(slot, 10), None);
        }
    }

    #[test]
    fn slots_lie_apart() {
        let loans = Loans::new(1, 1000);
        assert!(loans.offset(1) >= 1000 && loans.offset(3) - loans.offset(2) >= 1000);
    }
}
