//! Flow control, by limits of messages in flight and a count of the unanswered messages to each PE.
//!
//! Every message but an answer takes a place of the [window](Limits::window) until it is answered. Messages without a result are only
//! counted; those with a result, *requests*, are kept, with its destination.

use std::sync::Arc;

use super::message::{BEFORE_ANSWER, INDEX, MOST_BEFORE_DATA, MOST_BESIDE_ELEMENTS};
use super::network_interface::Flaw;
use crate::strided::Pattern;
use crate::transport::Channel;

/// The least allowed [`Limits::message`]: room for a put's fields and some data.
pub(super) const LEAST_MESSAGE: usize = 512;

/// Limits of messages in flight. The same on all PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Upper limit on unanswered messages from one PE to another.
    pub window: u16,
    /// Upper limit on the bytes of a message, at least [`LEAST_MESSAGE`].
    pub message: usize,
    /// Upper limit on PEs that get slots for long messages.
    pub grants: usize,
    /// Upper limit on the bytes of a message in a slot. Shorter messages overlap better, longer ones cost less.
    pub slot: usize,
    /// Upper limit on unanswered list requests from one PE to another. Their results take at most 64 KiB per sender.
    pub lists: u16,
    /// Upper limit on the bytes of a list request's result.
    pub asked: usize,
}

impl Limits {
    /// Messages so long that their number costs little, and so short that packing, sending and unpacking overlap.
    pub const DEFAULT: Self =
        Self { window: 64, message: 64 << 10, grants: 0, slot: 64 << 10, lists: 4, asked: 16 << 10 };

    /// The limits with messages of at most `most` bytes.
    #[must_use]
    pub fn with_message_of(self, most: usize) -> Self {
        Self { message: self.message.min(most), slot: self.slot.min(most), ..self }
    }

    /// Bytes of the longest message, in a slot or not.
    pub fn longest(&self) -> usize {
        if self.grants > 0 { self.message.max(self.slot) } else { self.message }
    }

    /// Most bytes of a message that fits both a slot and the wire.
    pub(super) fn least(&self) -> usize {
        self.message.min(self.slot)
    }

    /// Bytes of blocks for which each message of a transfer of `bytes` bytes has room, with a grant or without.
    pub fn carries(&self, bytes: usize, borrows: bool) -> usize {
        self.message_for(borrows && self.lends(bytes)) - MOST_BEFORE_DATA
    }

    /// Whether a transfer of `bytes` bytes uses slots, if there are some.
    pub(super) fn lends(&self, bytes: usize) -> bool {
        self.grants > 0 && bytes + MOST_BEFORE_DATA > self.message
    }

    /// Most bytes of each message of a transfer.
    pub(super) fn message_for(&self, borrows: bool) -> usize {
        if borrows { self.slot } else { self.message }
    }

    /// Most bytes of the result of one request for a list.
    pub(super) fn answer(&self) -> usize {
        self.asked.min(self.message - BEFORE_ANSWER)
    }

    /// Whether a message has room for an element of `size` bytes, in a slot or not.
    pub fn places(&self, size: usize) -> bool {
        MOST_BESIDE_ELEMENTS + INDEX + size <= self.least()
    }

    /// Whether elements of `size` bytes may be requested.
    pub fn picks(&self, size: usize) -> bool {
        size <= self.answer()
    }

    /// Most elements in a message that writes a list, at `each` bytes per element.
    pub(super) fn sent(&self, each: usize, borrows: bool) -> usize {
        (self.message_for(borrows) - MOST_BESIDE_ELEMENTS) / each
    }

    /// Most elements of `size` bytes in one request, at `each` request bytes each.
    pub(super) fn wanted(&self, size: usize, each: usize) -> usize {
        let request = self.message - MOST_BESIDE_ELEMENTS;
        // Positions of results take as many bytes as indices do.
        (self.answer() / size.max(INDEX)).min(request / each)
    }
}

/// The destination of a request's result, in memory of the caller.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    /// Packed data is unpacked into the blocks of `pattern`, from `into` on.
    Blocks { into: *mut u8, pattern: Pattern },
    /// `count` elements of `size` bytes; `into` is the place of position 0. Without positions they are consecutive. The positions are a
    /// copy, because the caller may change its own before the elements arrive.
    Elements { into: *mut u8, size: usize, count: usize, positions: Option<Arc<[u32]>> },
}

