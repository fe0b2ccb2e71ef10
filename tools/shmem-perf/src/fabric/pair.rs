//! Two PEs that measure the library and the bare program in turns: PE 0 is the origin, PE 1 the target.
//!
//! Both PEs call the same functions. PE 1 makes progress for PE 0 until the turn is over.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use shmem::prelude::*;
use shmem::thread::Single;

use super::{Bare, CARD, Lane, OFI_PROVIDER, PROVIDER, Peer, variable};
use crate::bench::PeArguments;
use crate::operation::{Operation, ROOM};
use crate::samples::{each, nanoseconds_each};

/// Sleep of a sleeping target between two checks of whether the turn is over.
const NAP: Duration = Duration::from_millis(1);

/// Polls of the bare program's endpoint between two checks of whether the turn is over.
const LOOKS: usize = 64;

/// Number of checks of whether the turn is over before the target calls the library once. On a busy machine the library needs these
/// calls for its progress. They cost the bare program less than 0.1 %.
const CALLS: u32 = 32;

/// Offset of sources that are rewritten before each put. It is beyond all destinations.
const OWN: usize = 4 << 20;

/// Bytes of memory on both sides: space for transfers, and a page for [`Pair::meet_bare`].
const ALL: usize = ROOM + (4 << 10);

/// What PE 1 does while PE 0 measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetState {
    /// PE 1 calls the library in a loop.
    Library,
    /// PE 1 polls the endpoint of the bare program in a loop.
    Bare,
    /// PE 1 sleeps outside of both programs. Progress threads of the library and of the bare program make progress.
    Asleep,
}

pub(crate) struct Pair<'w, L: ThreadLevel = Single> {
    pub(crate) world: &'w World<L>,
    pub(crate) other: Pe,
    /// The other PE, as the bare program addresses it.
    pub(crate) peer: Peer,
    pub(crate) lane: Lane,
    pub(crate) bare: Arc<Bare>,
    pub(crate) provider: String,
    place: SymBox<[u8]>,
    word: SymBox<Atomic<u64>>,
    /// On PE 0: the last turn that PE 1 has begun. On PE 1: the last turn that PE 0 has finished.
    reached: SymBox<u64>,
    /// A signal that is always 0. Testing it makes progress.
    never: SymBox<Signal>,
    turns: Cell<u64>,
    own: RefCell<Vec<u8>>,
}

impl<'w, L: ThreadLevel> Pair<'w, L> {
    /// Allocates memory for transfers, and connects the bare programs of both PEs. Collective.
    pub(crate) fn new(world: &'w World<L>, given: &PeArguments) -> Result<Self, Box<dyn Error>> {
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

    /// Returns the other PE's symmetric memory, which is as large as the bare program's.
    pub(crate) fn place(&self) -> On<'_, [u8]> {
        self.place.on(self.other)
    }

    pub(crate) fn here(&self) -> Here<'_, [u8]> {
        self.place.here(self.world)
    }

    /// Runs `body` on PE 0 while PE 1 serves it. Returns `None` on PE 1. Collective.
    pub(crate) fn alone<R>(&self, state: TargetState, body: impl FnOnce() -> R) -> Option<R> {
        self.both(state, || (self.world.my_pe() == 0).then(body))
    }

    pub(crate) fn sample(&self, state: TargetState, body: impl FnOnce() -> f64) -> f64 {
        self.alone(state, body).unwrap_or_default()
    }

    /// Runs `body` on both PEs at once. Then PE 1 serves PE 0 until `body` returns there. Collective.
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
                // The other PE may wait for the completion of a put to this PE by the bare program.
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
        // The test makes progress. Its result is always false.
        _ = self.never.test(self.world, eq(1));
    }

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
                    _ => self.lane.fetch_add(&self.peer, 0, 64),
                }
            }
            self.lane.quiet();
        }
    }

    /// Returns functions that measure the nanoseconds of a transfer: by the library, and by the bare program. If `is_asleep`, PE 1
    /// sleeps.
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

    /// Returns the nanoseconds of a put and its quiet by the bare program, which together take one network round trip. Each put
    /// follows a rewrite of `written` bytes of its source. If `is_of_both`, both PEs put at once, and synchronise after each put.
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

    /// A barrier of both PEs by the bare program: each PE writes an increasing number to the last word of the other PE's memory.
    /// `step` is the number of the barrier in this turn, from 1.
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

/// Calls `run` twice and returns the second result. During the first call the library's progress thread stops, because `run` polls.
pub(crate) fn steadily(mut run: impl FnMut() -> f64) -> f64 {
    run();
    run()
}
