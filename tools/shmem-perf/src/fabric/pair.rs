//! Two PEs, of which one measures and the other one is measured.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use shmem::thread::{Single, ThreadLevel};
use shmem::{World, value, zeroed};
use shmem_core::context::{Order, Rma, eq};
use shmem_core::object::{Atomic, Here, On, Signal, SymBox};
use shmem_core::pe::Pe;

use super::bare::{Bare, CARD, Peer};
use super::lane::{Attendant, Lane};
use super::operation::{LESS, Operation, ROOM, TARGET};
use super::{OFI_PROVIDER, PROVIDER, variable};
use crate::bench::{Done, Given};
use crate::measure::collective::{Collective, Data, OPERATIONS};
use crate::samples::{each, nanoseconds_each};

/// How often a PE that sleeps in its own code looks whether the measure is over.
const NAP: Duration = Duration::from_millis(1);

/// Looks of a PE that drives the bare program before each one at what it is told.
const LOOKS: usize = 64;

/// Such looks before each call of the library, so that it hears what it is told on a machine that is busy, too. The bare
/// program does not lose a thousandth by it.
const CALLS: u32 = 32;

/// What a collective takes about, and a byte of it, in picoseconds.
const COLLECTIVE: usize = 20_000_000;
const BYTE: usize = 500;

/// Where the bare program puts from what is written anew; others put to what is before it.
const OWN: usize = 4 << 20;

/// What the PE does that is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It calls the library, or drives the endpoint of the bare program, all the time.
    Polling,
    /// It sleeps in its own code; a thread of the library, or of the bare program, does what is to be done.
    Asleep,
}

/// What the PE is told to do next, some of it with a number of bytes, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Library,
    Bare,
    Sleep,
    Over,
    /// Puts in both directions at once.
    Exchange,
    BareExchange,
    /// One put each way at a time by the bare program, of one of so many parts that are written before.
    BareSwap(usize),
    Collective(&'static str),
}

/// All of them: a turn is told by its place.
fn turns() -> impl Iterator<Item = Turn> {
    [Turn::Library, Turn::Bare, Turn::Sleep, Turn::Over, Turn::Exchange, Turn::BareExchange]
        .into_iter()
        .chain([1, 2].map(Turn::BareSwap))
        .chain(OPERATIONS.map(Turn::Collective))
}

/// Bits of a turn in what is told: the logarithm of its bytes, and its place among [`turns`] behind them.
const TURN: u32 = 16;
const BYTES: u32 = 8;

/// Two PEs of a job that are neighbours in its ring, with what the library and the bare program need
/// between them. PE 0 measures.
pub(crate) struct Pair<'w, L: ThreadLevel = Single> {
    pub(crate) world: &'w World<L>,
    /// The PE that is written and read.
    pub(crate) other: Pe,
    /// The same, as the bare program names it.
    pub(crate) peer: Peer,
    pub(crate) lane: Lane,
    pub(crate) bare: Arc<Bare>,
    pub(crate) provider: String,
    place: SymBox<[u8]>,
    word: SymBox<Atomic<u64>>,
    /// What the PE is told: a number that grows, and its turn in the lowest bits. The PE that has told it
    /// has the answer there, which is the same.
    told: SymBox<u64>,
    /// Nobody ever changes it: whoever looks at it makes progress.
    never: SymBox<Signal>,
    times: Cell<u64>,
    own: RefCell<Vec<u8>>,
}

