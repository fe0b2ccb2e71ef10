//! What has been sent to one PE and not been answered yet.
//!
//! Every message but an answer takes one of the [window](super::Limits)'s places until it has been
//! answered, so that a PE that is busy is not flooded. Of most of them only the number is known; those
//! that something comes back for are kept, with where it goes.

use super::fault::Flaw;
use crate::strided::Pattern;
use crate::transport::{Channel, Width};

/// Where the answer to a request goes, in the memory of whoever asked.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "it lies in a table; nothing is allocated for a request")]
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

/// A place for a request.
struct Slot {
    /// How often it has been used.
    uses: u64,
    state: State,
}

#[derive(Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "as above")]
enum State {
    Free,
    Asked(Channel, Destination),
    /// The answer is being written.
    Arriving,
}

/// What one PE has not answered yet.
#[derive(Default)]
pub(super) struct Requests {
    unanswered: u32,
    slots: Vec<Slot>,
    free: Vec<u16>,
}

impl Requests {
    /// Takes a place in the window for a message, if there is one.
    pub(super) fn start(&mut self, window: u16) -> bool {
        let has_room = self.unanswered < window.into();
        self.unanswered += u32::from(has_room);
        has_room
    }

    /// As [`start`](Self::start), for a message that something comes back for.
    pub(super) fn ask(&mut self, window: u16, channel: Channel, destination: Destination) -> Option<Ticket> {
        if !self.start(window) {
            return None;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { uses: 0, state: State::Free });
            (self.slots.len() - 1) as u16
        });
        let place = &mut self.slots[usize::from(slot)];
        place.state = State::Asked(channel, destination);
        Some(Ticket { slot, use_of_slot: place.uses })
    }

    /// A message was not sent after all.
    pub(super) fn withdraw(&mut self) {
        self.unanswered -= 1;
    }

    /// Messages have been answered.
    ///
    /// # Errors
    ///
    /// If there were not so many.
    pub(super) fn answered(&mut self, count: u32) -> Result<(), Flaw> {
        self.unanswered = self.unanswered.checked_sub(count).ok_or(Flaw::Answer)?;
        Ok(())
    }

    /// Where the answer to a request of this name goes. Until [`finish`](Self::finish) it is not answered again.
    ///
    /// # Errors
    ///
    /// If there is no such request.
    pub(super) fn take(&mut self, named: u32) -> Result<(Ticket, Channel, Destination), Flaw> {
        let number = named as u16;
        let slot = self.slots.get_mut(usize::from(number)).ok_or(Flaw::Answer)?;
        match slot.state {
            State::Asked(channel, destination) if name(number, slot.uses) == named => {
                slot.state = State::Arriving;
                Ok((Ticket { slot: number, use_of_slot: slot.uses }, channel, destination))
            }
            _ => Err(Flaw::Answer),
        }
    }

    /// A request has been answered, or was not sent after all.
    pub(super) fn finish(&mut self, ticket: Ticket) {
        let slot = &mut self.slots[usize::from(ticket.slot)];
        (slot.uses, slot.state) = (slot.uses + 1, State::Free);
        self.free.push(ticket.slot);
        self.unanswered -= 1;
    }

    /// Whether a request has been answered.
    pub(super) fn is_finished(&self, ticket: Ticket) -> bool {
        self.slots[usize::from(ticket.slot)].uses != ticket.use_of_slot
    }

    /// How many messages have not been answered.
    pub(super) fn unanswered(&self) -> u32 {
        self.unanswered
    }
}
