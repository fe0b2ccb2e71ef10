//! Messages of many items between all PEs, in [`Rings`]. The first word of a message contains the kind of content, the number of
//! items, and the round.
//!
//! A PE that has ended a round may send messages of the next round to PEs that have not. These messages stay in their slots until
//! the receiver has ended the round, too.

use std::panic::Location;

use shmem_core::context::wait_for;
use shmem_core::endpoint::{Endpoint, Initiator, Stores};
use shmem_core::halo::HaloToken;
use shmem_core::symmetric_data::PlainData;

use crate::caller::at;
use crate::error::Result;
use crate::message_rings::Rings;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Number of slots for messages from one PE to another.
const SLOTS: usize = 4;

/// Maximum bytes of a slot. A message of this size takes as long to write as to send, and several of them fit a cache.
const MOST: usize = 16 << 10;

const FEWEST: usize = 64;

/// Bytes of a message before its items: the first word.
const HEAD: usize = size_of::<u64>();

/// The kind of a message's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Items,
    Answers,
}

impl Content {
    pub(super) const ALL: [Self; 2] = [Self::Items, Self::Answers];
}

/// A message: a first word, then items.
#[derive(Default)]
pub(super) struct Message {
    words: Vec<u64>,
    pub(super) count: usize,
    /// Bytes of the first word and of the items so far.
    bytes: usize,
}

impl Message {
    /// Whether one more item fits a message of at most `room` bytes. An item of 0 bytes counts as 1 byte.
    #[inline(always)]
    pub(super) fn fits<T>(&self, room: usize) -> bool {
        HEAD + (self.count + 1) * size_of::<T>().max(1) <= room
    }

    /// Adds an item, which must fit a message of at most `room` bytes.
    #[inline(always)]
    pub(super) fn add<T: PlainData>(&mut self, item: &T, room: usize) {
        if self.count == 0 {
            self.begin(room);
        }
        let (item, bytes) = (bytemuck::bytes_of(item), bytemuck::cast_slice_mut::<_, u8>(&mut self.words));
        bytes[self.bytes..][..item.len()].copy_from_slice(item);
        self.bytes += item.len();
        self.count += 1;
    }

    #[cold]
    fn begin(&mut self, room: usize) {
        self.words.resize(room / size_of::<u64>(), 0);
        self.bytes = HEAD;
    }

    /// Whether the message is as long as its number of items, each of `size` bytes, requires.
    #[inline(always)]
    pub(super) fn has_items_of(&self, size: usize) -> bool {
        (HEAD + self.count * size).next_multiple_of(HEAD) == self.bytes
    }

    #[inline(always)]
    pub(super) fn item(&self, number: usize, size: usize) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[HEAD + number * size..][..size]
    }
}

/// A token for an [`Exchange`](crate::Exchange): any token that writes, or a phase that allows exchanges.
#[diagnostic::on_unimplemented(
    message = "nothing can be exchanged through `{Self}`",
    label = "neither a token nor an open phase",
    note = "items are exchanged through the `World`, a context bound to it, or what `local_with_exchanges` gives"
)]
pub trait ExchangeToken: HaloToken {}

#[diagnostic::do_not_recommend]
impl<I: HaloToken + ?Sized> ExchangeToken for I {}

/// The token by which an exchange sends and waits.
#[derive(Clone, Copy)]
pub(super) struct Through<'e>(pub(super) &'e Endpoint);

// SAFETY: a `Through` lives inside calls of a round, which borrows a token or an open phase. Operations through it access only the
// objects of an exchange, which no phase opens.
unsafe impl Initiator for Through<'_> {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.0
    }
}

impl Stores for Through<'_> {}

/// The message slots between all PEs.
pub(super) struct Post {
    pub(super) rings: Rings<u64>,
    /// Number of words of a slot.
    room: usize,
    /// For each PE, whether its next message belongs to the next round.
    early: Vec<bool>,
    /// Call that made the exchange, for error texts.
    made: &'static Location<'static>,
}

