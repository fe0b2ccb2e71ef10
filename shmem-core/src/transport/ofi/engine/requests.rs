//! Requests: what has been sent to one PE and not been answered yet.
//!
//! Every message but an answer takes one of the [window](super::Limits)'s places until it has been answered, so that a PE that is
//! busy is not flooded. Of most of them only the number is known; those that something comes back for are kept, with where it goes.

use std::sync::Arc;

use super::limits::Limits;
use super::wire::Flaw;
use crate::strided::Pattern;
use crate::transport::Channel;

/// Where the answer to a request goes, in the memory of whoever asked.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    /// The answer has packed data, which is unpacked into the blocks of `pattern`, from `into` on.
    Blocks { into: *mut u8, pattern: Pattern },
    /// So many words or elements of `size` bytes, from where that of position 0 is written. Without positions they lie one behind the other;
    /// the caller's own may be used for something else before the elements come.
    Elements { into: *mut u8, size: usize, count: usize, positions: Option<Arc<[u32]>> },
}

// SAFETY: the pointers are to memory that the initiator keeps for the operation until its channel is quiet,
// whichever thread brings the answer (`Transport`).
unsafe impl Send for Destination {}

/// A request that can be waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    slot: u16,
    use_of_slot: u64,
}

impl Ticket {
    /// Its name in messages, which is no other's for a long time.
    pub(super) fn name(self) -> u32 {
        name(self.slot, self.use_of_slot)
    }
}

fn name(slot: u16, use_of_slot: u64) -> u32 {
    u32::from(slot) | (use_of_slot as u32) << 16
}

/// A request whose answer is being written: who has it is the only one who writes there.
#[derive(Debug)]
pub(super) struct Arriving(u16);

/// A place in the table of requests.
struct RequestSlot {
    /// How many requests were in it and are finished.
    uses: u64,
    is_list: bool,
    /// `None`: the place is free, or the answer is being written by the holder of the [`Arriving`].
    asked: Option<(Channel, Destination)>,
}

/// What one PE has not answered yet.
///
/// Acknowledgements are counted by themselves: a PE that acknowledges what it was not sent has no request look as if it was
/// answered.
#[derive(Default)]
pub(super) struct Requests {
    unacknowledged: u32,
    /// As many requests are not answered as places are not free.
    slots: Vec<RequestSlot>,
    free: Vec<u16>,
    lists: u16,
}

impl Requests {
    /// Takes a place in the window for a message, if there is one, with a ticket, if something comes back for it. Of lists
    /// fewer may be asked for.
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
            // All places are taken: there are fewer than the window has.
            self.slots.push(RequestSlot { uses: 0, is_list, asked: None });
            (self.slots.len() - 1) as u16
        });
        let place = &mut self.slots[usize::from(slot)];
        (place.is_list, place.asked) = (is_list, wanted);
        Some(Some(Ticket { slot, use_of_slot: place.uses }))
    }

    /// A message was not sent after all. Behind it nobody writes to the destination of what was asked for.
    ///
    /// # Errors
    ///
    /// If it was sent: all are acknowledged, or the answer is here, or is being written.
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

    /// Where the answer to a request of this name goes. Until [`finish`](Self::finish) it is not answered again, and
    /// cannot be withdrawn.
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

    /// Whether a request has been answered, so that nobody writes to its destination any more.
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

    /// Whoever asked waits on: its memory is written to until the answer is there.
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
