//! Elements by index, as a PE sends them, and asks for them.
//!
//! A list is cut into as many messages as it needs, each of which its target carries out by itself. What changes or writes elements
//! is packed before these functions return. What is to come back takes one of a few [places](super::Limits::asked), and who finds
//! none makes progress until there is one.

use super::Engine;
use super::initiate::{Awaited, PARTS, Road};
use super::message::{Errand, INDEX, Listing};
use super::requests::Destination;
use super::rooms::Kept;
use super::wire::Wire;
use crate::shared;
use crate::transport::{Change, Channel, Elements, Operand, Until};

impl Engine {
    /// Changes words by index; nothing comes back but acknowledgements.
    ///
    /// # Panics
    ///
    /// If there are fewer operands than words.
    pub fn each(&self, wire: &dyn Wire, channel: Channel, words: Elements<'_>, change: Change<'_>) {
        assert!(change.is_for(words.len()), "{} words have fewer operands", words.len());
        self.send_list(wire, channel, words, Errand::Each(change), |_, room| {
            assert!(room.is_empty(), "a buffer has the size that was asked for");
        });
    }

    /// Writes elements by index, from bytes that lie one behind the other.
    ///
    /// # Safety
    ///
    /// As [`Transport::place`](crate::transport::Transport::place) until it returns.
    ///
    /// # Panics
    ///
    /// If no message [has room](super::Limits::places) for such an element.
    pub unsafe fn place(&self, wire: &dyn Wire, channel: Channel, to: Elements<'_>, source: *const u8) {
        self.send_list(wire, channel, to, Errand::Place, |from, room| {
            // SAFETY: all elements of the source are readable (caller), and as many are written here as there is room for,
            // which are those of one message.
            unsafe { shared::copy(room.as_mut_ptr(), source.wrapping_add(from * to.size), room.len()) };
        });
    }