impl<'w, L: ThreadLevel> Pair<'w, L> {
    /// Allocates, and makes the bare programs known to each other. Collective.
    /// With room for each operation, and for threads that are given.
    pub(crate) fn new(world: &'w World<L>, given: &Given) -> Result<Self, Box<dyn Error>> {
        let provider = variable(OFI_PROVIDER).unwrap_or_else(|| PROVIDER.to_owned());
        let room = given.threads.iter().map(|threads| threads << 20).fold(Operation::ROOM, usize::max);
        let bare = Bare::open(&provider, room)?;
        let lane = Lane::open(&bare)?;
        let card = bare.card(&lane)?;
        let mut cards = vec![0; CARD * world.n_pes()];
        world.fcollect(&card[..], &mut cards);
        let (_, other) = world.ring_neighbours();
        let peer = bare.meet(&cards[CARD * other.number()..][..CARD])?;
        Ok(Self {
            world,
            other,
            place: world.alloc(zeroed::<u8>(bare.bytes))?,
            word: world.alloc(value(Atomic::new(0_u64)))?,
            told: world.alloc(value(0_u64))?,
            never: world.alloc(value(Signal::new(0)))?,
            times: Cell::new(0),
            own: RefCell::new(vec![1; Operation::ROOM]),
            provider,
            bare,
            lane,
            peer,
        })
    }

    /// Measures on PE 0, while the other one does what it is told. Collective.
    pub(crate) fn measure(&self, measure: impl FnOnce() -> Done) -> Done {
        self.world.barrier_all();
        let mut measured = Ok(());
        match self.world.my_pe() {
            0 => {
                measured = measure();
                self.tell(Turn::Over, 1);
            }
            1 => self.attend(),
            _ => (),
        }
        self.world.barrier_all();
        measured
    }