impl Post {
    /// Makes slots of about `bytes` bytes in all on each PE, for items of `size` bytes. Collective.
    #[track_caller]
    pub(super) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize, size: usize) -> Result<Self> {
        let pes = world.n_pes();
        let room = (bytes / (pes * SLOTS)).clamp(FEWEST, MOST).max(HEAD + size).div_ceil(HEAD);
        let rings = Rings::new(world, (SLOTS, 1), room, false)?;
        Ok(Self { rings, room, early: vec![false; pes], made: Location::caller() })
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> usize {
        self.room * size_of::<u64>()
    }

    /// Returns the number of items of `size` bytes that fit a message.
    pub(super) fn capacity(&self, size: usize) -> usize {
        (self.bytes() - HEAD) / size.max(1)
    }

    /// Sends and empties a message that has items, if the receiver has a free slot. Returns whether the message was sent.
    pub(super) fn send(
        &mut self,
        token: Through<'_>,
        to: usize,
        content: Content,
        message: &mut Message,
    ) -> bool {
        if self.rings.room(&token, to) == 0 {
            return false;
        }
        let Message { words, count, bytes } = message;
        let used = bytes.div_ceil(size_of::<u64>());
        let (used_bits, count_bits) = ((used as u64) << 34, (*count as u64) << 2);
        words[0] = used_bits | count_bits | ((content as u64) << 1) | (self.rings.termination.round % 2);
        self.rings.put(&token, self.rings.pes[to], &words[..used], 1, self.room);
        (*count, *bytes) = (0, HEAD);
        true
    }

    /// Copies the next message of this round, if one has arrived. Returns its sender and content.
    pub(super) fn take(&mut self, token: Through<'_>, into: &mut Message) -> Option<(usize, Content)> {
        let from = self.find(token)?;
        let (words, slot) = self.rings.next(&token, from);
        let start = slot * self.room;
        let head = words.index(start).load();
        let (used, content) = ((head >> 34) as usize, Content::ALL[((head >> 1) & 1) as usize]);
        into.words.resize(self.room, 0);
        words.index(start..start + used).copy_to(&mut into.words[..used]);
        (into.count, into.bytes) = ((head >> 2) as u32 as usize, used * size_of::<u64>());
        self.rings.taken(&token, from);
        Some((from, content))
    }

    /// Returns the next PE with an arrived message of this round. Marks PEs whose next message is of the next round as `early`.
    fn find(&mut self, token: Through<'_>) -> Option<usize> {
        let Self { rings, room, early, .. } = self;
        rings.find(&token, |rings, from| {
            let (words, slot) = rings.next(&token, from);
            early[from] = early[from] || words.index(slot * *room).load() % 2 != rings.termination.round % 2;
            !early[from]
        })
    }

    /// Whether a message has arrived that may be of this round. A wait polls this condition.
    fn has_arrived(&self, token: Through<'_>) -> bool {
        let has = |(from, is_early): (usize, &bool)| !is_early && self.rings.has_arrived(&token, from);
        self.early.iter().enumerate().any(has)
    }

    /// Blocks until a message has arrived, or a PE in `rooms` has freed slots.
    pub(super) fn wait(&self, token: Through<'_>, rooms: &[usize], location: &'static Location<'static>) {
        let subject = || {
            rooms.first().map_or_else(
                || "no message has come".to_owned(),
                |to| {
                    let (sent, taken, _) = self.rings.sent(*to);
                    format!("to PE {to}, which is to take them: {sent} messages were sent, {taken} taken")
                },
            )
        };
        let is_told = || self.has_arrived(token) || rooms.iter().any(|to| self.rings.has_credit(&token, *to));
        wait_for(token.endpoint(), "exchange", location, None, is_told, subject);
    }

    /// Declares this PE idle, and blocks until a message has arrived or all PEs are idle. Returns whether a message has arrived.
    pub(super) fn rest(&mut self, token: Through<'_>, location: &'static Location<'static>) -> bool {
        self.rings.termination.rest(&token, self.rings.pes.iter().copied());
        loop {
            let is_over = || self.rings.termination.is_over(&token);
            let subject = || format!("of {}: nothing has come, and others have not ended", at(self.made));
            let done = || self.has_arrived(token) || is_over();
            wait_for(token.endpoint(), "exchange", location, None, done, subject);
            if is_over() {
                self.rings.termination.go_on();
                self.early.fill(false);
                return false;
            }
            // Only a message of this round ends the idleness.
            if self.find(token).is_some() {
                self.rings.termination.resume(&token);
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
            (0..5 * size).for_each(|_| message.add(&1_u8, 256));
            message.count = 5;
            // As it comes: whole words.
            message.bytes = message.bytes.next_multiple_of(HEAD);
            assert!(message.has_items_of(size));
            assert!(!others.into_iter().any(|other| message.has_items_of(other)), "{size}");
        }
    }
}
