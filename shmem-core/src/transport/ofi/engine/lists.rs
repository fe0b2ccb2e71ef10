//! Elements by index, as a PE sends them, and asks for them.
//!
//! A list is cut into as many messages as it needs, each of which its target carries out by itself. What changes or writes elements
//! is packed before these functions return. What is to come back takes one of a few [places](super::Limits::asked), and who finds
//! none makes progress until there is one.

use super::Engine;
use super::initiate::Asking;
use super::message::{INDEX, List, Message, Task};
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
    pub(crate) unsafe fn list(
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
        let is_for = positions.is_none_or(|positions| positions.len() == list.len());
        assert!(is_for, "a position for each of {} elements", list.len());
        let (pe, size, each) = (list.first.pe.number(), list.size, Task::of(deed).bytes_of_each(list.size));
        let Some(into) = deed.into() else {
            let borrows = self.limits.lends(list.len().saturating_mul(each)) && self.has_borrowed(wire, pe);
            for (_, part, deed) in cut(list, deed, self.limits.sent(list.len(), each, borrows)) {
                let fill = &mut |room: &mut [u8]| {
                    if let Deed::Place(source) = deed {
                        // SAFETY: all elements of the source are readable (caller), and there is room for those of one message.
                        unsafe { shared::copy(room.as_mut_ptr(), source, room.len()) };
                    }
                };
                self.send(wire, channel, pe, &Message::List(List::of(part), Task::of(deed)), fill, borrows);
            }
            return;
        };
        let bytes = list.len().saturating_mul(size.max(INDEX));
        let borrows = bytes > self.limits.asked.bytes && self.has_borrowed(wire, pe);
        let parts = cut(list, deed, self.limits.asked(size, each, borrows));
        let mut asking = Asking::new(self, wire, (channel, pe), until);
        for (from, part, deed) in parts {
            // There is room for an element at each position (caller), which stays as long as `until` says.
            let (into, positions) = match positions {
                None => (into.wrapping_add(from * size), None),
                Some(all) => (into, Some(all[from..][..part.len()].into())),
            };
            let destination = Destination::Elements { into, size, count: part.len(), positions };
            asking.ask(destination, &Message::List(List::of(part), Task::of(deed)));
        }
        asking.finish();
    }
}

/// The parts of a list of at most so many elements: where in it each begins, its elements, and what is done to them.
fn cut<'l>(
    list: Elements<'l>,
    deed: Deed<'l>,
    most: usize,
) -> impl Iterator<Item = (usize, Elements<'l>, Deed<'l>)> {
    assert!(most > 0, "elements of {} bytes fit no message", list.size);
    list.indices.chunks(most).enumerate().map(move |(k, indices)| {
        let from = k * most;
        (from, Elements { indices, ..list }, deed.part(from, indices.len(), list.size))
    })
}
