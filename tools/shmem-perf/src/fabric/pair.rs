//! Two PEs, of which one measures and the other one is measured.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use shmem::thread::ThreadLevel;
use shmem::{Error, World, value, zeroed};
use shmem_core::context::{Order, Rma, eq};
use shmem_core::object::{Atomic, Here, On, Signal, SymBox};
use shmem_core::pe::Pe;

use super::{Attendant, Bare, BareError, CARD, Lane, Operation, Peer, Together};
use crate::name::words;
use crate::samples::{Samples, nanoseconds_each};

/// How often a PE that sleeps in its own code looks whether the measure is over.
const NAP: Duration = Duration::from_millis(1);

/// Looks of a PE that drives the bare program before each one at what it is told.
const LOOKS: usize = 64;

/// Such looks before each call of the library, so that it hears what it is told on a machine that is busy, too. The bare
/// program does not lose a thousandth by it.
const CALLS: u32 = 32;

words! {
    /// What the PE does that is written and read.
    State {
        /// It calls the library, or drives the endpoint of the bare program, all the time.
        Polling = "polling",
        /// It sleeps in its own code; a thread of the library, or of the bare program, does what is to be done.
        Asleep = "asleep",
    }
}

/// What the PE is told to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Library,
    Bare,
    Sleep,
    Over,
    Together(Together),
}

/// Bits of a turn in what is told.
const TURN: u32 = 16;

impl Turn {
    fn encode(self) -> u64 {
        match self {
            Self::Library => 0,
            Self::Bare => 1,
            Self::Sleep => 2,
            Self::Over => 3,
            Self::Together(together) => 4 | together.encode() << 3,
        }
    }

    fn decode(told: u64) -> Self {
        match told & 7 {
            0 => Self::Library,
            1 => Self::Bare,
            2 => Self::Sleep,
            3 => Self::Over,
            _ => Self::Together(Together::decode(told >> 3)),
        }
    }
}

/// Why two PEs cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PairError {
    /// The bare program cannot run.
    #[error(transparent)]
    Bare(#[from] BareError),
    /// The library has no memory for it.
    #[error(transparent)]
    Library(#[from] Error),
}

/// Two PEs of a job that are neighbours in its ring, with what the library and the bare program need
/// between them. PE 0 measures.
pub struct Pair<'w, L: ThreadLevel> {
    world: &'w World<L>,
    other: Pe,
    place: SymBox<[u8]>,
    word: SymBox<Atomic<u64>>,
    /// What the PE is told: a number that grows, and its turn in the lowest bits. The PE that has told it
    /// has the answer there, which is the same.
    told: SymBox<u64>,
    /// Nobody ever changes it: whoever looks at it makes progress.
    never: SymBox<Signal>,
    times: Cell<u64>,
    own: RefCell<Vec<u8>>,
    lane: Lane,
    peer: Peer,
}

impl<'w, L: ThreadLevel> Pair<'w, L> {
    /// Allocates, and makes the bare programs known to each other. Collective.
    ///
    /// # Errors
    ///
    /// If there is no memory, or no endpoint.
    pub fn new(world: &'w World<L>, bare: &Arc<Bare>) -> Result<Self, PairError> {
        let lane = Lane::open(bare)?;
        let mut card = bare.card(&lane)?;
        card.resize(CARD, 0);
        let mut cards = vec![0; CARD * world.n_pes()];
        world.fcollect(&card[..], &mut cards);
        let (_, other) = world.ring_neighbours();
        let peer = bare.meet(&cards[CARD * other.number()..][..CARD])?;
        Ok(Self {
            world,
            other,
            place: world.alloc(zeroed::<u8>(bare.bytes()))?,
            word: world.alloc(value(Atomic::new(0_u64)))?,
            told: world.alloc(value(0_u64))?,
            never: world.alloc(value(Signal::new(0)))?,
            times: Cell::new(0),
            own: RefCell::new(vec![1; Operation::room()]),
            lane,
            peer,
        })
    }

    /// Measures on PE 0, while the other one does what it is told. Collective.
    ///
    /// # Panics
    ///
    /// If the provider fails.
    pub fn measure<R>(&self, measure: impl FnOnce(&Self) -> R) -> Option<R> {
        self.world.barrier_all();
        let measured = match self.world.my_pe() {
            0 => {
                let measured = measure(self);
                self.tell(Turn::Over);
                Some(measured)
            }
            1 => {
                self.attend();
                None
            }
            _ => None,
        };
        self.world.barrier_all();
        measured
    }

    /// An operation through the library, against the same by the bare program: nanoseconds for each
    /// transfer.
    ///
    /// # Panics
    ///
    /// If the provider fails.
    pub fn against_bare(&self, operation: &Operation, state: State, repetitions: usize) -> Samples {
        self.ready(state);
        let cost = || self.library(operation, state);
        let limit = || self.bare(operation, state);
        Samples::alternate(repetitions, cost, limit)
    }

    /// An operation by the bare program, against one 8-byte put of it and its quiet: nanoseconds for each
    /// transfer.
    ///
    /// # Panics
    ///
    /// If the provider fails.
    pub fn bare_alone(&self, operation: &Operation, state: State, repetitions: usize) -> Samples {
        self.ready(state);
        let put = &super::OPERATIONS[0];
        Samples::alternate(repetitions, || self.bare(operation, state), || self.bare(put, state))
    }

