//! Messages between PEs, one behind the other.
//!
//! From each PE to each other one a ring of slots lies at the receiver, with a signal beside each slot. A message is a put
//! with signal: the signal is the number of the message, so it stands for this message alone, and comes behind its data on
//! any network. (Of a counter that every message adds to, "two have come" may mean the second and the third.) Numbers count on
//! for ever, and their lower bits find the slot. Messages that are sent together lie in slots that follow each other, and take
//! one put: the signal of the first of them is the number behind the last.
//!
//! Credits for slots that were taken go to a word of the sender, several at once: so a ring has more slots than the channel
//! promises. Each PE waits on its own memory alone.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{Ordering, fence};

use shmem_core::context::{Amo, Initiator, PutSignal, SignalOp, Stores, gt};
use shmem_core::data::PlainData;
use shmem_core::object::{Here, Signal, SymBox};
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::text::counted;

use crate::error::Result;
use crate::group::Purpose;
use crate::initial::zeroed;
use crate::termination::Termination;
use crate::thread::ThreadLevel;
use crate::waiting;
use crate::world::World;

/// Most messages that a channel can be asked to have room for.
const MOST: usize = 1 << 31;

impl<L: ThreadLevel> World<L> {
    /// Makes a channel between all PEs: each can send to each, itself included, and takes what was sent to it. Collective.
    ///
    /// There is room for at least `capacity` messages from each PE to each other one. Who sends more waits until some were
    /// taken. Each PE gives symmetric memory for as many of every PE: for 1 to 2.5 times `capacity * n_pes` messages,
    /// with a word for each.
    ///
    /// Numbers are sent to the PE that counts them:
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
    ///     // `None`: nobody sends any more, and all was taken.
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
    /// If the default heap has no room: the same error on every PE.
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
        let purpose = Purpose::of_memory("channel", &arguments, &subject);
        self.team().agree_on(self.endpoint(), &purpose);
        let (pes, ring) = (self.n_pes(), Ring::new(capacity));
        let all = pes.saturating_mul(ring.slots);
        Ok(Channel {
            me: self.me(),
            pes: self.pes().iter().collect(),
            ring,
            slots: self.alloc(zeroed(all))?,
            signals: self.alloc(zeroed(all))?,
            credits: self.alloc(zeroed(pes))?,
            outgoing: vec![Outgoing::default(); pes],
            incoming: vec![Incoming::default(); pes],
            turn: 0,
            termination: Termination::new(self, true)?,
        })
    }
}

/// Messages between all PEs. From [`World::channel`].
///
/// Messages of one PE to another come in the order in which they were sent; those of different PEs are taken in turn.
///
/// PEs that send to each other in a circle may all wait for room, and none of them take anything; the job then ends, and says who
/// waits for whom. Such PEs take while they wait: [`send_taking`](Self::send_taking).
///
/// What a channel does beside a ring of one's own: data is there when the news of it is, on networks that deliver
/// puts in any order; a slot is used again when its message was copied out, and not when it was seen; both ends sleep while they
/// wait, and are woken; and [`next`](Self::next) knows when no message will come any more.
pub struct Channel<T> {
    me: Pe,
    pes: Vec<Pe>,
    ring: Ring,
    /// The messages of every PE to this one: a ring for each.
    slots: SymBox<[T]>,
    /// For each slot, behind which message its data has come.
    signals: SymBox<[Signal]>,
    /// For each PE, how many messages of this one it has taken.
    credits: SymBox<[Signal]>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// The PE whose messages are looked for first.
    turn: usize,
    termination: Termination,
}

impl<T: PlainData> Channel<T> {
    /// Sends a message. Waits while there is no room for it.
    ///
    /// # Panics
    ///
    /// If the channel is that of another PE. Only PEs that are threads of one process can come to that.
    #[inline]
    #[track_caller]
    pub fn send(&mut self, token: &(impl Stores + ?Sized), to: Pe, message: T) {
        self.send_all(token, to, &[message]);
    }

    /// Sends messages, as many at a time as there is room for. Waits while there is none.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[inline]
    #[track_caller]
    pub fn send_all(&mut self, token: &(impl Stores + ?Sized), to: Pe, mut messages: &[T]) {
        self.check(token);
        while !messages.is_empty() {
            if self.room(token, to) > 0 {
                messages = &messages[self.put(token, to, messages)..];
            } else {
                self.wait_for_room(token, to, Location::caller(), || false);
            }
        }
    }

