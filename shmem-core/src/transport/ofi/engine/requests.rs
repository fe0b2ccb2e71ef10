//! What has been sent to one PE and not been answered yet.
//!
//! Every message but an answer takes one of the [window](super::Limits)'s places until it has been
//! answered, so that a PE that is busy is not flooded. Of most of them only the number is known; those
//! that something comes back for are kept, with where it goes.

use super::fault::Flaw;
use super::positions::Kept;
use crate::strided::Pattern;
use crate::transport::{Channel, Width};

/// Where the answer to a request goes, in the memory of whoever asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Destination {
    /// Blocks.
    Blocks {
        /// The first one.
        into: *mut u8,
        /// Where they go, from the packed data.
        pattern: Pattern,
    },
    /// A word.
    Word {
        /// Where it is written.
        into: *mut u8,
        /// Its width.
        width: Width,
    },
    /// The elements of a list.
    Elements {
        /// Where that of position 0 is written.
        into: *mut u8,
        /// Bytes of each.
        size: usize,
        /// How many there are.
        count: usize,
        /// Where they go; `None`: one behind the other.
        positions: Option<Kept>,
    },
}

impl Destination {
    fn is_list(&self) -> bool {
        matches!(self, Self::Elements { .. })
    }
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

/// A place for a request.
struct Slot {
    /// How often it has been used.
    uses: u64,
    state: State,
}

#[derive(Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "it lies in a table; nothing is allocated for a request")]
enum State {
    Free,
    Asked(Channel, Destination),
    /// The answer is being written, by whoever has the [`Arriving`].
    Arriving {
        is_list: bool,
    },
}

/// What one PE has not answered yet.
///
/// Acknowledgements are counted by themselves: a PE that acknowledges what it was not sent has no request look as if it was
/// answered.
#[derive(Default)]
pub(super) struct Requests {
    /// Messages that are only acknowledged.
    unacknowledged: u32,
    /// As many requests are not answered as places are not free.
    slots: Vec<Slot>,
    free: Vec<u16>,
    /// Lists among the requests.
    lists: u16,
}

impl Requests {
    /// Takes a place in the window for a message, if there is one.
    pub(super) fn start(&mut self, window: u16) -> bool {
        let has_room = self.unanswered() < window.into();
        self.unacknowledged += u32::from(has_room);
        has_room
    }

    /// As [`start`](Self::start), for a message that something comes back for.
    /// Of lists there may be `lists` at a time.
    pub(super) fn ask(
        &mut self,
        window: u16,
        lists: u16,
        channel: Channel,
        destination: Destination,
    ) -> Option<Ticket> {
        let is_list = destination.is_list();
        if self.unanswered() >= window.into() || (is_list && self.lists >= lists) {
            return None;
        }
        self.lists += u16::from(is_list);
        let slot = self.free.pop().unwrap_or_else(|| {
            // All places are taken: there are fewer than the window has.
            self.slots.push(Slot { uses: 0, state: State::Free });
            (self.slots.len() - 1) as u16
        });
        let place = &mut self.slots[usize::from(slot)];
        place.state = State::Asked(channel, destination);
        Some(Ticket { slot, use_of_slot: place.uses })
    }

    /// A message was not sent after all.
    ///
    /// # Errors
    ///
    /// If all are acknowledged: so it was sent.
    pub(super) fn withdraw(&mut self) -> Result<(), Flaw> {
        self.answered(1)
    }

    /// As [`withdraw`](Self::withdraw), for a message that something comes back for. Behind it nobody writes to the
    /// destination.
    ///
    /// # Errors
    ///
    /// If the answer is here, or is being written: so it was sent.
    pub(super) fn withdraw_request(&mut self, ticket: Ticket) -> Result<(), Flaw> {
        let is_asked = matches!(self.slots[usize::from(ticket.slot)].state, State::Asked(..));
        if self.is_finished(ticket) || !is_asked {
            return Err(Flaw::Answer);
        }
        self.free(ticket.slot);
        Ok(())
    }

    /// Messages have been acknowledged.
    ///
    /// # Errors
    ///
    /// If there were not so many.
    pub(super) fn answered(&mut self, count: u32) -> Result<(), Flaw> {
        self.unacknowledged = self.unacknowledged.checked_sub(count).ok_or(Flaw::Answer)?;
        Ok(())
    }

    /// Where the answer to a request of this name goes. Until [`finish`](Self::finish) it is not answered again, and
    /// cannot be withdrawn.
    ///
    /// # Errors
    ///
    /// If there is no such request.
    pub(super) fn take(&mut self, named: u32) -> Result<(Arriving, Channel, Destination), Flaw> {
        let number = named as u16;
        let slot = self.slots.get_mut(usize::from(number)).ok_or(Flaw::Answer)?;
        match slot.state {
            State::Asked(channel, destination) if name(number, slot.uses) == named => {
                slot.state = State::Arriving { is_list: destination.is_list() };
                Ok((Arriving(number), channel, destination))
            }
            _ => Err(Flaw::Answer),
        }
    }