    /// Reads elements by index; they are there on return, or when the channel is quiet, as `until` says.
    ///
    /// # Safety
    ///
    /// As [`Transport::pick`](crate::transport::Transport::pick).
    ///
    /// # Panics
    ///
    /// If such elements [may not](super::Limits::picks) be asked for, or there are fewer positions.
    pub unsafe fn pick(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        into: *mut u8,
        positions: Option<&[u32]>,
        from: Elements<'_>,
        until: Until,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.ask_list(wire, channel, into, positions, from, Errand::Pick, until) };
    }

    /// Changes words by index; what was there before is there on return, or when the channel is quiet, as `until` says.
    ///
    /// # Safety
    ///
    /// As [`Transport::fetch_each`](crate::transport::Transport::fetch_each).
    ///
    /// # Panics
    ///
    /// If there are fewer operands, or positions, than words.
    #[expect(clippy::too_many_arguments, reason = "those of a transport")]
    pub unsafe fn fetch_each(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        before: *mut u8,
        positions: Option<&[u32]>,
        words: Elements<'_>,
        change: Change<'_>,
        until: Until,
    ) {
        assert!(change.is_for(words.len()), "{} words have fewer operands", words.len());
        // SAFETY: the caller's promise.
        unsafe { self.ask_list(wire, channel, before, positions, words, Errand::Fetch(change), until) };
    }

    /// Bytes of all rooms for what was found for others, in use or not.
    pub fn room_bytes(&self) -> usize {
        self.rooms.bytes()
    }

    /// Sends a list that is only acknowledged. What is placed is written by `place`, which is given where in the list a message
    /// begins.
    fn send_list(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        list: Elements<'_>,
        errand: Errand<'_>,
        place: impl Fn(usize, &mut [u8]),
    ) {
        let (pe, each) = (list.first.pe.number(), errand.each(list.size));
        let borrows = self.limits.lends(list.len().saturating_mul(each)) && self.has_borrowed(wire, pe);
        let road = if borrows { Road::Written } else { Road::Sent };
        let most = self.limits.sent(list.len(), each, borrows);
        assert!(most > 0, "elements of {} bytes fit no message", list.size);
        for (from, part) in parts(list, most) {
            let errand = errand.part(from, part.len());
            let listing = Listing { from: self.sender(pe), number: channel.0, elements: part, errand };
            let write = &mut |buffer: &mut [u8]| place(from, listing.write(buffer));
            self.send(wire, channel, pe, listing.bytes(), write, road);
        }
    }

    /// Asks for a list, and waits for it if `until` says so.
    ///
    /// # Safety
    ///
    /// `into` must be writable for an element at each position, and nobody else's, for as long as `until` says.
    #[expect(clippy::too_many_arguments, reason = "what is asked for, and where it goes")]
    unsafe fn ask_list(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        into: *mut u8,
        positions: Option<&[u32]>,
        list: Elements<'_>,
        errand: Errand<'_>,
        until: Until,
    ) {
        assert!(
            positions.is_none_or(|positions| positions.len() == list.len()),
            "a position for each of {} elements",
            list.len()
        );
        let (pe, size) = (list.first.pe.number(), list.size);
        let bytes = list.len().saturating_mul(size.max(INDEX));
        let borrows = bytes > self.limits.asked.bytes && self.has_borrowed(wire, pe);
        let most = self.limits.asked(size, errand.each(size), borrows);
        assert!(most > 0, "elements of {size} bytes fit no answer");
        let (mut tickets, mut sent) = ([None; PARTS], 0);
        // A wire that unwinds would leave the destinations of what was asked for behind.
        let awaited = Awaited;
        for (from, part) in parts(list, most) {
            let errand = errand.part(from, part.len());
            let listing = Listing { from: self.sender(pe), number: 0, elements: part, errand };
            let (into, positions) = match positions {
                None => (into.wrapping_add(from * size), None),
                Some(all) => (into, Some(self.keep_positions(wire, &all[from..][..part.len()]))),
            };
            let destination = Destination::Elements { into, size, count: part.len(), positions };
            let write = &mut |request: u32, buffer: &mut [u8]| {
                let room = Listing { number: request, ..listing }.write(buffer);
                assert!(room.is_empty(), "a buffer has the size that was asked for");
            };
            let ticket = self.ask(wire, channel, pe, destination, listing.bytes(), write);
            if until == Until::Return {
                let before = tickets[sent % PARTS].replace(ticket);
                self.wait(wire, pe, before);
                sent += 1;
            }
        }
        core::mem::forget(awaited);
        for ticket in tickets {
            self.wait(wire, pe, ticket);
        }
    }

    /// Keeps where values go, as soon as there is room for it.
    fn keep_positions(&self, wire: &dyn Wire, positions: &[u32]) -> Kept {
        loop {
            if let Some(kept) = self.positions.keep(positions) {
                return kept;
            }
            wire.progress();
        }
    }
}

impl<'a> Errand<'a> {
    /// The same for `count` elements of the list from one on.
    fn part(self, from: usize, count: usize) -> Self {
        let of = |change: Change<'a>| {
            let Change { op, width, operand, expected } = change;
            let part = |which: usize, operand: Operand<'a>| {
                if which < op.operands() { operand.part(from, count, width) } else { Operand::Same(0) }
            };
            Change { operand: part(0, operand), expected: part(1, expected), ..change }
        };
        match self {
            Self::Each(change) => Self::Each(of(change)),
            Self::Fetch(change) => Self::Fetch(of(change)),
            Self::Place | Self::Pick => self,
        }
    }
}

/// The parts of a list of at most so many elements, and where in it each begins.
fn parts(list: Elements<'_>, most: usize) -> impl Iterator<Item = (usize, Elements<'_>)> {
    let parts = list.indices.chunks(most).enumerate();
    parts.map(move |(k, indices)| (k * most, Elements { indices, ..list }))
}
