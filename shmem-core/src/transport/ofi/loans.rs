//! Memory of this PE that it lends to others, for long messages.
//!
//! It is taken and registered when a loan is made, so that a PE to which nobody sends such messages has none.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::OnceLock;

use super::domain::Domain;
use super::engine::{Place, SLOTS};
use super::object::Object;
use crate::libfabric::bindings::{fid_ep, fid_mr};

/// Slots start on lines.
const LINE: usize = 128;

/// The memory of all loans, by number.
pub(super) struct Loans {
    memory: Box<[OnceLock<Option<Memory>>]>,
    /// Bytes of a message.
    message: usize,
}

/// The memory of one. Fields are closed in order.
struct Memory {
    registered: Object<fid_mr>,
    slots: Slots,
}

struct Slots {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: memory of its own, which is written by the provider and read by whoever is told that it was.
unsafe impl Send for Slots {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

impl Loans {
    /// So many loans of messages of at most `message` bytes.
    pub(super) fn new(count: usize, message: usize) -> Self {
        Self { memory: (0..count).map(|_| OnceLock::new()).collect(), message }
    }

    /// The memory of a loan, as others reach it; `None`: there is none left, or none that may be registered.
    ///
    /// # Safety
    ///
    /// The domain must outlive the loans.
    pub(super) unsafe fn lend(&self, number: usize, domain: &Domain, endpoint: &Object<fid_ep>) -> Option<Place> {
        let memory = self.memory[number].get_or_init(|| {
            let slots = Slots::new(slot(self.message) * SLOTS)?;
            // SAFETY: the slots are freed behind their registration, which the domain outlives (caller).
            let registered = unsafe { domain.register_landing((slots.start, slots.layout.size()), endpoint) };
            Some(Memory { registered: registered.ok()?, slots })
        });
        let Memory { registered, slots } = memory.as_ref()?;
        let address = if domain.demands.virtual_addresses { slots.start as u64 } else { 0 };
        // SAFETY: registered memory that is open.
        Some(Place { address, key: unsafe { (*registered.raw()).key } })
    }

    /// Where a slot of a loan lies in it.
    pub(super) fn offset(&self, index: usize) -> usize {
        slot(self.message) * index
    }

    /// A message of so many bytes that was written to a slot, if there is such a slot.
    pub(super) fn message(&self, slot: u32, bytes: usize) -> Option<&[u8]> {
        let (loan, index) = (slot as usize / SLOTS, slot as usize % SLOTS);
        let memory = self.memory.get(loan)?.get()?.as_ref()?;
        let start = memory.slots.start.wrapping_add(self.offset(index)).cast_const();
        // SAFETY: initialised memory of a slot, which stays until the loans are dropped. Its borrower writes to it
        // only while it is free, and learns that it is when what was in it was carried out; who does not keep to that
        // could as well write to any other registered memory, which all PEs promise each other not to.
        (bytes <= self.message).then(|| unsafe { core::slice::from_raw_parts(start, bytes) })
    }
}

/// Bytes from one slot to the next.
fn slot(message: usize) -> usize {
    message.next_multiple_of(LINE)
}

impl Slots {
    fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, LINE).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: of more than no bytes.
        let start = unsafe { alloc_zeroed(layout) };
        (!start.is_null()).then_some(Self { start, layout })
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: allocated with that layout; nobody reaches it any more, for its registration was closed before.
        unsafe { dealloc(self.start, self.layout) };
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
        let slots = Slots::new(slot(1000) * SLOTS).unwrap();
        assert!(loans.offset(1) >= 1000 && loans.offset(SLOTS) == slots.layout.size());
    }
}
