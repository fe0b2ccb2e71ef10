//! When nobody has anything any more: termination detection by a count of rests and of messages under way.
//!
//! A word of PE 0 has two numbers: how many PEs rest, and how many messages were sent that nobody has said to have taken. A
//! PE that has nothing left adds itself, and in the same step what it has sent, less what it has taken, since it last
//! said so. A PE that rests takes itself out again before it takes anything, be it a message or an item of another PE.
//!
//! All rest and no message is missing at one moment: then it is over, for ever. A PE that rests has said what it has sent
//! and taken. So the second number is that of messages which are under way, or were taken by somebody who has yet to say so;
//! and that one does not count as resting. An item that was taken away from a PE is with one that does not rest, and only
//! who does not rest makes anything new. Both numbers are in one word because there must be such a moment: two sums,
//! read one behind the other, may never have been true together.
//!
//! Whoever makes the word say so tells all PEs, each of which waits for a word of its own. They meet before another round
//! begins, whose count lies in another word: who looks in vain for something to take may be late with saying that it rests again.
//!
//! In a phase PEs cannot meet. So the count of an exchange is never set back: round k is over when as many PEs rest as k times
//! their number, with no message missing. That works because who rests goes on only for a message of this round that it has
//! seen, and that it has not taken: until it says so the message is missing, so the round is not over. Hence nobody changes the
//! word for a round that is over, and each begins with what the one before has left.
//!
//! The number of messages may be negative for a while, of those that were taken before the sender said that they are sent. The
//! sum is unique all the same: the numbers of PEs that rest differ by less than a message counts.

use std::panic::Location;

use shmem_core::context::{Amo, Initiator, Order, Stores};
use shmem_core::object::{Atomic, On, SymBox};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;

use crate::error::Result;
use crate::group::Purpose;
use crate::initial::zeroed;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Words from one to the next, which are on lines of their own.
const LINE: usize = 16;

/// The word in which every PE is told, behind two that count in turn.
const OVER: usize = 2 * LINE;

/// Of the word that counts: one message, above as many PEs as there may be.
const MESSAGE: u64 = 1 << 24;

/// One PE's part in finding out that nobody has anything any more.
pub(crate) struct Termination {
    words: SymBox<[Atomic<u64>]>,
    /// PE 0, where the count is.
    home: Pe,
    all: u64,
    /// Whether a meeting ends each round.
    meets: bool,
    /// From 1.
    pub(crate) round: u64,
    /// Messages sent less messages taken, since this PE has last rested.
    balance: i64,
}

impl Termination {
    /// Collective. Rounds are [ended](Self::end) by a meeting, or, if none `meets`, by [`go_on`](Self::go_on).
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

    /// This PE has nothing, until it [resumes](Self::resume).
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

    /// This PE, which rests, is about to take something, or to look for it where another may take it first.
    pub(crate) fn resume(&self, token: &impl Stores) {
        token.fetch_add(self.count(), 1_u64.wrapping_neg());
    }

    pub(crate) fn is_over(&self, token: &impl Stores) -> bool {
        self.words.here(token).index(OVER).__look() == self.round
    }

    /// Another round may begin, without a meeting.
    pub(crate) fn go_on(&mut self) {
        self.round += 1;
    }

    /// Meets all PEs, for each of which it is over; the next round may begin.
    pub(crate) fn end<L: ThreadLevel>(&mut self, world: &World<L>, location: &'static Location<'static>) {
        self.round += 1;
        if world.my_pe() == 0 {
            // Nobody has used it since the round before, whose end all have met in.
            world.set(self.count(), 0);
        }
        let (arguments, subject) =
            ([self.words.offset() as u64, self.round], || "nobody has anything any more".to_owned());
        let purpose = Purpose::of_call(Family::TeamBarrier, "next", &arguments, &subject);
        let purpose = Purpose { location: Some(location), ..purpose };
        world.team().agree_on(world.endpoint(), &purpose);
    }

    fn count(&self) -> On<'_, Atomic<u64>> {
        let is_second = self.meets && self.round.is_multiple_of(2);
        self.words.on(self.home).index(if is_second { LINE } else { 0 })
    }
}