    /// A request has been answered.
    pub(super) fn finish(&mut self, Arriving(slot): Arriving) {
        self.free(slot);
    }

    fn free(&mut self, number: u16) {
        let slot = &mut self.slots[usize::from(number)];
        let was_list = match slot.state {
            State::Free => false,
            State::Asked(_, destination) => destination.is_list(),
            State::Arriving { is_list } => is_list,
        };
        self.lists -= u16::from(was_list);
        (slot.uses, slot.state) = (slot.uses + 1, State::Free);
        self.free.push(number);
    }

    /// Whether a request has been answered, so that nobody writes to its destination any more.
    pub(super) fn is_finished(&self, ticket: Ticket) -> bool {
        self.slots[usize::from(ticket.slot)].uses != ticket.use_of_slot
    }

    /// How many messages have not been answered.
    pub(super) fn unanswered(&self) -> u32 {
        self.unacknowledged + (self.slots.len() - self.free.len()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u16 = 64;
    const LISTS: u16 = 2;

    fn ask(requests: &mut Requests) -> Option<Ticket> {
        let into = core::ptr::null_mut();
        requests.ask(WINDOW, LISTS, Channel(0), Destination::Word { into, width: Width::W8 })
    }

    fn ask_list(requests: &mut Requests) -> Option<Ticket> {
        let into = core::ptr::null_mut();
        let elements = Destination::Elements { into, size: 8, count: 1, positions: None };
        requests.ask(WINDOW, LISTS, Channel(0), elements)
    }

    #[test]
    fn lists_have_fewer_places() {
        let mut requests = Requests::default();
        let (first, second) = (ask_list(&mut requests).unwrap(), ask_list(&mut requests).unwrap());
        assert!(ask_list(&mut requests).is_none() && ask(&mut requests).is_some());
        let (arriving, ..) = requests.take(first.name()).unwrap();
        assert!(ask_list(&mut requests).is_none(), "it is still being answered");
        requests.finish(arriving);
        let third = ask_list(&mut requests).unwrap();
        assert!(ask_list(&mut requests).is_none());
        requests.withdraw_request(second).unwrap();
        requests.withdraw_request(third).unwrap();
        assert!(ask_list(&mut requests).is_some() && ask_list(&mut requests).is_some());
    }

    /// Whoever asked waits on: its memory is written to until the answer is there.
    #[test]
    fn what_is_being_answered_is_not_withdrawn() {
        let mut requests = Requests::default();
        let ticket = ask(&mut requests).unwrap();
        let (arriving, ..) = requests.take(ticket.name()).unwrap();
        assert_eq!(requests.withdraw_request(ticket), Err(Flaw::Answer));
        assert!(!requests.is_finished(ticket));
        assert!(requests.take(ticket.name()).is_err(), "it is answered once");
        requests.finish(arriving);
        assert!(requests.is_finished(ticket));
        assert_eq!(requests.withdraw_request(ticket), Err(Flaw::Answer));
        let next = ask(&mut requests).unwrap();
        assert_eq!(requests.withdraw_request(ticket), Err(Flaw::Answer), "it is not the next one's");
        assert!(!requests.is_finished(next));
        assert_ne!(ask(&mut requests).unwrap().slot, next.slot, "a place is free once");
        assert_eq!(requests.unanswered(), 2);
    }

    #[test]
    fn what_was_not_sent_is_not_answered() {
        let mut requests = Requests::default();
        let ticket = ask(&mut requests).unwrap();
        requests.withdraw_request(ticket).unwrap();
        assert!(requests.take(ticket.name()).is_err() && requests.is_finished(ticket));
        assert_eq!(requests.unanswered(), 0);
        assert_eq!(requests.withdraw(), Err(Flaw::Answer));
        assert_eq!(requests.unanswered(), 0);
    }

    #[test]
    fn what_something_comes_back_for_is_not_acknowledged() {
        let mut requests = Requests::default();
        for place in 0..WINDOW {
            assert_eq!(ask(&mut requests).unwrap().slot, place);
            assert_eq!(requests.answered(1), Err(Flaw::Answer));
        }
        assert!(ask(&mut requests).is_none() && !requests.start(WINDOW), "the window has no more");
        let (arriving, ..) = requests.take(name(7, 0)).unwrap();
        requests.finish(arriving);
        assert!(requests.start(WINDOW));
        assert_eq!(requests.unanswered(), WINDOW.into());
        requests.answered(1).unwrap();
        assert_eq!(ask(&mut requests).unwrap().slot, 7);
    }
}
