//! Ordered messages from each PE to each other PE, in ring buffers.
//!
//! For each sender, a receiver has a ring of slots, and a signal for each slot. A sender numbers its messages to a receiver from 0.
//! The lower bits of a message's number are the index of its slot. A message is a put with signal, which sets the slot's signal to
//! the number plus one. Numbers never repeat, so a signal announces one put alone. (A counter to which every message adds would not
//! tell which messages have arrived.) Messages that are sent together take consecutive slots and a single put, which sets the first
//! slot's signal to the last message's number plus one. The receiver acknowledges several messages at once, by credits that it adds
//! to a word of the sender.

use std::panic::Location;
use std::sync::atomic::{Ordering, fence};

use shmem_core::context::{Amo, Initiator, PutSignal, SignalOp, Stores, gt};
use shmem_core::object::{Here, Signal, SymBox};
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::PlainData;

use crate::error::Result;
use crate::initial_contents::zeroed;
use crate::termination_detection::Termination;
use crate::thread::ThreadLevel;
use crate::world::World;

pub(crate) struct Rings<T> {
    pub(crate) me: Pe,
    pub(crate) pes: Vec<Pe>,
    /// Number of slots in the ring from one PE to another: a power of two.
    slots: usize,
    /// Number of messages that a credit acknowledges.
    step: u64,
    /// The slots of this PE's rings: one ring for the messages of each PE.
    items: SymBox<[T]>,
    /// For each slot: if a put began there, the number plus one of the last message that the put carried.
    signals: SymBox<[Signal]>,
    /// For each PE, the number of this PE's messages that the other PE has acknowledged.
    credits: SymBox<[Signal]>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    turn: usize,
    pub(crate) termination: Termination,
}

#[derive(Clone, Copy, Default)]
struct Outgoing {
    sent: u64,
    freed: u64,
}

#[derive(Clone, Copy, Default)]
struct Incoming {
    taken: u64,
    /// Number of the last message that is known to have arrived, plus one.
    arrived: u64,
    /// Number of messages that were taken but not yet acknowledged.
    kept: u64,
}

impl<T: PlainData> Rings<T> {
    /// Allocates rings of `slots` slots with `width` items. A credit acknowledges `step` messages. `meets`: whether a round of
    /// termination detection ends with a barrier.
    #[track_caller]
    pub(crate) fn new<L: ThreadLevel>(
        world: &World<L>,
        (slots, step): (usize, u64),
        width: usize,
        meets: bool,
    ) -> Result<Self> {
        let pes = world.n_pes();
        let all = pes.saturating_mul(slots);
        Ok(Self {
            me: world.me(),
            pes: world.pes().iter().collect(),
            slots,
            step,
            items: world.alloc(zeroed(all.saturating_mul(width)))?,
            signals: world.alloc(zeroed(all))?,
            credits: world.alloc(zeroed(pes))?,
            outgoing: vec![Outgoing::default(); pes],
            incoming: vec![Incoming::default(); pes],
            turn: 0,
            termination: Termination::new(world, meets)?,
        })
    }

    /// Panics if another PE made the rings, or if `token` may not issue operations now.
    #[inline]
    #[track_caller]
    pub(crate) fn check(&self, token: &(impl Initiator + ?Sized), what: &str) {
        assert!(self.me == token.endpoint().me(), "this is the {what} of PE {}: make one here", self.me);
        token.endpoint().require_open(Location::caller());
    }

    /// Returns the number of unacknowledged messages to a PE. Reads the PE's credits only if the last number was above `enough`.
    #[inline]
    pub(crate) fn under_way(&mut self, token: &(impl Stores + ?Sized), to: usize, enough: usize) -> usize {
        let outgoing = &mut self.outgoing[to];
        if (outgoing.sent - outgoing.freed) as usize > enough {
            outgoing.freed = token.signal_fetch(self.credits.on(self.me).index(to));
        }
        (outgoing.sent - outgoing.freed) as usize
    }

    #[inline]
    pub(crate) fn room(&mut self, token: &(impl Stores + ?Sized), to: usize) -> usize {
        self.slots - self.under_way(token, to, self.slots - 1)
    }

    #[inline]
    pub(crate) fn room_in_a_row(&self, to: usize) -> usize {
        let Outgoing { sent, freed } = self.outgoing[to];
        (self.slots - (sent - freed) as usize).min(self.slots - self.slot(sent))
    }

