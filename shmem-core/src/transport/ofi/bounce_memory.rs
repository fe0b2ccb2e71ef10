//! Memory of the bounce buffers that this PE lends to others, for long messages. Who may use which of them is in
//! `engine/bounce_slots.rs`.
//!
//! The memory is mapped and registered when a grant is made, so a PE without long messages has none.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use super::buffers::Pool;
use super::domain::Domain;
use super::engine::{Region, SLOTS, TOKEN};
use crate::libfabric::bindings::FI_REMOTE_WRITE;
use crate::libfabric::{Endpoint, Registration};

/// Upper limit on grants of a PE.
pub(super) const MOST: usize = 32;

/// Number of completion queue entries for writes to all slots.
pub(super) const COMPLETIONS: usize = MOST * SLOTS;

const LINE: usize = 128;

/// The data that a write to a slot carries to the target's queue (`FI_REMOTE_CQ_DATA`): the slot, the length of the message there, and
/// the secret number of the grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) slot: u32,
    pub(super) bytes: usize,
    pub(super) mark: u32,
}

const _: () = assert!(MOST * SLOTS <= 1 << Written::SLOT, "the number of a slot fits the data of a write");

impl Written {
    const SLOT: u32 = 8;
    const BYTES: u32 = 24;

    pub(super) fn encoded(self) -> u64 {
        debug_assert!(self.bytes >> Self::BYTES == 0 && self.slot >> Self::SLOT == 0);
        u64::from(self.mark) << 32 | (self.bytes as u64) << Self::SLOT | u64::from(self.slot)
    }

    pub(super) fn decoded(data: u64) -> Self {
        let low = data as u32;
        let (slot, bytes) = (low & ((1 << Self::SLOT) - 1), (low >> Self::SLOT) as usize);
        Self { slot, bytes, mark: (data >> 32) as u32 }
    }
}

pub(super) struct BounceMemory {
    grants: Box<[OnceLock<Option<Granted>>]>,
    slot: usize,
}

/// Fields drop in this order.
struct Granted {
    /// `None` in tests, without writers.
    registered: Option<Registration>,
    slots: Pool,
    /// The secret number that the borrower sends with each message.
    mark: u32,
}

impl BounceMemory {
    pub(super) fn new(count: usize, slot: usize) -> Self {
        Self { grants: (0..count).map(|_| OnceLock::new()).collect(), slot }
    }

    /// The memory of a grant, for its borrower; `None`: it cannot be mapped or registered.
    pub(super) fn lend(&self, number: usize, domain: &Domain, endpoint: &Endpoint) -> Option<Region> {
        let grant = self.grants[number].get_or_init(|| {
            let mut grant = self.make(domain.job_keys.mark(number))?;
            // SAFETY: the slots are unmapped after their registration is closed, and hold nothing but messages.
            let registered =
                unsafe { domain.register(grant.slots.memory(), FI_REMOTE_WRITE, None, Some(endpoint)) };
            grant.registered = Some(registered.ok()?);
            Some(grant)
        });
        let Granted { registered, slots, mark } = grant.as_ref()?;
        let address = if domain.demands.virtual_addresses { slots.memory().0 as u64 } else { 0 };
        Some(Region { address, key: registered.as_ref()?.key(), mark: *mark })
    }

    fn make(&self, mark: u32) -> Option<Granted> {
        Some(Granted { registered: None, slots: Pool::new(self.offset(SLOTS)).ok()?, mark })
    }

    pub(super) fn offset(&self, index: usize) -> usize {
        self.slot.next_multiple_of(LINE) * index
    }

    /// The message in a slot, and its token, if the slot exists and the write carried the grant's mark. Zeroes replace the token, so
    /// a second notification does not find the message.
    pub(super) fn message(&self, Written { slot, bytes, mark }: Written) -> Option<(&[u8], u64)> {
        let (grant, index) = (slot as usize / SLOTS, slot as usize % SLOTS);
        let grant = self.grants.get(grant)?.get()?.as_ref()?;
        if grant.mark != mark || bytes > self.slot {
            return None;
        }
        let start = grant.slots.start_of(index, self.offset(1));
        const { assert!(TOKEN.end <= LINE && TOKEN.start.is_multiple_of(8), "each slot has room for a token") };
        let token = start.wrapping_add(TOKEN.start).cast::<u64>();
        // SAFETY: eight bytes of a slot, at a multiple of eight (asserted), which stay as long as `self`. All threads that take the
        // same message at a time use this instruction.
        let token = unsafe { AtomicU64::from_ptr(token) }.swap(0, Ordering::Acquire);
        // SAFETY: bytes of a slot (compared above), zeroed at first, which stay as long as `self`. The borrower writes to a slot
        // only while it is free, and is notified that it is free when its message was carried out. A borrower that breaks this rule
        // could as well write to any other registered memory, which all PEs promise each other not to do.
        let message = unsafe { core::slice::from_raw_parts(start.cast_const(), bytes) };
        Some((message, u64::from_le(token)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the mark, or of a slot that was not lent, nothing is taken; and a message is taken once.
    #[test]
    fn messages_are_where_they_were_written_and_nowhere_else() {
        const SLOT: u32 = SLOTS as u32 + 2;
        let grants = BounceMemory::new(2, 1000);
        let written = |slot, bytes, mark| {
            let written = Written { slot, bytes, mark };
            assert_eq!(Written::decoded(written.encoded()), written);
            grants.message(written)
        };
        for slot in [0, 7, SLOT, 255] {
            assert_eq!(written(slot, 10, 0), None, "nothing was lent");
        }
        grants.grants[1].get_or_init(|| grants.make(77));
        let text: Vec<u8> = (0..100).collect();
        let to = grants.grants[1].get().unwrap().as_ref().unwrap().slots.start_of(2, grants.offset(1));
        // SAFETY: a hundred bytes of a slot, of which there is no reference.
        unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len()) };
        for (slot, bytes, mark) in
            [(SLOT, 100, 78), (SLOT, 100, 0), (SLOT, 1001, 77), (2, 100, 77), (16, 100, 77)]
        {
            assert_eq!(written(slot, bytes, mark), None);
        }
        let (message, token) = written(SLOT, 100, 77).unwrap();
        assert_eq!(token.to_le_bytes(), text[TOKEN]);
        assert_eq!(
            (&message[..TOKEN.start], &message[TOKEN.end..]),
            (&text[..TOKEN.start], &text[TOKEN.end..])
        );
        assert_eq!(written(SLOT, 100, 77).unwrap().1, 0, "it was taken before");
    }
}
