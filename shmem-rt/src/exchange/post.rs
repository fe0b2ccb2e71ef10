//! Messages of many items between all PEs.
//!
//! From each PE to each other one a ring of slots lies at the receiver, with a signal beside each slot: the number of the
//! message, which comes behind its data. The sender writes to a slot again when the receiver has said, in a word of the sender, that it
//! has copied what was there. (`channel` has the same for single items.) A message begins with a word that says what it is and how many items it has.
//!
//! A PE that has ended a round may send messages of the next one to others that have not. These stay where they are
//! until the receiver has come to that round, which the first word of the message tells.

use std::panic::Location;
use std::sync::atomic::{Ordering, fence};

use shmem_core::context::{Amo, PutSignal, SignalOp, gt};
use shmem_core::endpoint::{Endpoint, Initiator, Stores};
use shmem_core::halo::HaloToken;
use shmem_core::object::{Signal, SymBox};
use shmem_core::pe::Pe;

use crate::error::Result;
use crate::initial::zeroed;
use crate::termination::Termination;
use crate::thread::ThreadLevel;
use crate::waiting;
use crate::world::World;

/// Slots from one PE to another.
const SLOTS: usize = 4;

/// Most bytes of a slot: such a message takes about as long to write as it takes to send, and several stay in a cache.
const MOST: usize = 16 << 10;

/// Fewest bytes of a slot.
const FEWEST: usize = 64;

/// Bytes in front of the items of a message.
const HEAD: usize = size_of::<u64>();

/// What the items of a message are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Item,
    Answer,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Item, Self::Answer];
}

/// A message: its first word, and items.
#[derive(Default)]
pub(super) struct Message {
    words: Vec<u64>,
    count: usize,
    /// Bytes that are used, of the first word and the items.
    bytes: usize,
}

impl Message {
    /// How many items it has.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds an item; `room` is how many bytes there may be in a slot.
    #[inline(always)]
    pub(super) fn add(&mut self, item: &[u8], room: usize) {
        if self.count == 0 {
            self.begin(room);
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        bytes[self.bytes..][..item.len()].copy_from_slice(item);
        self.bytes += item.len();
        self.count += 1;
    }

    #[cold]
    fn begin(&mut self, room: usize) {
        self.words.resize(room / size_of::<u64>(), 0);
        self.bytes = HEAD;
    }

    /// Whether that may be what came: items of so many bytes.
    #[inline(always)]
    pub(super) fn has_items_of(&self, size: usize) -> bool {
        (HEAD + self.count * size).next_multiple_of(HEAD) == self.bytes
    }

    /// The bytes of an item.
    #[inline(always)]
    pub(super) fn item(&self, number: usize, size: usize) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[HEAD + number * size..][..size]
    }
}

/// What an [`Exchange`](crate::Exchange) can go through: any token that writes, and a phase that allows it.
#[diagnostic::on_unimplemented(
    message = "nothing can be exchanged through `{Self}`",
    label = "neither a token nor an open phase",
    note = "items are exchanged through the `World`, a context bound to it, or what `local_with_exchanges` gives"
)]
pub trait ExchangeToken: HaloToken {}

#[diagnostic::do_not_recommend]
impl<I: HaloToken + ?Sized> ExchangeToken for I {}

/// A token for what an exchange sends and waits for.
#[derive(Clone, Copy)]
pub(super) struct Through<'e>(pub(super) &'e Endpoint);

// SAFETY: it lives inside of calls of a round, which borrows a token or an open phase. What is done through it is done to
// the objects of an exchange, to which it gives nobody a handle: no phase opens them.
unsafe impl Initiator for Through<'_> {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.0
    }
}

impl Stores for Through<'_> {}

/// All PEs' messages to each other.
pub(super) struct Post {
    pub(super) pes: Vec<Pe>,
    me: Pe,
    /// Words of a slot.
    room: usize,
    /// What was sent to this PE: a ring for each.
    slots: SymBox<[u64]>,
    /// For each slot, which message is there.
    signals: SymBox<[Signal]>,
    /// For each PE, how many messages of this one it has taken.
    credits: SymBox<[Signal]>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// The PE whose messages are looked for first.
    turn: usize,
    termination: Termination,
}

