//! Termination detection for channels, exchanges and work queues: are all PEs idle, and all messages received? By Mattern's
//! counting method (1987).
//!
//! A word of PE 0 contains two numbers: the number of PEs that rest (are idle), and the number of messages that were recorded as
//! sent but not as taken (received). A PE that begins to rest changes both in one atomic operation. It adds 1 to the first number.
//! To the second, it adds the messages sent minus the messages taken since its last rest. A resting PE subtracts 1 from the first
//! number before it takes a message, or an item of another PE.
//!
//! The round (the work until then) is over when all PEs rest and the second number is 0. Proof: a resting PE has recorded its sent
//! and taken messages. So if all PEs rest, the second number counts the messages in flight. A PE with a stolen item does not rest,
//! and only a PE that does not rest creates messages or items. Both numbers are in one word, because two words that are read one
//! after the other may never have had these values at the same time.
//!
//! The PE whose addition completes the round sets a word on every PE, and each PE waits for its own word. A barrier ends the round.
//! The next round counts in another word, because before the barrier a PE that found no item to steal may still add its rest to the
//! old word.
//!
//! An exchange can run inside a phase (`World::local_with_exchanges`), where barriers are not allowed. So its counting word is
//! never reset. Round k is over when the first number is k times the number of PEs, and the second number is 0. In an exchange, a
//! resting PE resumes only for a message of this round that it has seen and not taken. This message is still counted, so the round
//! is not over. Hence no PE changes the word for a round that is over.
//!
//! The second number is negative while more messages are recorded as taken than as sent. The word is unambiguous nevertheless,
//! because one message adds more to the word than all PEs together.

use std::panic::Location;

use shmem_core::context::{Amo, Initiator, Order, Stores};
use shmem_core::object::{Atomic, On, SymBox};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;

use crate::error::Result;
use crate::group::CallSignature;
use crate::initial_contents::zeroed;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Distance between words, in words, so that each has a cache line (and its neighbour) of its own.
const LINE: usize = 16;

/// Index of the word that tells its PE that the round is over. It follows the two words that count in alternate rounds.
const OVER: usize = 2 * LINE;

/// The amount that one message adds to the counting word: more than the number of PEs.
const MESSAGE: u64 = 1 << 24;

pub(crate) struct Termination {
    words: SymBox<[Atomic<u64>]>,
    /// PE 0, whose memory contains the counting words.
    home: Pe,
    all: u64,
    /// Whether a barrier ends each round.
    meets: bool,
    pub(crate) round: u64,
    /// Messages sent minus messages taken, since this PE last began to rest.
    balance: i64,
}

impl Termination {
    /// Allocates the words. Collective. If `meets`, each round ends with a barrier ([`end`](Self::end)), otherwise without
    /// ([`go_on`](Self::go_on)).
    #[track_caller]
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, meets: bool) -> Result<Self> {
        let (words, all) = (world.alloc(zeroed(OVER + LINE))?, world.n_pes() as u64);
        assert!(all < MESSAGE, "a job of {all} PEs, and at most {} can be counted", MESSAGE - 1);
        Ok(Self { words, home: world.pe(0)?, all, meets, round: 1, balance: 0 })
    }

    #[inline(always)]
    pub(crate) fn sent(&mut self, messages: usize) {
        self.balance += messages as i64;
    }

    #[inline(always)]
    pub(crate) fn taken(&mut self) {
        self.balance -= 1;
    }

    /// Records that this PE is idle, until it [resumes](Self::resume). If the round is over, notifies all `pes`.
    pub(crate) fn rest(&mut self, token: &impl Stores, pes: impl IntoIterator<Item = Pe>) {
        let change = self.balance.cast_unsigned().wrapping_mul(MESSAGE).wrapping_add(1);
        self.balance = 0;
        let count = token.fetch_add(self.count(), change).wrapping_add(change);
        let over = if self.meets { self.all } else { self.round.wrapping_mul(self.all) };
        if count == over {
            for pe in pes {
                token.set(self.words.on(pe).index(OVER), self.round);
            }
            token.quiet();
        }
    }

    /// Records that this resting PE is about to take a message, or to try to steal an item.
    pub(crate) fn resume(&self, token: &impl Stores) {
        token.fetch_add(self.count(), 1_u64.wrapping_neg());
    }

    pub(crate) fn is_over(&self, token: &impl Stores) -> bool {
        self.words.here(token).index(OVER).__look() == self.round
    }

    /// Begins another round, without a barrier.
    pub(crate) fn go_on(&mut self) {
        self.round += 1;
    }

    pub(crate) fn end<L: ThreadLevel>(&mut self, world: &World<L>, location: &'static Location<'static>) {
        self.round += 1;
        if world.my_pe() == 0 {
            // PE 0 resets the word of the next round. No PE has used it since the barrier that ended the previous round.
            world.set(self.count(), 0);
        }
        let (arguments, subject) =
            ([self.words.offset() as u64, self.round], || "nobody has anything any more".to_owned());
        let signature = CallSignature::of_call(Family::TeamBarrier, "next", &arguments, &subject);
        let signature = CallSignature { location: Some(location), ..signature };
        world.team().agree_on(world.endpoint(), &signature);
    }

    fn count(&self) -> On<'_, Atomic<u64>> {
        let is_second = self.meets && self.round.is_multiple_of(2);
        self.words.on(self.home).index(if is_second { LINE } else { 0 })
    }
}