    /// The PE that is written and read.
    pub fn other(&self) -> Pe {
        self.other
    }

    /// The same, as the bare program names it.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// Memory of that PE, of as many bytes as the bare program has.
    pub fn place(&self) -> On<'_, [u8]> {
        self.place.on(self.other)
    }

    /// Memory as large at the same place of this PE.
    pub(super) fn here(&self) -> Here<'_, [u8]> {
        self.place.here(self.world)
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    pub(super) fn world(&self) -> &'w World<L> {
        self.world
    }

    /// Tells the other PE to poll, or to sleep in its own code, until it is told something else.
    pub fn ready(&self, state: State) {
        self.tell(if state == State::Asleep { Turn::Sleep } else { Turn::Library });
    }

    pub(super) fn library(&self, operation: &Operation, state: State) -> f64 {
        if state == State::Polling {
            self.tell(Turn::Library);
        }
        nanoseconds_each(operation.count(), || self.through(operation))
    }

    pub(super) fn through(&self, operation: &Operation) {
        let (place, word) = (self.place(), self.word.on(self.other));
        operation.through(self.world, place, word, &mut self.own.borrow_mut());
    }

    pub(super) fn bare(&self, operation: &Operation, state: State) -> f64 {
        if state == State::Polling {
            self.tell(Turn::Bare);
        }
        nanoseconds_each(operation.count(), || operation.by_hand(&self.lane, &self.peer))
    }

    /// Nanoseconds of so many bytes that are put, and as many as are asked for that are got, by the bare program, in pieces of
    /// 64 KiB, with a quiet behind each 64 and at the end.
    ///
    /// # Panics
    ///
    /// If the provider fails.
    pub fn bare_stream(&self, put: usize, got: usize) -> f64 {
        const PIECE: usize = 64 << 10;
        self.ready_bare();
        let pieces = (Operation::room() / PIECE).min(64);
        let mut under_way = 0;
        nanoseconds_each(1, || {
            for (bytes, is_put) in [(put, true), (got, false)] {
                for _ in 0..bytes.div_ceil(PIECE) {
                    let at = under_way * PIECE;
                    if is_put {
                        self.lane.put(&self.peer, at, at, PIECE);
                    } else {
                        self.lane.get(&self.peer, at, at, PIECE);
                    }
                    under_way += 1;
                    if under_way == pieces {
                        self.lane.quiet();
                        under_way = 0;
                    }
                }
            }
            self.lane.quiet();
        })
    }

    /// Tells the other PE what to do, and waits until it does.
    fn tell(&self, turn: Turn) {
        let times = self.times.get() + 1;
        self.times.set(times);
        let told = times << TURN | turn.encode();
        self.world.p(self.told.on(self.other), told);
        self.world.quiet();
        while self.told.here(self.world).load() != told {
            self.look();
            // The other PE may still wait for an answer to what it did by hand.
            self.lane.port().progress();
        }
    }

    /// Tells the other PE to take part in something.
    pub(super) fn tell_together(&self, together: Together) {
        self.tell(Turn::Together(together));
    }

    /// Tells the other PE to drive the endpoint of the bare program, until it is told something else.
    pub(super) fn ready_bare(&self) {
        self.tell(Turn::Bare);
    }

    /// Waits until the other PE is here, too, by the bare program alone: each writes the number of the meeting, which
    /// grows, into the last word of the other's memory. `step` numbers those of one turn, from 1.
    pub(super) fn meet_bare(&self, step: u64) {
        let bare = self.lane.bare();
        let (here, there) = (bare.bytes() - 16, bare.bytes() - 8);
        let number = self.times.get() << 32 | step;
        bare.set_word(here, number);
        self.lane.put(&self.peer, there, here, 8);
        self.lane.quiet();
        while bare.word(there) < number {
            self.lane.port().progress();
        }
    }

    /// Makes progress.
    fn look(&self) {
        // The word is never 1.
        _ = self.never.test(self.world, eq(1));
    }

    /// Does what the other PE tells.
    fn attend(&self) {
        let (mut seen, mut turn, mut attendant) = (0, Turn::Library, None);
        let mut rounds = 0_u32;
        loop {
            let told = self.told.here(self.world).load();
            if told != seen {
                seen = told;
                turn = Turn::decode(told);
                self.times.set(told >> TURN);
                attendant = (turn == Turn::Sleep).then(|| Attendant::of(self.lane.port()));
                self.world.p(self.told.on(self.other), told);
                self.world.quiet();
            }
            match turn {
                Turn::Library => self.look(),
                Turn::Bare => {
                    (0..LOOKS).for_each(|_| self.lane.port().progress());
                    rounds += 1;
                    if rounds.is_multiple_of(CALLS) {
                        self.look();
                    }
                }
                Turn::Sleep => std::thread::sleep(NAP),
                Turn::Over => break,
                Turn::Together(together) => {
                    self.take_part(together);
                    turn = if together.is_bare() { Turn::Bare } else { Turn::Library };
                }
            }
        }
        drop(attendant);
    }
}