    /// Sends a message if there is room for it now; says whether it has.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[inline]
    #[track_caller]
    #[must_use = "without room the message was not sent"]
    pub fn try_send(&mut self, token: &(impl Stores + ?Sized), to: Pe, message: T) -> bool {
        self.check(token);
        self.room(token, to) > 0 && self.put(token, to, &[message]) > 0
    }

    /// Sends a message. While there is no room for it, takes messages, and gives them to `take` with who has sent them; waits
    /// while there is neither. PEs that all send by this never wait for each other for ever.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
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
                None => self.wait_for_room(token, to, Location::caller(), || self.has_come(token)),
            }
        }
    }

    /// Takes a message, and tells who has sent it. Waits while there is none.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[inline]
    #[track_caller]
    pub fn recv(&mut self, token: &(impl Stores + ?Sized)) -> (Pe, T) {
        loop {
            if let Some(message) = self.try_recv(token) {
                return message;
            }
            let subject = || "no message has come".to_owned();
            waiting::until(token.endpoint(), "recv", Location::caller(), || self.has_come(token), subject);
        }
    }

    /// Takes a message if one has come, and tells who has sent it.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[inline]
    #[track_caller]
    pub fn try_recv(&mut self, token: &(impl Stores + ?Sized)) -> Option<(Pe, T)> {
        self.check(token);
        let from = self.first_to_take(token)?;
        Some((self.pes[from], self.take(token, from)))
    }

    /// Takes a message, and tells who has sent it. Waits while there is none, and others may send one. `None` on all PEs when all
    /// are in this call and every message was taken: all PEs call this until then, and meet in it. Afterwards the channel may
    /// be used again.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[inline]
    #[track_caller]
    pub fn next<L: ThreadLevel>(&mut self, world: &World<L>) -> Option<(Pe, T)> {
        let message = self.try_recv(world);
        if message.is_some() { message } else { self.await_next(world, Location::caller()) }
    }

    /// Whether no message has come that was not taken.
    ///
    /// # Panics
    ///
    /// If the channel was made by another PE.
    #[track_caller]
    pub fn is_empty(&self, token: &(impl Initiator + ?Sized)) -> bool {
        self.check(token);
        !(0..self.pes.len()).any(|from| self.arrived(token, from) > self.incoming[from].taken)
    }

    #[cold]
    fn await_next<L: ThreadLevel>(
        &mut self,
        world: &World<L>,
        location: &'static Location<'static>,
    ) -> Option<(Pe, T)> {
        self.termination.rest(world, world.pes());
        let is_over = || self.termination.is_over(world);
        let subject = || "no message has come, and others do not rest".to_owned();
        waiting::until(world.endpoint(), "next", location, || self.has_come(world) || is_over(), subject);
        if is_over() {
            self.termination.end(world, location);
            return None;
        }
        // Before it is taken, so that it is always with somebody who does not rest.
        self.termination.resume(world);
        self.try_recv(world)
    }

    /// How many messages there is room for.
    #[inline]
    fn room(&mut self, token: &(impl Stores + ?Sized), to: Pe) -> usize {
        let (ring, outgoing) = (self.ring, &mut self.outgoing[to.number()]);
        if outgoing.room(ring) == 0 {
            outgoing.freed = token.signal_fetch(self.credits.on(self.me).index(to.number()));
        }
        outgoing.room(ring)
    }

    /// Waits until the receiver has said that it has taken more, or `other` is true.
    #[cold]
    fn wait_for_room(
        &self,
        token: &(impl Stores + ?Sized),
        to: Pe,
        location: &'static Location<'static>,
        other: impl Fn() -> bool,
    ) {
        let Outgoing { sent, freed } = self.outgoing[to.number()];
        let credit = self.credits.here(token).index(to.number());
        let is_told = || credit.__look() > freed || other();
        let subject = || {
            let room = self.ring.slots;
            format!(
                "to PE {to}, which is to take messages: {sent} were sent, {freed} taken, and there is room for {room}"
            )
        };
        waiting::until(token.endpoint(), "send", location, is_told, subject);
    }

    /// Sends the first messages, as many as there is room for in slots that follow each other; gives how many.
    #[inline]
    fn put(&mut self, token: &(impl Stores + ?Sized), to: Pe, messages: &[T]) -> usize {
        let (ring, outgoing) = (self.ring, &mut self.outgoing[to.number()]);
        let slot = ring.slot(outgoing.sent);
        let count = messages.len().min(outgoing.room(ring)).min(ring.slots - slot);
        let first = self.me.number() * ring.slots + slot;
        let sent = outgoing.sent + count as u64;
        let place = self.slots.on(to).index(first..first + count);
        let signal = self.signals.on(to).index(first);
        token.put_signal(place, &messages[..count], signal, SignalOp::Set(sent));
        outgoing.sent = sent;
        self.termination.sent(count);
        count
    }

    /// The next PE of which a message has come.
    #[inline]
    fn first_to_take(&mut self, token: &(impl Stores + ?Sized)) -> Option<usize> {
        let pes = self.pes.len();
        for _ in 0..pes {
            let incoming = self.incoming[self.turn];
            if incoming.arrived > incoming.taken {
                return Some(self.turn);
            }
            let arrived = self.arrived(token, self.turn);
            if arrived > incoming.taken {
                self.incoming[self.turn].arrived = arrived;
                return Some(self.turn);
            }
            self.turn = if self.turn + 1 == pes { 0 } else { self.turn + 1 };
        }
        None
    }

    /// Behind which message of a PE all have come, as far as the signal of the next one tells.
    #[inline]
    fn arrived(&self, token: &(impl Initiator + ?Sized), from: usize) -> u64 {
        let Incoming { taken, arrived, .. } = self.incoming[from];
        if arrived > taken {
            return arrived;
        }
        // Looks once, and makes progress: a message may lie with the network.
        let signal = self.signal(token, from);
        if signal.test(gt(taken)) { signal.__look() } else { taken }
    }

    /// Whether a message has come that was not taken, for who waits.
    fn has_come(&self, token: &(impl Initiator + ?Sized)) -> bool {
        let has = |(from, incoming): (usize, &Incoming)| {
            incoming.arrived > incoming.taken || self.signal(token, from).__look() > incoming.taken
        };
        self.incoming.iter().enumerate().any(has)
    }

    /// The signal of the next message of a PE.
    #[inline]
    fn signal<'a>(&'a self, token: &'a (impl Initiator + ?Sized), from: usize) -> Here<'a, Signal> {
        self.signals.here(token).index(from * self.ring.slots + self.ring.slot(self.incoming[from].taken))
    }

    /// Takes the next message of a PE, which has come.
    #[inline]
    fn take(&mut self, token: &(impl Stores + ?Sized), from: usize) -> T {
        let (ring, incoming) = (self.ring, &mut self.incoming[from]);
        let slot = from * ring.slots + ring.slot(incoming.taken);
        let message = self.slots.here(token).index(slot).load();
        incoming.taken += 1;
        self.termination.taken();
        if incoming.taken == incoming.arrived {
            self.turn = if from + 1 == self.pes.len() { 0 } else { from + 1 };
        }
        incoming.kept += 1;
        if incoming.kept == ring.step {
            incoming.kept = 0;
            // The message is copied before the sender is told, on processors as well that would write first.
            fence(Ordering::Release);
            let credit = self.credits.on(self.pes[from]).index(self.me.number());
            // Added, because two of these may arrive in any order: what is set last might be the number set first.
            token.signal_add(credit, ring.step);
        }
        message
    }

    #[inline]
    #[track_caller]
    fn check(&self, token: &(impl Initiator + ?Sized)) {
        assert!(self.me == token.endpoint().me(), "this is the channel of PE {}: make one here", self.me);
        token.endpoint().require_open(Location::caller());
    }
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channel (PE {} of {})", self.me, self.pes.len())
    }
}

