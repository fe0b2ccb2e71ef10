//! One PE's end of the messages that go from one PE to another.

/// How messages from one PE to another lie in the ring that they have at the receiver: message k in slot k mod `slots`.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    /// A power of two.
    pub(super) slots: usize,
    /// The receiver tells of so many messages at a time that it has taken them.
    pub(super) step: u64,
}

/// What a PE has sent to another one.
#[derive(Clone, Copy, Default)]
pub(super) struct Outgoing {
    pub(super) sent: u64,
    /// Those of which the other one has said that it has taken them.
    pub(super) freed: u64,
}

/// What a PE has from another one.
#[derive(Clone, Copy, Default)]
pub(super) struct Incoming {
    pub(super) taken: u64,
    /// Those that are known to have arrived.
    pub(super) arrived: u64,
    /// Those of the taken ones of which the other one has yet to be told.
    pub(super) kept: u64,
}

impl Ring {
    /// A ring that has room for `capacity` messages, although not every one that was taken is told of: half of the ring is
    /// told of at once, or less where there is no room for as much.
    pub(super) fn new(capacity: usize) -> Self {
        let slots = (capacity + capacity / 4).next_power_of_two();
        Self { slots, step: (slots - capacity + 1).min(slots / 2).max(1) as u64 }
    }

    /// The slot of a message.
    #[inline(always)]
    pub(super) fn slot(self, message: u64) -> usize {
        message as usize & (self.slots - 1)
    }
}

impl Outgoing {
    /// How many messages there is room for.
    #[inline(always)]
    pub(super) fn room(self, ring: Ring) -> usize {
        ring.slots - (self.sent - self.freed) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_has_room_for_the_capacity_whatever_it_was_not_told_of() {
        for capacity in (1..300).chain([4096, 5000]) {
            let ring = Ring::new(capacity);
            let Ring { slots, step } = ring;
            assert!(slots.is_power_of_two() && slots < 3 * capacity, "{capacity}: {slots}");
            assert!(step > 0 && slots as u64 - (step - 1) >= capacity as u64, "{capacity}: {slots}, {step}");
            // It was not told of the last ones that were taken, and has as many on their way as it may.
            let outgoing = Outgoing { sent: capacity as u64 - 1 + step - 1, freed: 0 };
            assert!(outgoing.room(ring) > 0, "{capacity}");
        }
    }
}
