//! Channels: messages of one item between PEs, stored in ring buffers ([`Rings`]).
//!
//! A PE acknowledges several messages at once, so a ring has more slots than the capacity of the channel (if that is above 2).

use std::fmt;
use std::panic::Location;

use shmem_core::context::{Initiator, Stores, wait_for};
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::PlainData;
use shmem_core::text::counted;

use crate::error::Result;
use crate::group::CallSignature;
use crate::message_rings::Rings;
use crate::thread::ThreadLevel;
use crate::world::World;

const MOST: usize = 1 << 31;

impl<L: ThreadLevel> World<L> {
    /// Makes a channel between all PEs: each PE can send to each PE, itself included. Collective.
    ///
    /// The channel can buffer at least `capacity` messages from each PE to each PE. It occupies symmetric memory on
    /// each PE for 1 to 2.5 times `capacity * n_pes` messages, with a word for each.
    ///
    /// An example that sends numbers to the PE that counts them:
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let mut channel = world.channel::<u64>(32)?;
    ///     let mut counts = [0; 10];
    ///     let mut count = |_from: Pe, number: u64| counts[number as usize % 10] += 1;
    ///     for number in 0..100 {
    ///         let to = world.pe(number as usize % world.n_pes())?;
    ///         channel.send_taking(world, to, number, &mut count);   // takes while there is no room
    ///     }
    ///     // `None`: no PE sends, and all messages were taken.
    ///     while let Some((from, number)) = channel.next(world) {
    ///         count(from, number);
    ///     }
    ///     world.sum(&mut counts);
    ///     assert_eq!(counts, [10 * world.n_pes() as u64; 10]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If the default heap has too little free memory. The error is the same on every PE.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0, or more than 2^31.
    #[track_caller]
    pub fn channel<T: PlainData>(&self, capacity: usize) -> Result<Channel<T>> {
        assert!(
            (1..=MOST).contains(&capacity),
            "a channel with a capacity of {capacity} messages: from one PE to another it has room for 1 to {MOST}"
        );
        let subject = || format!("{} of {}", counted(capacity, "message"), show_size(size_of::<T>() as u64));
        let arguments = [capacity as u64, size_of::<T>() as u64, align_of::<T>() as u64];
        let signature = CallSignature::of_memory("channel", &arguments, &subject);
        self.team().agree_on(self.endpoint(), &signature);
        Ok(Channel { rings: Rings::new(self, slots_of(capacity), 1, true)? })
    }
}

/// Messages between all PEs. From [`World::channel`].
///
/// Messages from one PE to another arrive in the order in which they were sent; the receiver polls the senders in turn.
///
/// PEs that send to each other in a circle may all wait for free buffers. The runtime ends such a job as a deadlock.
/// [`send_taking`](Self::send_taking) avoids this, because it receives messages while it waits.
///
/// # Panics
///
/// All methods panic if another PE has made the channel, which is possible among PEs that are threads of one process.
pub struct Channel<T> {
    rings: Rings<T>,
}

impl<T: PlainData> Channel<T> {
    /// Sends a message. Blocks while the buffer for PE `to` is full.
    #[inline]
    #[track_caller]
    pub fn send(&mut self, token: &(impl Stores + ?Sized), to: Pe, message: T) {
        self.send_all(token, to, &[message]);
    }

    /// Sends messages in order, as many at once as free buffers allow. Blocks while the buffer for PE `to` is full.
    #[inline]
    #[track_caller]
    pub fn send_all(&mut self, token: &(impl Stores + ?Sized), to: Pe, mut messages: &[T]) {
        self.rings.check(token, "channel");
        while !messages.is_empty() {
            if self.rings.room(token, to.number()) > 0 {
                messages = &messages[self.put(token, to, messages)..];
            } else {
                self.wait_for_room(token, to, Location::caller(), || false);
            }
        }
    }

    /// Sends a message if a buffer is free now. Returns whether the message was sent.
    #[inline]
    #[track_caller]
    #[must_use = "without room the message was not sent"]
    pub fn try_send(&mut self, token: &(impl Stores + ?Sized), to: Pe, message: T) -> bool {
        self.rings.check(token, "channel");
        self.rings.room(token, to.number()) > 0 && self.put(token, to, &[message]) > 0
    }

