//! Two PEs, of which one measures and the other one is measured.
//!
//! Both run the same program, one turn after the other. In a turn PE 0 measures, and PE 1 serves it until the turn is over.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use shmem::prelude::*;
use shmem::thread::Single;

use super::{Bare, CARD, Lane, OFI_PROVIDER, PROVIDER, Peer, variable};
use crate::bench::Given;
use crate::operation::{Operation, ROOM};
use crate::samples::{each, nanoseconds_each};

/// How often a PE that sleeps in its own code looks whether the turn is over.
const NAP: Duration = Duration::from_millis(1);

/// Looks of a PE that drives the bare program before each one whether the turn is over.
const LOOKS: usize = 64;

/// Such looks before each call of the library, so that it hears what comes on a machine that is busy, too. The bare
/// program does not lose a thousandth by it.
const CALLS: u32 = 32;

/// Where the bare program puts from what is written anew; others put to what is before it.
const OWN: usize = 4 << 20;

/// Bytes of memory on both sides: those of transfers, and a page for what bare programs tell each other.
const ALL: usize = ROOM + (4 << 10);

/// How the PE that is written and read serves the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetState {
    /// It calls the library all the time.
    Library,
    /// It drives the endpoint of the bare program all the time.
    Bare,
    /// It sleeps in its own code; a thread of the library, or of the bare program, does what is to be done.
    Asleep,
}

/// Two PEs of a job, with what the library and the bare program need between them.
pub(crate) struct Pair<'w, L: ThreadLevel = Single> {
    pub(crate) world: &'w World<L>,
    pub(crate) other: Pe,
    /// The same, as the bare program names it.
    pub(crate) peer: Peer,
    pub(crate) lane: Lane,
    pub(crate) bare: Arc<Bare>,
    pub(crate) provider: String,
    place: SymBox<[u8]>,
    word: SymBox<Atomic<u64>>,
    /// The last turn that the other PE has begun to serve, or that it has ended.
    reached: SymBox<u64>,
    /// Nobody ever changes it: whoever looks at it makes progress.
    never: SymBox<Signal>,
    turns: Cell<u64>,
    own: RefCell<Vec<u8>>,
}

impl<'w, L: ThreadLevel> Pair<'w, L> {
    /// Allocates, and makes the bare programs known to each other, with room for threads that are given. Collective.
    pub(crate) fn new(world: &'w World<L>, given: &Given) -> Result<Self, Box<dyn Error>> {
        let provider = variable(OFI_PROVIDER).unwrap_or_else(|| PROVIDER.to_owned());
        let room = given.threads.iter().map(|threads| threads << 20).fold(ALL, usize::max);
        let bare = Bare::open(&provider, room)?;
        let lane = Lane::open(&bare)?;
        let card = bare.card(&lane)?;
        let mut cards = vec![0; CARD * world.n_pes()];
        world.fcollect(&card[..], &mut cards);
        let (_, other) = world.ring_neighbours();
        Ok(Self {
            world,
            other,
            peer: bare.meet(&cards[CARD * other.number()..][..CARD])?,
            place: world.alloc(zeroed::<u8>(bare.bytes))?,
            word: world.alloc(value(Atomic::new(0_u64)))?,
            reached: world.alloc(value(0_u64))?,
            never: world.alloc(value(Signal::new(0)))?,
            turns: Cell::new(0),
            own: RefCell::new(vec![1; ALL]),
            provider,
            bare,
            lane,
        })
    }

