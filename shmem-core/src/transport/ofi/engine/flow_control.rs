//! Flow control: limits on messages in flight, and the unanswered messages to each PE.
//!
//! Every message except answers occupies a place of the [window](Limits::window) until it is answered. Messages without a result
//! are only counted. Messages with a result (*requests*) are in a table, with the result's destination.

use std::sync::Arc;

use super::message::{BEFORE_ANSWER, INDEX, MOST_BEFORE_DATA, MOST_BESIDE_ELEMENTS};
use super::wire::Malformed;
use crate::strided::Pattern;
use crate::transport::Channel;

/// Minimum of [`Limits::message`], with room for a put's fields and some data.
pub(super) const LEAST_MESSAGE: usize = 512;

/// Limits on messages in flight, equal on all PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Upper limit on unanswered messages from one PE to another.
    pub window: u16,
    /// Upper limit on the bytes of a message, at least [`LEAST_MESSAGE`].
    pub message: usize,
    /// Upper limit on the PEs to which a PE lends bounce slots for long messages.
    pub grants: usize,
    /// Upper limit on the bytes of a message in a bounce slot. Shorter messages overlap better, longer ones cost less per byte.
    pub slot: usize,
    /// Upper limit on unanswered list requests from one PE to another, not counting those with at most 8 bytes of results. By
    /// default, their results take at most 64 KiB per sender.
    pub lists: u16,
    /// Upper limit on the bytes of a list request's result.
    pub asked: usize,
}

impl Limits {
    /// Default limits: messages are long, so that few are needed, but packing, sending and unpacking still overlap.
    pub const DEFAULT: Self =
        Self { window: 64, message: 64 << 10, grants: 0, slot: 64 << 10, lists: 4, asked: 16 << 10 };

    /// These limits, with messages of at most `most` bytes.
    #[must_use]
    pub fn with_message_of(self, most: usize) -> Self {
        Self { message: self.message.min(most), slot: self.slot.min(most), ..self }
    }

    /// Bytes of the longest message, in a slot or not.
    pub fn longest(&self) -> usize {
        if self.grants > 0 { self.message.max(self.slot) } else { self.message }
    }

    /// Upper limit on the bytes of a message that must fit both ways of sending: in a slot, and otherwise.
    pub(super) fn least(&self) -> usize {
        self.message.min(self.slot)
    }

    /// Bytes of data that fit each message of a transfer of `bytes` bytes; `borrows`: the sender has a grant.
    pub fn carries(&self, bytes: usize, borrows: bool) -> usize {
        self.message_for(borrows && self.lends(bytes)) - MOST_BEFORE_DATA
    }

    /// Whether a transfer of `bytes` bytes uses slots, if its sender has a grant.
    pub(super) fn lends(&self, bytes: usize) -> bool {
        self.grants > 0 && bytes + MOST_BEFORE_DATA > self.message
    }

    /// Upper limit on the bytes of each message of a transfer, which uses slots if it `borrows`.
    pub(super) fn message_for(&self, borrows: bool) -> usize {
        if borrows { self.slot } else { self.message }
    }

    /// Upper limit on the bytes of a list request's result, which is one message.
    pub(super) fn answer(&self) -> usize {
        self.asked.min(self.message - BEFORE_ANSWER)
    }

    /// Whether an element of `size` bytes fits a message, in a slot or not.
    pub fn places(&self, size: usize) -> bool {
        MOST_BESIDE_ELEMENTS + INDEX + size <= self.least()
    }

    /// Whether an element of `size` bytes fits the result of a request.
    pub fn picks(&self, size: usize) -> bool {
        size <= self.answer()
    }

    /// Upper limit on elements in a message that writes a list, at `each` bytes per element.
    pub(super) fn sent(&self, each: usize, borrows: bool) -> usize {
        (self.message_for(borrows) - MOST_BESIDE_ELEMENTS) / each
    }

    /// Upper limit on elements of `size` bytes in the result of a request that has `each` bytes per element.
    pub(super) fn wanted(&self, size: usize, each: usize) -> usize {
        let request = self.message - MOST_BESIDE_ELEMENTS;
        // A result's position also takes `INDEX` bytes of memory, so smaller elements count as `INDEX` bytes.
        (self.answer() / size.max(INDEX)).min(request / each)
    }
}

/// The destination of a request's result, in memory of the caller.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    /// Blocks of `pattern` from `into` on. Data arrives packed, and is unpacked into the blocks.
    Blocks { into: *mut u8, pattern: Pattern },
    /// `count` elements of `size` bytes, at `positions` from `into` on. Without positions they are consecutive. The positions are a
    /// copy, because the caller may change its own before the elements arrive.
    Elements { into: *mut u8, size: usize, count: usize, positions: Option<Arc<[u32]>> },
}

// SAFETY: the initiator keeps the memory until its channel is quiet (`Transport`), whichever thread gets the answer.
unsafe impl Send for Destination {}

/// Identifies a request, so that its sender can wait for the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    slot: u16,
    use_of_slot: u64,
}

impl Ticket {
    /// The number that identifies the request in messages: its slot, and 16 bits of the slot's use count.
    pub(super) fn name(self) -> u32 {
        name(self.slot, self.use_of_slot)
    }
}

fn name(slot: u16, use_of_slot: u64) -> u32 {
    u32::from(slot) | (use_of_slot as u32) << 16
}

