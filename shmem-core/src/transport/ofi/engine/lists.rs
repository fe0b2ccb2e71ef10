//! Elements by index, as a PE sends them, and asks for them.
//!
//! A list is cut into as many messages as it needs, each of which its target carries out by itself. What changes or writes elements
//! is packed before these functions return. What is to come back takes one of a few [places](super::Limits::asked), and who finds
//! none makes progress until there is one.

use super::Engine;
use super::initiate::{Awaited, Parts};
use super::message::{INDEX, Listing, bytes_of_each};
use super::requests::Destination;
use super::wire::Wire;
use crate::shared;
use crate::transport::{Channel, Deed, Elements, Until};

impl Engine {
    /// Does something to elements; what comes back is there on return, or when the channel is quiet, as `until` says.
    ///
    /// # Safety
    ///
    /// As [`Transport::list`](crate::transport::Transport::list).
    ///
    /// # Panics
    ///
    /// If there are fewer operands, or positions, than elements, or no message has room for one: [`places`](super::Limits::places),
    /// [`picks`](super::Limits::picks).
    pub unsafe fn list(
        &self,
        wire: &dyn Wire,
        channel: Channel,
        list: Elements<'_>,
        deed: Deed<'_>,
        positions: Option<&[u32]>,
        until: Until,
    ) {
        if let Deed::Change(change, _) = deed {
            assert!(change.is_for(list.len()), "{} words have fewer operands", list.len());
        }
        match deed.into() {
            // SAFETY: the caller's promise.
            None => unsafe { self.send_list(wire, channel, list, deed) },
            // SAFETY: the caller's promise.
            Some(into) => unsafe { self.ask_list(wire, channel, into, positions, list, deed, until) },
        }
    }

    /// Sends a list that is only acknowledged.
    ///
    /// # Safety
    ///
    /// As [`list`](Self::list).
    unsafe fn send_list(&self, wire: &dyn Wire, channel: Channel, list: Elements<'_>, deed: Deed<'_>) {
        let (pe, each) = (list.first.pe.number(), bytes_of_each(deed, list.size));
        let borrows = self.limits.lends(list.len().saturating_mul(each)) && self.has_borrowed(wire, pe);
        let most = self.limits.sent(list.len(), each, borrows);
        assert!(most > 0, "elements of {} bytes fit no message", list.size);
        for (from, part) in cut(list, most) {
            let deed = deed.part(from, part.len(), list.size);
            let listing = Listing { from: self.sender(pe), number: channel.0, elements: part, deed };
            let write = &mut |buffer: &mut [u8]| {
                let room = listing.write(buffer);
                match deed {
                    // SAFETY: all elements of the source are readable (caller), and as many are written here as there is room for,
                    // which are those of one message.
                    Deed::Place(source) => unsafe { shared::copy(room.as_mut_ptr(), source, room.len()) },
                    Deed::Pick(_) | Deed::Change(..) => {
                        assert!(room.is_empty(), "a buffer has the size that was asked for");
                    }
                }
            };
            self.send(wire, channel, pe, listing.bytes(), write, borrows);
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
        deed: Deed<'_>,
        until: Until,
    ) {
        let is_for = positions.is_none_or(|positions| positions.len() == list.len());
        assert!(is_for, "a position for each of {} elements", list.len());
        let (pe, size) = (list.first.pe.number(), list.size);
        let bytes = list.len().saturating_mul(size.max(INDEX));
        let borrows = bytes > self.limits.asked.bytes && self.has_borrowed(wire, pe);
        let most = self.limits.asked(size, bytes_of_each(deed, size), borrows);
        assert!(most > 0, "elements of {size} bytes fit no answer");
        let mut parts = Parts::default();
        // A wire that unwinds would leave the destinations of what was asked for behind.
        let awaited = Awaited;
        for (from, part) in cut(list, most) {
            let deed = deed.part(from, part.len(), size);
            let listing = Listing { from: self.sender(pe), number: 0, elements: part, deed };
            let (into, positions) = match positions {
                None => (into.wrapping_add(from * size), None),
                Some(all) => (into, Some(all[from..][..part.len()].into())),
            };
            let destination = Destination::Elements { into, size, count: part.len(), positions };
            let write = &mut |request: u32, buffer: &mut [u8]| {
                let room = Listing { number: request, ..listing }.write(buffer);
                assert!(room.is_empty(), "a buffer has the size that was asked for");
            };
            let ticket = self.ask(wire, channel, pe, destination, listing.bytes(), write);
            self.wait(wire, pe, parts.add(ticket, until == Until::Return));
        }
        core::mem::forget(awaited);
        parts.rest().for_each(|ticket| self.wait(wire, pe, Some(ticket)));
    }
}

/// The parts of a list of at most so many elements, and where in it each begins.
fn cut(list: Elements<'_>, most: usize) -> impl Iterator<Item = (usize, Elements<'_>)> {
    let parts = list.indices.chunks(most).enumerate();
    parts.map(move |(k, indices)| (k * most, Elements { indices, ..list }))
}