    /// Memory of the other PE, of as many bytes as the bare program has.
    pub(crate) fn place(&self) -> On<'_, [u8]> {
        self.place.on(self.other)
    }

    /// Memory as large at the same place of this PE.
    pub(crate) fn here(&self) -> Here<'_, [u8]> {
        self.place.here(self.world)
    }

    /// Tells the other PE to poll, or to sleep in its own code, until it is told something else.
    pub(crate) fn ready(&self, state: State) {
        self.tell(if state == State::Asleep { Turn::Sleep } else { Turn::Library }, 1);
    }

    /// Nanoseconds of each transfer of an operation through the library. The other PE was made [`ready`](Self::ready).
    pub(crate) fn library(&self, operation: &Operation, state: State) -> f64 {
        if state == State::Polling {
            self.tell(Turn::Library, 1);
        }
        nanoseconds_each(operation.count(), || self.through(operation))
    }

    /// The same by the bare program.
    pub(crate) fn bare(&self, operation: &Operation, state: State) -> f64 {
        if state == State::Polling {
            self.tell(Turn::Bare, 1);
        }
        nanoseconds_each(operation.count(), || operation.by_hand(&self.lane, &self.peer))
    }

    /// Nanoseconds of so many bytes by the bare program, in puts of `part` and one quiet, which is there and back; `written`
    /// bytes of what is put are written anew before.
    pub(crate) fn bare_puts(&self, bytes: usize, part: usize, written: usize) -> f64 {
        self.tell(Turn::Bare, 1);
        let (times, mut turn) = (times_of(bytes), 0);
        let mut put = || {
            self.bare_put(bytes, part, written, turn);
            turn += 1;
        };
        steadily(|| each(times, &mut put))
    }

    /// What both PEs do at once, with so many bytes: nanoseconds of one.
    pub(crate) fn together(&self, turn: Turn, bytes: usize) -> f64 {
        self.tell(turn, bytes);
        self.take_part(turn, bytes)
    }

    fn through(&self, operation: &Operation) {
        let (place, word) = ((self.place(), ROOM), self.word.on(self.other));
        operation.through(self.world, place, word, &mut self.own.borrow_mut());
    }

    fn bare_put(&self, bytes: usize, part: usize, written: usize, turn: usize) {
        self.bare.fill(OWN, written, (turn % 100) as u8);
        (0..bytes).step_by(part).for_each(|at| self.lane.put(&self.peer, at, OWN + at, part));
        self.lane.quiet();
    }

    /// What each of the two PEs does.
    fn take_part(&self, turn: Turn, bytes: usize) -> f64 {
        let many = Operation::timed("bandwidth", bytes, 64);
        match turn {
            Turn::Exchange => nanoseconds_each(many.count(), || {
                self.through(&many);
                self.world.barrier_all();
            }),
            Turn::BareExchange => nanoseconds_each(many.count(), || {
                many.by_hand(&self.lane, &self.peer);
                self.meet_bare(1);
            }),
            Turn::BareSwap(parts) => {
                let mut turn = 0;
                let mut swap = || {
                    turn += 1;
                    self.bare_put(bytes, bytes, parts * bytes, turn);
                    self.meet_bare(turn as u64);
                };
                steadily(|| each(times_of(bytes), &mut swap))
            }
            Turn::Collective(operation) => {
                let case = Collective { operation, bytes };
                let times = (TARGET * 1000 / (COLLECTIVE + bytes * BYTE) / LESS).max(1);
                let data = Data::new(self.world, if case.is_direct() { 2 * bytes } else { 0 });
                let mut data = data.unwrap_or_else(|error| panic!("{bytes} bytes: {error}"));
                steadily(|| case.run(self.world, &mut data, times))
            }
            Turn::Library | Turn::Bare | Turn::Sleep | Turn::Over => unreachable!("it is not done together"),
        }
    }

    /// Tells the other PE what to do, and waits until it does.
    fn tell(&self, turn: Turn, bytes: usize) {
        assert!(bytes.is_power_of_two(), "{bytes} bytes are no power of two");
        let place =
            turns().position(|one| one == turn).unwrap_or_else(|| unreachable!("all of them are there"));
        self.times.set(self.times.get() + 1);
        let told = self.times.get() << TURN | (place as u64) << BYTES | u64::from(bytes.trailing_zeros());
        self.world.p(self.told.on(self.other), told);
        self.world.quiet();
        while self.told.here(self.world).load() != told {
            self.look();
            // The other PE may still wait for an answer to what it did by hand.
            self.lane.progress();
        }
    }

    /// Waits until the other PE is here, too, by the bare program alone: each writes the number of the meeting, which
    /// grows, into the last word of the other's memory. `step` numbers those of one turn, from 1.
    fn meet_bare(&self, step: u64) {
        let bare = &self.bare;
        let (here, there) = (bare.bytes - 16, bare.bytes - 8);
        let number = self.times.get() << 32 | step;
        bare.set_word(here, number);
        self.lane.put(&self.peer, there, here, 8);
        self.lane.quiet();
        while bare.word(there) < number {
            self.lane.progress();
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
                let place = (told >> BYTES) as usize & ((1 << (TURN - BYTES)) - 1);
                turn = turns().nth(place).unwrap_or_else(|| unreachable!("the other PE runs this program"));
                self.times.set(told >> TURN);
                attendant = (turn == Turn::Sleep).then(|| Attendant::of(&self.lane));
                self.world.p(self.told.on(self.other), told);
                self.world.quiet();
            }
            match turn {
                Turn::Library => self.look(),
                Turn::Bare => {
                    (0..LOOKS).for_each(|_| self.lane.progress());
                    rounds += 1;
                    if rounds.is_multiple_of(CALLS) {
                        self.look();
                    }
                }
                Turn::Sleep => std::thread::sleep(NAP),
                Turn::Over => break,
                both => {
                    self.take_part(both, 1 << (told & ((1 << BYTES) - 1)));
                    let is_bare = matches!(both, Turn::BareExchange | Turn::BareSwap(_));
                    turn = if is_bare { Turn::Bare } else { Turn::Library };
                }
            }
        }
        drop(attendant);
    }
}

/// As many puts of so many bytes and their quiets as fill a sample.
fn times_of(bytes: usize) -> usize {
    Operation::timed("put", bytes, 1).count()
}

/// The second of two runs: in the first one the progress thread of the library finds out that the program polls, and leaves
/// it the cores.
fn steadily(mut run: impl FnMut() -> f64) -> f64 {
    run();
    run()
}
