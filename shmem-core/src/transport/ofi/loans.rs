//! Memory of this PE that it lends to others, for long messages.
//!
//! It is taken and registered when a loan is made, so that a PE to which nobody sends such messages has none.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use super::buffers::Pages;
use super::domain::Domain;
use super::engine::{Place, SLOTS, TOKEN};
use crate::libfabric::{Endpoint, Registration};

/// Most PEs that memory is lent to.
pub(super) const MOST: usize = 32;

/// Entries of a completion queue that they need.
pub(super) const COMPLETIONS: usize = MOST * SLOTS;

/// Slots start on lines.
const LINE: usize = 128;

/// What a write to a slot tells: that a message of so many bytes lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) slot: u32,
    pub(super) bytes: usize,
    pub(super) mark: u32,
}

const _: () = assert!(MOST * SLOTS <= 1 << Written::SLOT, "the number of a slot fits what a write tells");

impl Written {
    /// Bits of the number of a slot, and of a length.
    const SLOT: u32 = 8;
    const BYTES: u32 = 24;

    /// As a write brings it with it.
    pub(super) fn told(self) -> u64 {
        debug_assert!(self.bytes >> Self::BYTES == 0 && self.slot >> Self::SLOT == 0);
        u64::from(self.mark) << 32 | (self.bytes as u64) << Self::SLOT | u64::from(self.slot)
    }

    /// What a write has brought.
    pub(super) fn of(told: u64) -> Self {
        let low = told as u32;
        let (slot, bytes) = (low & ((1 << Self::SLOT) - 1), (low >> Self::SLOT) as usize);
        Self { slot, bytes, mark: (told >> 32) as u32 }
    }
}

/// The memory of all loans, by number.
pub(super) struct Loans {
    memory: Box<[OnceLock<Option<Memory>>]>,
    /// Bytes of a slot.
    slot: usize,
}

/// The memory of one. Fields are closed in order.
struct Memory {
    registered: Registration,
    slots: Slots,
}

/// The slots of one.
struct Slots {
    pages: Pages,
    /// What its borrower tells with each message.
    mark: u32,
}

impl Loans {
    /// So many loans of slots of `slot` bytes.
    pub(super) fn new(count: usize, slot: usize) -> Self {
        Self { memory: (0..count).map(|_| OnceLock::new()).collect(), slot }
    }

    /// The memory of a loan, as others reach it; `None`: there is none left, or none that may be registered.
    pub(super) fn lend(&self, number: usize, domain: &Domain, endpoint: &Endpoint) -> Option<Place> {
        let memory = self.memory[number].get_or_init(|| {
            let bytes = self.offset(SLOTS);
            let slots = Slots { pages: Pages::of(bytes).ok()?, mark: domain.names.mark(number) };
            // SAFETY: the pages are given back behind their registration, and hold nothing but messages.
            let registered = unsafe { domain.register_landing((slots.pages.start(), bytes), endpoint) };
            Some(Memory { registered: registered.ok()?, slots })
        });
        let Memory { registered, slots } = memory.as_ref()?;
        let address = if domain.demands.virtual_addresses { slots.pages.start() as u64 } else { 0 };
        Some(Place { address, key: registered.key(), mark: slots.mark })
    }

    /// Where a slot of a loan lies in it.
    pub(super) fn offset(&self, index: usize) -> usize {
        self.slot.next_multiple_of(LINE) * index
    }

    /// A message that was written to a slot, and the token that it had: if there is such a slot, and whoever says so
    /// has its mark.
    pub(super) fn message(&self, written: Written) -> Option<(&[u8], u64)> {
        let (loan, index) = (written.slot as usize / SLOTS, written.slot as usize % SLOTS);
        let memory = self.memory.get(loan)?.get()?.as_ref()?;
        let is_told = memory.slots.believes(written, self.slot);
        is_told.then(|| memory.slots.take(self.offset(index), written.bytes))
    }
}

impl Slots {
    /// Whether it is the borrower who says that a message was written, of at most so many bytes.
    fn believes(&self, written: Written, most: usize) -> bool {
        self.mark == written.mark && written.bytes <= most
    }

    /// A message of so many bytes at an offset, both inside, and the token that it had. That is taken out: what was in
    /// a slot once is not taken for a message again, whoever says that one came.
    fn take(&self, offset: usize, bytes: usize) -> (&[u8], u64) {
        assert!(offset.is_multiple_of(LINE) && offset + bytes.max(TOKEN.end) <= self.pages.bytes());
        let start = self.pages.start().wrapping_add(offset);
        let token = start.wrapping_add(TOKEN.start).cast::<u64>();
        // SAFETY: eight bytes inside the pages, at a multiple of eight (both asserted), which stay as long as `self`. Those
        // who take the same message at a time all do it by this instruction.
        let token = unsafe { AtomicU64::from_ptr(token) }.swap(0, Ordering::Acquire);
        // SAFETY: zeroed pages of a slot (asserted), which stay as long as `self`. Its borrower writes to it
        // only while it is free, and learns that it is when what was in it was carried out; who does not keep to that
        // could as well write to any other registered memory, which all PEs promise each other not to.
        let message = unsafe { core::slice::from_raw_parts(start.cast_const(), bytes) };
        (message, u64::from_le(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_lent_has_no_message() {
        let loans = Loans::new(2, 1000);
        for slot in [0, 7, 8, u32::MAX] {
            assert_eq!(loans.message(Written { slot, bytes: 10, mark: 0 }), None);
        }
    }

    #[test]
    fn what_is_told_comes_back() {
        for (slot, bytes, mark) in [(0, 0, 0), (255, 65 << 10, u32::MAX), (7, 0xFF_FFFF, 1), (1, 24, 1 << 31)]
        {
            let written = Written { slot, bytes, mark };
            assert_eq!(Written::of(written.told()), written);
        }
    }

    #[test]
    fn only_who_was_told_the_mark_is_believed() {
        let slots = Slots { pages: Pages::of(4096).unwrap(), mark: 77 };
        let written = |bytes, mark| slots.believes(Written { slot: 0, bytes, mark }, 1000);
        assert!(written(1000, 77) && !written(1000, 78) && !written(1000, 0));
        assert!(!written(1001, 77), "it is longer than a slot");
    }

    #[test]
    fn a_message_is_taken_once() {
        let slots = Slots { pages: Pages::of(4096).unwrap(), mark: 0 };
        let text: Vec<u8> = (0..100).collect();
        let to = slots.pages.start().wrapping_add(2 * LINE);
        // SAFETY: a hundred bytes inside the pages, of which there is no reference.
        unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len()) };
        let (message, token) = slots.take(2 * LINE, 100);
        assert_eq!(token.to_le_bytes(), text[TOKEN]);
        assert_eq!(
            (&message[..TOKEN.start], &message[TOKEN.end..]),
            (&text[..TOKEN.start], &text[TOKEN.end..])
        );
        assert_eq!(slots.take(2 * LINE, 100).1, 0, "it was taken before");
    }
}
