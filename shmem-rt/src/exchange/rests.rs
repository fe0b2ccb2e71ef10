//! When nobody in a round has anything any more, found without a meeting.
//!
//! As in [`termination`](crate::termination), a word of PE 0 has two numbers that change in one step: how often somebody has come to
//! rest, less how often somebody went on, and how many messages were sent that nobody has said to have taken. Here the first
//! one is never set back: round k is over when it has come to k times the number of PEs, with no message missing. That works because
//! who rests goes on only for a message of this round that it has seen, and that it has not taken: until it says so the message is
//! missing, so the round is not over. Hence nobody changes the word for a round that is over, and each begins with what the
//! one before has left. No PE has to meet the others in between, which in a phase it could not.
//!
//! The number of messages may be negative for a while, of those that were taken before the sender said that they are sent. The
//! sum is unique all the same: the numbers of PEs that rest differ by less than a message counts.

use shmem_core::context::{Amo, Order};
use shmem_core::object::{Atomic, On, SymBox};
use shmem_core::pe::Pe;

use super::through::Through;
use crate::error::Result;
use crate::initial::zeroed;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Words from one to the next, which are on lines of their own.
const LINE: usize = 16;

/// Of the word that counts: one message, above as many PEs as there may be.
const MESSAGE: u64 = 1 << 24;

/// One PE's part in finding out that a round is over.
pub(super) struct Rests {
    /// The word that counts, and the one in which a PE is told which round is over.
    words: SymBox<[Atomic<u64>]>,
    pes: u64,
    /// From 1.
    round: u64,
    /// Messages sent less messages taken, since this PE has last rested.
    balance: i64,
}

impl Rests {
    /// Collective.
    ///
    /// # Errors
    ///
    /// If the default heap has no room.
    #[track_caller]
    pub(super) fn new<L: ThreadLevel>(world: &World<L>) -> Result<Self> {
        let (words, pes) = (world.alloc(zeroed(2 * LINE))?, world.n_pes() as u64);
        assert!(pes < MESSAGE, "a job of {pes} PEs, and at most {} can be counted", MESSAGE - 1);
        Ok(Self { words, pes, round: 1, balance: 0 })
    }

    /// The number of the round, from 1.
    pub(super) fn round(&self) -> u64 {
        self.round
    }

    /// This PE has sent a message.
    pub(super) fn sent(&mut self) {
        self.balance += 1;
    }

    /// This PE has taken a message.
    pub(super) fn taken(&mut self) {
        self.balance -= 1;
    }

    /// This PE has nothing, until it [goes on](Self::go_on).
    pub(super) fn rest(&mut self, token: Through<'_>, pes: &[Pe]) {
        let change = self.balance.cast_unsigned().wrapping_mul(MESSAGE).wrapping_add(1);
        self.balance = 0;
        let count = token.fetch_add(self.count(pes), change).wrapping_add(change);
        if count == self.round.wrapping_mul(self.pes) {
            for pe in pes {
                token.set(self.words.on(*pe).index(LINE), self.round);
            }
            token.quiet();
        }
    }

    /// This PE, which rests, takes a message of the round, which it has seen.
    pub(super) fn go_on(&self, token: Through<'_>, pes: &[Pe]) {
        token.fetch_add(self.count(pes), 1_u64.wrapping_neg());
    }

    /// Whether nobody has anything any more.
    pub(super) fn is_over(&self, token: Through<'_>) -> bool {
        self.words.here(&token).index(LINE).__look() == self.round
    }

    /// Another round may begin.
    pub(super) fn end(&mut self) {
        self.round += 1;
    }

    /// The word that counts.
    fn count(&self, pes: &[Pe]) -> On<'_, Atomic<u64>> {
        self.words.on(pes[0]).index(0)
    }
}