    /// Memory of the other PE, of as many bytes as the bare program has.
    pub(crate) fn place(&self) -> On<'_, [u8]> {
        self.place.on(self.other)
    }

    pub(crate) fn here(&self) -> Here<'_, [u8]> {
        self.place.here(self.world)
    }

    /// What PE 0 does while the other one serves it. Both call it; nothing comes of it on PE 1.
    pub(crate) fn alone<R>(&self, state: TargetState, body: impl FnOnce() -> R) -> Option<R> {
        self.both(state, || (self.world.my_pe() == 0).then(body))
    }

    pub(crate) fn sample(&self, state: TargetState, body: impl FnOnce() -> f64) -> f64 {
        self.alone(state, body).unwrap_or_default()
    }

    /// What both do at once; behind it PE 1 serves PE 0 until that has done it, too. Both call it.
    pub(crate) fn both<R>(&self, state: TargetState, body: impl FnOnce() -> R) -> R {
        let turn = self.turns.get() + 1;
        self.turns.set(turn);
        let until_reached = |serve: &mut dyn FnMut()| {
            while self.reached.here(self.world).load() < turn {
                serve();
            }
        };
        let tell = || {
            self.world.p(self.reached.on(self.other), turn);
            self.world.quiet();
        };
        if self.world.my_pe() == 0 {
            until_reached(&mut || {
                self.look();
                // The other PE may still wait for an answer to what it did by hand.
                self.lane.progress();
            });
            let result = body();
            tell();
            return result;
        }
        tell();
        let (result, mut looks) = (body(), 0_u32);
        match state {
            TargetState::Library => until_reached(&mut || self.look()),
            TargetState::Bare => until_reached(&mut || {
                (0..LOOKS).for_each(|_| self.lane.progress());
                looks = looks.wrapping_add(1);
                if looks.is_multiple_of(CALLS) {
                    self.look();
                }
            }),
            TargetState::Asleep => self.lane.attended(|| until_reached(&mut || std::thread::sleep(NAP))),
        }
        result
    }

    fn look(&self) {
        // The word is never 1.
        _ = self.never.test(self.world, eq(1));
    }

    /// The transfers of one sample through the library.
    pub(crate) fn through(&self, operation: Operation) {
        let (place, word) = ((self.place(), ROOM), self.word.on(self.other));
        operation.through(self.world, place, word, &mut self.own.borrow_mut());
    }

    pub(crate) fn by_hand(&self, Operation { name, bytes, in_flight, rounds }: Operation) {
        for _ in 0..rounds {
            for at in (0..in_flight).map(|k| k * bytes % ROOM) {
                match name {
                    "put" | "put-rate" | "bandwidth" => self.lane.put(&self.peer, at, at, bytes),
                    "get" => self.lane.get(&self.peer, at, at, bytes),
                    word => self.lane.atomic(word, &self.peer, 0, 64),
                }
            }
            self.lane.quiet();
        }
    }

    /// Nanoseconds of each transfer of an operation through the library, and by the bare program, while the other PE sleeps, or
    /// is busy with the same.
    pub(crate) fn times(&self, operation: Operation, is_asleep: bool) -> [impl Fn() -> f64; 2] {
        [TargetState::Library, TargetState::Bare].map(|state| {
            move || {
                let sample = || {
                    nanoseconds_each(operation.count(), || match state {
                        TargetState::Library => self.through(operation),
                        _ => self.by_hand(operation),
                    })
                };
                if is_asleep { sample() } else { self.sample(state, sample) }
            }
        })
    }

    /// Nanoseconds of one put by the bare program and its quiet (there and back), before which `written` bytes of the source are
    /// written anew: of PE 0, or of both PEs at once, which meet behind each put.
    pub(crate) fn bare_put(&self, bytes: usize, written: usize, is_of_both: bool) -> f64 {
        let rounds = Operation::timed("put", bytes, 1).rounds;
        let mut number = 0;
        let mut puts = || {
            number += 1;
            self.bare.fill(OWN, written, (number % 100) as u8);
            self.lane.put(&self.peer, 0, OWN, bytes);
            self.lane.quiet();
            if is_of_both {
                self.meet_bare(number);
            }
        };
        let time = || steadily(|| each(rounds, &mut puts));
        if is_of_both { self.both(TargetState::Bare, time) } else { self.sample(TargetState::Bare, time) }
    }

    /// Waits until the other PE is here, too, by the bare program alone: each writes the number of the meeting, which
    /// grows, into the last word of the other's memory. `step` numbers those of one turn, from 1.
    pub(crate) fn meet_bare(&self, step: u64) {
        let bare = &self.bare;
        let (here, there) = (bare.bytes - 16, bare.bytes - 8);
        let number = self.turns.get() << 32 | step;
        bare.word(here).store(number, Ordering::Release);
        self.lane.put(&self.peer, there, here, 8);
        self.lane.quiet();
        while bare.word(there).load(Ordering::Acquire) < number {
            self.lane.progress();
        }
    }
}

/// The second of two runs: in the first one the progress thread of the library finds out that the program polls, and leaves
/// it the cores.
pub(crate) fn steadily(mut run: impl FnMut() -> f64) -> f64 {
    run();
    run()
}