/// A request whose result is being written. Only the holder of this value writes it.
pub(super) struct Arriving(u16);

/// A place in the table of requests, for one request at a time.
struct RequestSlot {
    /// Number of requests of this slot that are over: answered, or withdrawn.
    uses: u64,
    is_list: bool,
    /// An unanswered request. `None`: the place is free, or the holder of the [`Arriving`] is writing the result.
    asked: Option<(Channel, Destination)>,
}

/// Unanswered messages to one PE.
///
/// Messages without a result are counted separately, so that acknowledgements that exceed them are an error, and cannot make a
/// request look answered.
#[derive(Default)]
pub(super) struct Requests {
    unacknowledged: u32,
    /// Places for requests. Those that are not in `free` have an unanswered request.
    slots: Vec<RequestSlot>,
    free: Vec<u16>,
    lists: u16,
}

impl Requests {
    /// Takes a place in the window, and a ticket if there is a result (`wanted`). Of lists, fewer may be unanswered. Returns `None`
    /// if no place is free, and `Some(None)` for a message without a result.
    pub(super) fn start(
        &mut self,
        limits: &Limits,
        wanted: Option<(Channel, Destination)>,
    ) -> Option<Option<Ticket>> {
        let is_list = wanted.as_ref().is_some_and(|(_, destination)| match destination {
            Destination::Elements { size, count, .. } => size * count > size_of::<u64>(),
            _ => false,
        });
        if self.unanswered() >= limits.window.into() || (is_list && self.lists >= limits.lists) {
            return None;
        }
        if wanted.is_none() {
            self.unacknowledged += 1;
            return Some(None);
        }
        self.lists += u16::from(is_list);
        let slot = self.free.pop().unwrap_or_else(|| {
            // All slots are in use, but the window allows more requests.
            self.slots.push(RequestSlot { uses: 0, is_list, asked: None });
            (self.slots.len() - 1) as u16
        });
        let place = &mut self.slots[usize::from(slot)];
        (place.is_list, place.asked) = (is_list, wanted);
        Some(Some(Ticket { slot, use_of_slot: place.uses }))
    }

    /// Undoes [`start`](Self::start) for a message that was not sent. Afterwards no thread writes to its destination. Fails if it
    /// was answered nevertheless: all messages are acknowledged, or the request's result was or is being written.
    pub(super) fn withdraw(&mut self, ticket: Option<Ticket>) -> Result<(), Malformed> {
        match ticket {
            None => self.answered(1),
            Some(ticket) if self.is_finished(ticket) => Err(Malformed::Answer),
            Some(ticket) => self.take(ticket.name()).map(|(arriving, ..)| self.finish(arriving)),
        }
    }

    pub(super) fn answered(&mut self, count: u32) -> Result<(), Malformed> {
        self.unacknowledged = self.unacknowledged.checked_sub(count).ok_or(Malformed::Answer)?;
        Ok(())
    }

    /// Takes the destination of a request. Until [`finish`](Self::finish), the request is neither answered again nor withdrawn.
    pub(super) fn take(&mut self, named: u32) -> Result<(Arriving, Channel, Destination), Malformed> {
        let number = named as u16;
        let slot = self.slots.get_mut(usize::from(number)).ok_or(Malformed::Answer)?;
        if name(number, slot.uses) != named {
            return Err(Malformed::Answer);
        }
        let (channel, destination) = slot.asked.take().ok_or(Malformed::Answer)?;
        Ok((Arriving(number), channel, destination))
    }

    pub(super) fn finish(&mut self, Arriving(number): Arriving) {
        let slot = &mut self.slots[usize::from(number)];
        slot.uses += 1;
        self.lists -= u16::from(slot.is_list);
        self.free.push(number);
    }

    /// Whether a request was answered or withdrawn, so that no thread writes to its destination.
    pub(super) fn is_finished(&self, ticket: Ticket) -> bool {
        self.slots[usize::from(ticket.slot)].uses != ticket.use_of_slot
    }

    pub(super) fn unanswered(&self) -> u32 {
        self.unacknowledged + (self.slots.len() - self.free.len()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(requests: &mut Requests) -> Ticket {
        let into = core::ptr::null_mut();
        let destination = Destination::Elements { into, size: 8, count: 1, positions: None };
        requests.start(&Limits::DEFAULT, Some((Channel(0), destination))).unwrap().unwrap()
    }

    /// The caller goes on waiting, since its memory is being written to.
    #[test]
    fn what_is_being_answered_is_not_withdrawn() {
        let mut requests = Requests::default();
        let ticket = ask(&mut requests);
        let (arriving, ..) = requests.take(ticket.name()).unwrap();
        assert_eq!(requests.withdraw(Some(ticket)), Err(Malformed::Answer));
        assert!(!requests.is_finished(ticket));
        assert!(requests.take(ticket.name()).is_err(), "it is answered once");
        requests.finish(arriving);
        assert!(requests.is_finished(ticket));
        let next = ask(&mut requests);
        assert_eq!(requests.withdraw(Some(ticket)), Err(Malformed::Answer), "it is not the next one's");
        assert!(!requests.is_finished(next));
        assert_ne!(ask(&mut requests).slot, next.slot, "a place is free once");
        requests.withdraw(Some(next)).unwrap();
        assert!(requests.take(next.name()).is_err() && requests.is_finished(next));
        assert_eq!(requests.unanswered(), 1);
    }
}