// SAFETY: the pointers are to memory that the initiator keeps for the operation until its channel is quiet,
// whichever thread receives the answer (`Transport`).
unsafe impl Send for Destination {}

/// A request that can be waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    slot: u16,
    use_of_slot: u64,
}

impl Ticket {
    /// The request's name in messages, reused only after 65536 requests in its slot.
    pub(super) fn name(self) -> u32 {
        name(self.slot, self.use_of_slot)
    }
}

fn name(slot: u16, use_of_slot: u64) -> u32 {
    u32::from(slot) | (use_of_slot as u32) << 16
}

/// A request whose answer is being written, by the holder of this value alone.
pub(super) struct Arriving(u16);

/// A place in the table of requests.
struct RequestSlot {
    /// Number of finished requests in this slot.
    uses: u64,
    is_list: bool,
    /// `None`: the place is free, or the answer is being written by the holder of the [`Arriving`].
    asked: Option<(Channel, Destination)>,
}

/// Unanswered messages to one PE.
///
/// Messages without a result are counted separately, so a PE that acknowledges messages that it was not sent cannot make a request look
/// answered.
#[derive(Default)]
pub(super) struct Requests {
    unacknowledged: u32,
    /// Unanswered requests are in the places that are not free.
    slots: Vec<RequestSlot>,
    free: Vec<u16>,
    lists: u16,
}

impl Requests {
    /// Takes a place in the window for a message, if one is free; with a ticket, if the message has a result. Lists have a lower
    /// limit.
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
            // All slots are in use, and fewer than the window has.
            self.slots.push(RequestSlot { uses: 0, is_list, asked: None });
            (self.slots.len() - 1) as u16
        });
        let place = &mut self.slots[usize::from(slot)];
        (place.is_list, place.asked) = (is_list, wanted);
        Some(Some(Ticket { slot, use_of_slot: place.uses }))
    }

    /// Takes back a message that was not sent. Afterwards no thread writes to its destination. Fails if the message was sent: all
    /// are acknowledged, or its answer was or is being written.
    pub(super) fn withdraw(&mut self, ticket: Option<Ticket>) -> Result<(), Flaw> {
        match ticket {
            None => self.answered(1),
            Some(ticket) if self.is_finished(ticket) => Err(Flaw::Answer),
            Some(ticket) => self.take(ticket.name()).map(|(arriving, ..)| self.finish(arriving)),
        }
    }

    pub(super) fn answered(&mut self, count: u32) -> Result<(), Flaw> {
        self.unacknowledged = self.unacknowledged.checked_sub(count).ok_or(Flaw::Answer)?;
        Ok(())
    }

    /// The destination of the request with this name. Until [`finish`](Self::finish) the request cannot be answered again or
    /// withdrawn.
    pub(super) fn take(&mut self, named: u32) -> Result<(Arriving, Channel, Destination), Flaw> {
        let number = named as u16;
        let slot = self.slots.get_mut(usize::from(number)).ok_or(Flaw::Answer)?;
        if name(number, slot.uses) != named {
            return Err(Flaw::Answer);
        }
        let (channel, destination) = slot.asked.take().ok_or(Flaw::Answer)?;
        Ok((Arriving(number), channel, destination))
    }

    pub(super) fn finish(&mut self, Arriving(number): Arriving) {
        let slot = &mut self.slots[usize::from(number)];
        slot.uses += 1;
        self.lists -= u16::from(slot.is_list);
        self.free.push(number);
    }

    /// Whether a request was answered, so that no thread writes to its destination.
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
        assert_eq!(requests.withdraw(Some(ticket)), Err(Flaw::Answer));
        assert!(!requests.is_finished(ticket));
        assert!(requests.take(ticket.name()).is_err(), "it is answered once");
        requests.finish(arriving);
        assert!(requests.is_finished(ticket));
        let next = ask(&mut requests);
        assert_eq!(requests.withdraw(Some(ticket)), Err(Flaw::Answer), "it is not the next one's");
        assert!(!requests.is_finished(next));
        assert_ne!(ask(&mut requests).slot, next.slot, "a place is free once");
        requests.withdraw(Some(next)).unwrap();
        assert!(requests.take(next.name()).is_err() && requests.is_finished(next));
        assert_eq!(requests.unanswered(), 1);
    }
}