/// How messages from one PE to another lie in the ring that they have at the receiver: message k in slot k mod `slots`.
#[derive(Clone, Copy)]
struct Ring {
    /// A power of two.
    slots: usize,
    /// The receiver tells of so many messages at a time that it has taken them.
    step: u64,
}

/// What a PE has sent to another one.
#[derive(Clone, Copy, Default)]
struct Outgoing {
    sent: u64,
    /// Those of which the other one has said that it has taken them.
    freed: u64,
}

/// What a PE has from another one.
#[derive(Clone, Copy, Default)]
struct Incoming {
    taken: u64,
    /// Those that are known to have arrived.
    arrived: u64,
    /// Those of the taken ones of which the other one has yet to be told.
    kept: u64,
}

impl Ring {
    /// A ring that has room for `capacity` messages, although not every one that was taken is told of: half of the ring is
    /// told of at once, or less where there is no room for as much.
    fn new(capacity: usize) -> Self {
        let slots = (capacity + capacity / 4).next_power_of_two();
        Self { slots, step: (slots - capacity + 1).min(slots / 2).max(1) as u64 }
    }

    /// The slot of a message.
    #[inline(always)]
    fn slot(self, message: u64) -> usize {
        message as usize & (self.slots - 1)
    }
}

impl Outgoing {
    /// How many messages there is room for.
    #[inline(always)]
    fn room(self, ring: Ring) -> usize {
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