/// What a PE has sent to another one.
#[derive(Clone, Copy, Default)]
struct Outgoing {
    sent: u64,
    /// Those of which the other one has said that it has taken them.
    taken: u64,
}

/// What a PE has from another one.
#[derive(Clone, Copy, Default)]
struct Incoming {
    taken: u64,
    /// Whether the next one is of the next round.
    is_early: bool,
}

impl Post {
    /// Collective. For items of `size` bytes.
    ///
    /// # Errors
    ///
    /// If the default heap has no room.
    #[track_caller]
    pub(super) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize, size: usize) -> Result<Self> {
        let pes = world.n_pes();
        let slot = (bytes / (pes * SLOTS)).clamp(FEWEST, MOST).max(HEAD + size).div_ceil(HEAD);
        let slots = pes * SLOTS;
        Ok(Self {
            pes: world.pes().iter().collect(),
            me: world.me(),
            room: slot,
            slots: world.alloc(zeroed(slots.saturating_mul(slot)))?,
            signals: world.alloc(zeroed(slots))?,
            credits: world.alloc(zeroed(pes))?,
            outgoing: vec![Outgoing::default(); pes],
            incoming: vec![Incoming::default(); pes],
            turn: 0,
            termination: Termination::new(world, false)?,
        })
    }

    pub(super) fn me(&self) -> Pe {
        self.me
    }

    /// Bytes of a message.
    #[inline(always)]
    pub(super) fn bytes(&self) -> usize {
        self.room * size_of::<u64>()
    }

    /// How many items of so many bytes a message has room for.
    pub(super) fn capacity(&self, size: usize) -> usize {
        // Of items without bytes as many as have some of one.
        (self.bytes() - HEAD) / size.max(1)
    }

    /// Sends a message, which has items, if there is room for it now, and empties it. Says whether it has.
    pub(super) fn send(&mut self, token: Through<'_>, to: usize, kind: Kind, message: &mut Message) -> bool {
        if !self.has_room(token, to) {
            return false;
        }
        let Message { words, count, bytes } = message;
        let used = bytes.div_ceil(size_of::<u64>());
        let (used_bits, count_bits) = ((used as u64) << 34, (*count as u64) << 2);
        words[0] = used_bits | count_bits | ((kind as u64) << 1) | (self.termination.round() % 2);
        let (pe, number) = (self.pes[to], self.outgoing[to].sent);
        let slot = self.me.number() * SLOTS + number as usize % SLOTS;
        let words = &words[..used];
        let place = self.slots.on(pe).index(slot * self.room..slot * self.room + words.len());
        let signal = self.signals.on(pe).index(slot);
        token.put_signal(place, words, signal, SignalOp::Set(number + 1));
        self.outgoing[to].sent = number + 1;
        self.termination.sent(1);
        (*count, *bytes) = (0, HEAD);
        true
    }

    /// Whether there is room for a message now.
    pub(super) fn has_room(&mut self, token: Through<'_>, to: usize) -> bool {
        if self.under_way(to) >= SLOTS as u64 {
            self.outgoing[to].taken = token.signal_fetch(self.credits.on(self.me).index(to));
        }
        self.under_way(to) < SLOTS as u64
    }

    /// Whether the receiver has taken all that was sent to it.
    pub(super) fn is_idle(&mut self, token: Through<'_>, to: usize) -> bool {
        if self.under_way(to) > 0 {
            self.outgoing[to].taken = token.signal_fetch(self.credits.on(self.me).index(to));
        }
        self.under_way(to) == 0
    }

    fn under_way(&self, to: usize) -> u64 {
        self.outgoing[to].sent - self.outgoing[to].taken
    }

    /// Copies the next message of this round, if one has come, and tells who sent it, and what it is.
    pub(super) fn take(&mut self, token: Through<'_>, into: &mut Message) -> Option<(usize, Kind)> {
        let from = self.find(token)?;
        let slot = self.slot(from);
        let here = self.slots.here(&token);
        let head = here.index(slot * self.room).load();
        let (used, kind) = ((head >> 34) as usize, Kind::ALL[((head >> 1) & 1) as usize]);
        into.words.resize(self.room, 0);
        here.index(slot * self.room..slot * self.room + used).copy_to(&mut into.words[..used]);
        (into.count, into.bytes) = ((head >> 2) as u32 as usize, used * size_of::<u64>());
        self.incoming[from].taken += 1;
        self.termination.taken();
        self.turn = if from + 1 == self.pes.len() { 0 } else { from + 1 };
        // The message is copied before the sender is told, on processors as well that would write first.
        fence(Ordering::Release);
        // Added, because two of these may arrive in any order.
        token.signal_add(self.credits.on(self.pes[from]).index(self.me.number()), 1);
        Some((from, kind))
    }

    /// The next PE of which a message of this round has come. Those of the next one are remembered.
    fn find(&mut self, token: Through<'_>) -> Option<usize> {
        let pes = self.pes.len();
        for step in 0..pes {
            let from = (self.turn + step) % pes;
            let (slot, Incoming { taken, is_early }) = (self.slot(from), self.incoming[from]);
            // Looks once, and makes progress: a message may lie with the network.
            if is_early || !self.signals.here(&token).index(slot).test(gt(taken)) {
                continue;
            }
            let head = self.slots.here(&token).index(slot * self.room).load();
            if head % 2 == self.termination.round() % 2 {
                return Some(from);
            }
            self.incoming[from].is_early = true;
        }
        None
    }

    /// Whether a message has come that may be of this round, for who waits.
    fn has_come(&self, token: Through<'_>) -> bool {
        let has = |(from, incoming): (usize, &Incoming)| {
            let signal = || self.signals.here(&token).index(self.slot(from)).__look();
            !incoming.is_early && signal() > incoming.taken
        };
        self.incoming.iter().enumerate().any(has)
    }

    /// The slot of the next message of a PE.
    fn slot(&self, from: usize) -> usize {
        from * SLOTS + self.incoming[from].taken as usize % SLOTS
    }

    /// Waits until a message has come, or one of some PEs has taken more.
    pub(super) fn wait(&self, token: Through<'_>, rooms: &[usize], location: &'static Location<'static>) {
        let credits = self.credits.here(&token);
        let has_room = |to: &usize| credits.index(*to).__look() > self.outgoing[*to].taken;
        let subject = || {
            rooms.first().map_or_else(
                || "no message has come".to_owned(),
                |to| {
                    let Outgoing { sent, taken } = self.outgoing[*to];
                    format!("to PE {to}, which is to pull: {sent} messages were sent, {taken} taken")
                },
            )
        };
        let is_told = || self.has_come(token) || rooms.iter().any(has_room);
        waiting::until(token.endpoint(), "exchange", location, is_told, subject);
    }

    /// This PE has nothing. Waits until there is a message, or all have nothing; says whether there is one.
    pub(super) fn rest(&mut self, token: Through<'_>, location: &'static Location<'static>) -> bool {
        self.termination.rest(&token, self.pes.iter().copied());
        loop {
            let is_over = || self.termination.is_over(&token);
            let subject = || "nothing has come, and others have not ended".to_owned();
            waiting::until(
                token.endpoint(),
                "exchange",
                location,
                || self.has_come(token) || is_over(),
                subject,
            );
            if is_over() {
                self.termination.go_on();
                self.incoming.iter_mut().for_each(|incoming| incoming.is_early = false);
                return false;
            }
            // One of the next round is none.
            if self.find(token).is_some() {
                self.termination.resume(&token);
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_another_size_are_seen() {
        for (size, others) in [(1, [9, 16]), (4, [1, 8]), (24, [8, 32])] {
            let mut message = Message::default();
            (0..5).for_each(|_| message.add(&vec![1; size], 256));
            // As it comes: whole words.
            message.bytes = message.bytes.next_multiple_of(HEAD);
            assert!(message.has_items_of(size));
            assert!(!others.into_iter().any(|other| message.has_items_of(other)), "{size}");
        }
    }
}