    /// Sends a message. While no buffer is free, receives messages and calls `take` with sender and message. Blocks
    /// while there is neither a free buffer nor a message. PEs that send only by this method cannot deadlock.
    #[track_caller]
    pub fn send_taking(
        &mut self,
        token: &(impl Stores + ?Sized),
        to: Pe,
        message: T,
        mut take: impl FnMut(Pe, T),
    ) {
        while !self.try_send(token, to, message) {
            match self.try_recv(token) {
                Some((from, message)) => take(from, message),
                None => self.wait_for_room(token, to, Location::caller(), || self.has_arrived(token)),
            }
        }
    }

    /// Receives a message. Returns its sender and the message. Blocks until a message arrives.
    #[inline]
    #[track_caller]
    pub fn recv(&mut self, token: &(impl Stores + ?Sized)) -> (Pe, T) {
        loop {
            if let Some(message) = self.try_recv(token) {
                return message;
            }
            let subject = || "no message has come".to_owned();
            wait_for(token.endpoint(), "recv", Location::caller(), None, || self.has_arrived(token), subject);
        }
    }

    /// Receives a message if one has arrived. Returns its sender and the message.
    #[inline]
    #[track_caller]
    pub fn try_recv(&mut self, token: &(impl Stores + ?Sized)) -> Option<(Pe, T)> {
        self.rings.check(token, "channel");
        let from = self.rings.find(token, |_, _| true)?;
        let (items, slot) = self.rings.next(token, from);
        let message = items.index(slot).load();
        self.rings.taken(token, from);
        Some((self.rings.pes[from], message))
    }

    /// Receives a message. Returns its sender and the message. Blocks while no message is there but another PE may still send one.
    /// Returns `None` on all PEs when all PEs are in this call and every message was received. Every PE must repeat the call until
    /// it returns `None`; this last call is a barrier. Afterwards the channel can be used again.
    #[inline]
    #[track_caller]
    pub fn next<L: ThreadLevel>(&mut self, world: &World<L>) -> Option<(Pe, T)> {
        let message = self.try_recv(world);
        if message.is_some() { message } else { self.await_next(world, Location::caller()) }
    }

    #[cold]
    fn await_next<L: ThreadLevel>(
        &mut self,
        world: &World<L>,
        location: &'static Location<'static>,
    ) -> Option<(Pe, T)> {
        self.rings.termination.rest(world, world.pes());
        let is_over = || self.rings.termination.is_over(world);
        let subject = || "no message has come, and others do not rest".to_owned();
        wait_for(world.endpoint(), "next", location, None, || self.has_arrived(world) || is_over(), subject);
        if is_over() {
            self.rings.termination.end(world, location);
            return None;
        }
        // `resume` comes before `try_recv`, because a PE that has received a message must count as active in termination detection.
        self.rings.termination.resume(world);
        self.try_recv(world)
    }

    #[cold]
    fn wait_for_room(
        &self,
        token: &(impl Stores + ?Sized),
        to: Pe,
        location: &'static Location<'static>,
        other: impl Fn() -> bool,
    ) {
        let is_told = || self.rings.has_credit(token, to.number()) || other();
        let subject = || {
            let (sent, freed, room) = self.rings.sent(to.number());
            format!(
                "to PE {to}, which is to take messages: {sent} were sent, {freed} taken, and there is room for {room}"
            )
        };
        wait_for(token.endpoint(), "send", location, None, is_told, subject);
    }

    /// Sends the first messages, as many as fit into free consecutive slots. Returns their number.
    #[inline]
    fn put(&mut self, token: &(impl Stores + ?Sized), to: Pe, messages: &[T]) -> usize {
        let count = messages.len().min(self.rings.room_in_a_row(to.number()));
        self.rings.put(token, to, &messages[..count], count, 1);
        count
    }

    fn has_arrived(&self, token: &(impl Initiator + ?Sized)) -> bool {
        (0..self.rings.pes.len()).any(|from| self.rings.has_arrived(token, from))
    }
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channel (PE {} of {})", self.rings.me, self.rings.pes.len())
    }
}

/// Returns (slots of a ring, messages per acknowledgement). The slots suffice for `capacity` messages besides those
/// received but not yet acknowledged. An acknowledgement covers at most half of the ring.
fn slots_of(capacity: usize) -> (usize, u64) {
    let slots = (capacity + capacity / 4).next_power_of_two();
    (slots, (slots - capacity + 1).min(slots / 2).max(1) as u64)
}