    /// Returns whether a PE has acknowledged messages since its credits were last read.
    pub(crate) fn has_credit(&self, token: &(impl Initiator + ?Sized), to: usize) -> bool {
        self.credits.here(token).index(to).__look() > self.outgoing[to].freed
    }

    /// Returns (messages sent, messages acknowledged, slots) for a PE. For diagnostics.
    pub(crate) fn sent(&self, to: usize) -> (u64, u64, usize) {
        let Outgoing { sent, freed } = self.outgoing[to];
        (sent, freed, self.slots)
    }

    /// Sends messages of `width` items into [consecutive free slots](Self::room_in_a_row). A single message may have fewer items.
    #[inline]
    pub(crate) fn put(
        &mut self,
        token: &(impl Stores + ?Sized),
        to: Pe,
        items: &[T],
        messages: usize,
        width: usize,
    ) {
        let first = self.me.number() * self.slots + self.slot(self.outgoing[to.number()].sent);
        let outgoing = &mut self.outgoing[to.number()];
        let sent = outgoing.sent + messages as u64;
        let place = self.items.on(to).index(first * width..first * width + items.len());
        token.put_signal(place, items, self.signals.on(to).index(first), SignalOp::Set(sent));
        outgoing.sent = sent;
        self.termination.sent(messages);
    }

    /// Returns the next PE, in turn, from which a message has arrived for which `fits` is true.
    #[inline]
    pub(crate) fn find(
        &mut self,
        token: &(impl Initiator + ?Sized),
        mut fits: impl FnMut(&Self, usize) -> bool,
    ) -> Option<usize> {
        for _ in 0..self.pes.len() {
            let from = self.turn;
            let arrived = self.arrived(token, from);
            if arrived > self.incoming[from].taken {
                self.incoming[from].arrived = arrived;
                if fits(self, from) {
                    return Some(from);
                }
            }
            self.turn = self.behind(from);
        }
        None
    }

    /// Returns whether a message from PE `from` has arrived that was not taken yet.
    pub(crate) fn has_arrived(&self, token: &(impl Initiator + ?Sized), from: usize) -> bool {
        let Incoming { taken, arrived, .. } = self.incoming[from];
        arrived > taken || self.signal(token, from).__look() > taken
    }

    /// Returns the items of this PE's slots, and the index of the slot with the next message from PE `from`.
    #[inline]
    pub(crate) fn next<'a>(
        &'a self,
        token: &'a (impl Initiator + ?Sized),
        from: usize,
    ) -> (Here<'a, [T]>, usize) {
        (self.items.here(token), from * self.slots + self.slot(self.incoming[from].taken))
    }

    /// Marks the next message from a PE as taken, after it was copied. Sends a credit if enough messages were taken.
    #[inline]
    pub(crate) fn taken(&mut self, token: &(impl Stores + ?Sized), from: usize) {
        let (step, behind, incoming) = (self.step, self.behind(from), &mut self.incoming[from]);
        incoming.taken += 1;
        self.termination.taken();
        if incoming.taken == incoming.arrived {
            self.turn = behind;
        }
        incoming.kept += 1;
        if incoming.kept == step {
            incoming.kept = 0;
            // Orders the copy of the message before the credit.
            fence(Ordering::Release);
            let credit = self.credits.on(self.pes[from]).index(self.me.number());
            // The credit is added instead of set, because two credits may arrive in any order.
            token.signal_add(credit, step);
        }
    }

    /// Returns the number of the last message from a PE that is known to have arrived, plus one.
    #[inline]
    fn arrived(&self, token: &(impl Initiator + ?Sized), from: usize) -> u64 {
        let Incoming { taken, arrived, .. } = self.incoming[from];
        if arrived > taken {
            return arrived;
        }
        // `test` reads the signal once, and makes progress in the network.
        let signal = self.signal(token, from);
        if signal.test(gt(taken)) { signal.__look() } else { taken }
    }

    #[inline]
    fn signal<'a>(&'a self, token: &'a (impl Initiator + ?Sized), from: usize) -> Here<'a, Signal> {
        self.signals.here(token).index(from * self.slots + self.slot(self.incoming[from].taken))
    }

    #[inline(always)]
    fn slot(&self, message: u64) -> usize {
        message as usize & (self.slots - 1)
    }

    #[inline(always)]
    fn behind(&self, pe: usize) -> usize {
        if pe + 1 == self.pes.len() { 0 } else { pe + 1 }
    }
}
