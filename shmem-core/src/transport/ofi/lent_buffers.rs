//! Memory of this PE's bounce buffers (slots), to which other PEs write long messages. `engine/bounce_slots.rs` assigns the slots.
//!
//! The memory of a grant (the slots of one sender) is mapped and registered with the grant, so a PE without grants has none.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use super::buffers::Pool;
use super::domain::Domain;
use super::engine::{Region, SLOTS, TOKEN};
use crate::libfabric::bindings::FI_REMOTE_WRITE;
use crate::libfabric::{Endpoint, Registration};

/// Upper limit on the grants (slots for one sender) that a PE makes, so that a slot's number fits the eight bits that it has in
/// [`Written`].
pub(super) const MOST: usize = 32;

/// Number of completion queue entries that writes to all slots need.
pub(super) const COMPLETIONS: usize = MOST * SLOTS;

const LINE: usize = 128;

/// The data that a write to a slot carries to the target's queue (`FI_REMOTE_CQ_DATA`): the slot, the length of the message, and
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

pub(super) struct LentBuffers {
    grants: Box<[OnceLock<Option<Granted>>]>,
    slot: usize,
}

/// The memory of a grant (the slots for one sender). Fields are in drop order: the registration closes before its memory is
/// unmapped.
struct Granted {
    /// Registration of the slots; `None` in tests, where no PE writes.
    registered: Option<Registration>,
    slots: Pool,
    /// The secret number that the borrower sends with each message.
    mark: u32,
}

impl LentBuffers {
    pub(super) fn new(count: usize, slot: usize) -> Self {
        Self { grants: (0..count).map(|_| OnceLock::new()).collect(), slot }
    }

    /// The memory of grant `number`, for the PE that borrows it; `None`: the memory cannot be mapped or registered.
    pub(super) fn lend(&self, number: usize, domain: &Domain, endpoint: &Endpoint) -> Option<Region> {
        let grant = self.grants[number].get_or_init(|| {
            let mut grant = self.make(domain.job_keys.mark(number))?;
            // SAFETY: the slots are unmapped after their registration is closed, and contain only messages.
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

    /// Returns the message in a slot, and its token, if the slot is lent, the message fits it, and the write carried the grant's
    /// mark. Replaces the token by zeroes, so that a second notification does not find a valid message.
    pub(super) fn message(&self, Written { slot, bytes, mark }: Written) -> Option<(&[u8], u64)> {
        let (grant, index) = (slot as usize / SLOTS, slot as usize % SLOTS);
        let grant = self.grants.get(grant)?.get()?.as_ref()?;
        if grant.mark != mark || bytes > self.slot {
            return None;
        }
        let start = grant.slots.start_of(index, self.offset(1));
        const { assert!(TOKEN.end <= LINE && TOKEN.start.is_multiple_of(8), "each slot has room for a token") };
        let token = start.wrapping_add(TOKEN.start).cast::<u64>();
        // SAFETY: `token` points to eight bytes of a slot, at a multiple of eight (asserted), which stay as long as `self`. Threads
        // that take the same message at the same time all use this instruction.
        let token = unsafe { AtomicU64::from_ptr(token) }.swap(0, Ordering::Acquire);
        // SAFETY: the bytes are in a slot (compared above), which was zeroed at first and stays as long as `self`. The borrower
        // writes to a slot only while the slot is free, and is notified of that after its message was carried out. A borrower that
        // breaks this rule could also write to any other registered memory, and all PEs promise not to do so.
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
        let grants = LentBuffers::new(2, 1000);
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
