//! Carries out a program on one PE, and compares the results of the library with the model.

use std::any::Any;
use std::ops::Range;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use shmem::array::StorageKind;
use shmem::partition::NewPartition;
use shmem::prelude::*;
use shmem::thread::{InTurn, Multiple, Private, Serialized};
use shmem::{ContextError, ErrorKind, Result, SessionOptions, Stores, Team, TeamConfig, zeroed};

use super::epoch::Reads;
use super::exchange::{Halo, halo};
use super::model::{Cell, Model, UNKNOWN};
use super::object::{News, Object, Opened, Phase, Transfer, Words, boxed, numbers, of_element};
use super::panics;
use super::step::{
    Act, Element, End, Home, OBJECTS, Op, PARTITIONS, ProgramStep, SIGNALS, STATICS, SlotNumber, Stray,
    Stream, Token, Way, bytes, items, of,
};
use crate::together::{Call, Maker, Room};

#[symmetric]
pub(crate) static BYTES: [u8; 256];
#[symmetric]
pub(crate) static NUMBERS: [u64; 64];
#[symmetric(partition = "fast")]
pub(crate) static QUICK: [u64; 32];
#[symmetric]
pub(crate) static NEWS: Signal;

pub(super) enum Item {
    Object(Box<dyn Object>),
    Team(Team),
    Halo(Box<Halo>),
}

pub(crate) struct Machine {
    pub(super) me: usize,
    pub(super) model: Model,
    /// Handles of this PE, indexed by the slot of the model.
    pub(super) items: Vec<Option<Item>>,
    /// Objects of no bytes for collectives. They have none, because a program may still write to addresses that were valid before.
    room: Room,
    partitions: [Option<u32>; PARTITIONS],
    /// Start address of this PE's slot in the arena.
    base: usize,
    /// Bytes and blocks of the heap that were in use at the start.
    before: (usize, usize),
    /// Whether the program has forgotten a handle.
    forgets: bool,
    /// Whether each step is printed before it is carried out.
    trace: bool,
}

pub(crate) fn run(world: &mut World<Multiple>, program: &[ProgramStep], trace: bool) {
    let mut machine = Machine::new(world, trace);
    for (number, step) in program.iter().enumerate() {
        if !machine.model.allows(step, false) {
            continue;
        }
        if trace {
            eprintln!("PE {}, step {number}: {step:?}", machine.me);
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| machine.step(world, step)));
        if let Err(panic) = done {
            eprintln!("PE {} failed in step {number}: {step:?}", machine.me);
            std::panic::resume_unwind(panic);
        }
    }
    machine.end(world);
}

impl Machine {
    fn new(world: &World<Multiple>, trace: bool) -> Self {
        let mut model = Model::new(world.n_pes());
        BYTES.here(world).index(..).fill(0);
        NUMBERS.here(world).index(..).fill(0);
        QUICK.here(world).index(..).fill(0);
        world.signal_set(NEWS.on(world.me()), 0);
        world.barrier_all();
        let probe = world.alloc(zeroed::<u8>(1)).expect("there is room for a byte");
        let base = (probe.here(world).addr().as_ptr() as usize).wrapping_sub(probe.offset());
        world.free(probe).expect("the byte is free again");
        let statics: [Box<dyn Object>; STATICS.len()] =
            [Box::new(&BYTES), Box::new(&NUMBERS), Box::new(&QUICK)];
        let mut items: Vec<Option<Item>> = (0..=SIGNALS).map(|_| None).collect();
        for (slot, object) in statics.into_iter().enumerate().chain([(SIGNALS, Box::new(News) as _)]) {
            model.placed(slot, object.spans(world, base));
            items[slot] = Some(Item::Object(object));
        }
        let before = used(world);
        let (me, room, partitions) = (world.my_pe(), Room::new(world, 0), [None; PARTITIONS]);
        Self { me, model, items, room, partitions, base, before, forgets: false, trace }
    }

    fn end(self, world: &mut World<Multiple>) {
        let Self { items, room, partitions, before, forgets, .. } = self;
        world.barrier_all();
        drop((items, room));
        world.reclaim();
        let now = used(world);
        assert!(forgets || now == before, "{now:?} of the heap are in use, {before:?} before");
        for id in partitions.into_iter().flatten() {
            // A forgotten allocation keeps its partition.
            let _ = world.drop_partition(id);
        }
        world.barrier_all();
    }

    fn object(&self, slot: SlotNumber) -> Option<&dyn Object> {
        match &self.items[slot] {
            Some(Item::Object(object)) => Some(&**object),
            _ => None,
        }
    }

    fn team<'a>(&'a self, world: &'a World<Multiple>, slot: Option<SlotNumber>) -> Option<&'a Team> {
        match slot.map(|slot| &self.items[slot]) {
            None => Some(world.team()),
            Some(Some(Item::Team(team))) => Some(team),
            Some(_) => None,
        }
    }

    fn step(&mut self, world: &mut World<Multiple>, step: &ProgramStep) {
        match step {
            ProgramStep::Beside { strays, steps } => self.beside(world, strays, steps),
            ProgramStep::Phase { slot, frozen, seed, strays, around: [before, after] } => {
                world.barrier_all();
                self.model.stray(strays);
                self.streams(world, before, false);
                self.phase(world, *slot, *frozen, *seed);
                self.model.opened(*slot, *frozen, *seed);
                self.streams(world, after, true);
                world.barrier_all();
                self.model.stray(&[]);
                self.settle(world);
            }
            ProgramStep::DropPartition { slot } => {
                let id = self.partitions[*slot].expect("a partition of the model");
                // A forgotten allocation keeps its partition.
                if world.drop_partition(id).is_ok() {
                    self.partitions[*slot] = None;
                    self.model.apply(step);
                }
            }
            _ => self.shared(world, step),
        }
    }

    /// Carries out a step that needs only a shared reference to the world.
    fn shared(&mut self, world: &World<Multiple>, step: &ProgramStep) {
        match step {
            ProgramStep::Alloc { slot, home, element, len, seed } => {
                if !self.alloc(world, *slot, *home, *element, *len, *seed) {
                    return;
                }
            }
            ProgramStep::Drop { slot, pes, forget } => {
                self.forgets |= forget;
                let item = self.items[*slot].take_if(|_| pes.has(self.me));
                if *forget { std::mem::forget(item) } else { drop(item) }
            }
            ProgramStep::Free { slot } => {
                if let Some(Item::Object(object)) = self.items[*slot].take() {
                    object.free(world).expect("what is held can be freed");
                }
            }
            ProgramStep::Reclaim => world.reclaim(),
            ProgramStep::Epoch { streams } => {
                // No PE writes before all PEs have compared.
                world.barrier_all();
                self.streams(world, streams, true);
                return self.settle(world);
            }
            ProgramStep::Together { team, call } => self.together(world, *team, call),
            ProgramStep::Split { slot, parent, wishes } => self.split(world, *slot, *parent, wishes),
            ProgramStep::Halo { slot, element, edges } => {
                let made = of_element!(*element, Cell => halo::<Cell>(world, &edges[self.me]));
                self.items[*slot] = Some(Item::Halo(made.expect("edges that fit together")));
            }
            ProgramStep::Exchange { slot, seed, end } => {
                self.exchange(world, *slot, *seed, end);
                if matches!(end, End::Finished(_)) {
                    return;
                }
                self.forgets = true;
            }
            ProgramStep::Partition { slot, bytes } => {
                let made = world.create_partition(NewPartition::new(*bytes));
                self.partitions[*slot] = Some(made.expect("there is room for a partition").id());
            }
            ProgramStep::Keep { .. }
            | ProgramStep::Beside { .. }
            | ProgramStep::Phase { .. }
            | ProgramStep::DropPartition { .. } => {}
        }
        self.model.apply(step);
        match step {
            ProgramStep::Alloc { slot, .. } => {
                let spans = self.object(*slot).map(|object| object.spans(world, self.base));
                self.model.placed(*slot, spans.unwrap_or_default());
                self.check(world);
            }
            ProgramStep::Keep { slot, address, .. } => {
                let kept = self.address(*address).expect("it was kept");
                // An array with memory of its own has no lasting address. Stray accesses use its last address nevertheless.
                let goes = self.model.thing(*slot).is_some_and(
                    |object| matches!(object.home, Home::Array(storage, _) if storage != StorageKind::Single),
                );
                assert_eq!(world.address(kept as *const u8).is_err(), goes, "an address of a live object");
            }
            _ => {}
        }
    }

    pub(super) fn inner(&mut self, world: &World<Multiple>, steps: &[ProgramStep]) {
        for step in steps {
            if !self.model.allows(step, true) {
                continue;
            }
            if self.trace {
                eprintln!("PE {}, inside: {step:?}", self.me);
            }
            self.shared(world, step);
        }
    }

    fn alloc(
        &mut self,
        world: &World<Multiple>,
        slot: SlotNumber,
        home: Home,
        element: Element,
        len: usize,
        seed: u64,
    ) -> bool {
        let is_long = len * element.bytes() > 1 << 20;
        let first = || bytes(seed, if is_long { 0 } else { len * element.bytes() });
        let made = match home {
            Home::Heap(partition) => {
                let id = partition.map(|slot| self.partitions[slot].expect("a partition of the model"));
                let heap =
                    id.map_or_else(|| world.heap::<shmem::partition::default>(), |id| world.partition(id));
                let heap = heap.expect("the partition is there");
                match element {
                    Element::Word => boxed(heap.alloc(zeroed(len)).map(Words)),
                    _ if is_long => of_element!(element, Of => boxed(heap.alloc(zeroed::<Of>(len)))),
                    _ => of_element!(element, Of => boxed(heap.alloc(items::<Of>(&first())))),
                }
            }
            Home::Array(kind, chunks) => {
                let array = world.array([len]).chunks(chunks).storage_kind(kind);
                of_element!(element, Of => boxed(match items::<Of>(&first()) {
                    _ if is_long => array.zeroed::<Of>(),
                    items => array.from_fn(|[i]| items[i]),
                }))
            }
            Home::Team(_) => match self.team(world, home.team()) {
                Some(team) => of_element!(element, Of => boxed(team.alloc(world, items::<Of>(&first())))),
                None => return true,
            },
            Home::Static | Home::Split | Home::Halo => unreachable!("the model allows none"),
        };
        match made {
            Ok(object) => self.items[slot] = Some(Item::Object(object)),
            // A refused allocation is allowed, because partitions of programs are small.
            Err(_) if matches!(home, Home::Heap(Some(_))) => return false,
            Err(error) => panic!("no room for {len} of {element:?} in {home:?}: {error}"),
        }
        true
    }

    /// Runs the threads of an epoch. With `completes`, all operations that they have started are complete at the end.
    fn streams(&mut self, world: &World<Multiple>, streams: &[Stream], completes: bool) {
        let reads = self.model.epoch(streams);
        let this = &*self;
        let mine = || streams.iter().zip(&reads).filter(|(stream, _)| stream.pe == this.me);
        std::thread::scope(|scope| {
            for (stream, reads) in mine().skip(1) {
                scope.spawn(move || this.stream(world, stream, reads, completes));
            }
            if let Some((stream, reads)) = mine().next() {
                this.stream(world, stream, reads, completes);
            }
        });
        if completes && streams.iter().any(|stream| stream.token == Token::Leaked) {
            // Completes operations of forgotten contexts.
            world.reclaim();
        }
    }

    fn stream(&self, world: &World<Multiple>, stream: &Stream, reads: &Reads, completes: bool) {
        let run = |token: &dyn Stores| -> Result<()> {
            for (op, expected) in stream.ops.iter().zip(reads) {
                if self.model.allows_op(self.me, op) {
                    self.op(world, token, op, expected.as_deref());
                }
            }
            // Contexts complete their operations when they are destroyed.
            if completes && matches!(stream.token, Token::World | Token::Session) {
                token.quiet();
            }
            Ok(())
        };
        let done = match stream.token {
            Token::World => run(world),
            Token::Session => run(&world.session(SessionOptions::batch())),
            Token::Private => world.create_ctx::<Private>().and_then(|context| run(&context.bind(world))),
            // The context is used on another thread than the one that has created it.
            Token::Serialized => world.create_ctx::<Serialized>().and_then(|context| {
                std::thread::scope(|scope| scope.spawn(move || run(&context.bind(world))).join().unwrap())
            }),
            Token::Multiple => world.create_ctx::<Multiple>().and_then(|context| run(&context.bind(world))),
            Token::Leaked => world
                .create_ctx::<Multiple>()
                .and_then(|context| run(&std::mem::ManuallyDrop::new(context).bind(world))),
            Token::InTurn => world.domains::<Serialized>(1).and_then(|mut domains| {
                let context = domains[0].create_ctx::<InTurn>()?;
                let turn = move || run(&domains[0].turn(world).bind(&context));
                std::thread::scope(|scope| scope.spawn(turn).join().unwrap())
            }),
            Token::Registered => world.register_thread().and_then(|thread| run(&thread.bind(world))),
        };
        // If there is no endpoint for a context, the world is used instead.
        if let Err(refused) = done {
            let is_full = matches!(refused.kind(),
                ErrorKind::Context(ContextError::Exhausted { used, limit, .. }) if used == limit);
            assert!(is_full, "{refused}");
            run(world).expect("the world is never refused");
            world.quiet();
        }
    }

    fn op(&self, world: &World<Multiple>, token: &dyn Stores, op: &Op, expected: Option<&[Cell]>) {
        let object = |slot: SlotNumber| self.object(slot).expect("the model says that it is held");
        let (it, pe) = (|| object(op.slot), world.pe(op.pe).expect("a PE of the program"));
        let transfer = |at: &Range<usize>, way: Way| {
            let pe = if way == Way::Here { world.me() } else { pe };
            Transfer { token, pe, at: at.clone(), way }
        };
        let found = match &op.act {
            Act::Quiet => return token.quiet(),
            Act::Fence => return token.fence(),
            Act::Write(at, way, seed) => {
                let element = self.model.thing(op.slot).map_or(0, |object| object.element.bytes());
                return it().write(transfer(at, *way), &bytes(*seed, at.len() * element));
            }
            Act::Read(at, way) => it().read(transfer(at, *way)),
            Act::PutFrom(own, len) => {
                let own = numbers(object(*own)).own(token).index(..*len);
                return token.put_from(numbers(it()).place(pe).index(..*len), own);
            }
            Act::GetInto(own, len) => {
                let own = numbers(object(*own)).own(token).index(..*len);
                return token.get_into(own, numbers(it()).place(pe).index(..*len));
            }
            Act::Add(word, number, fetches) => {
                let words: &dyn Any = it();
                let words = words.downcast_ref::<Words>().expect("the model says that it is words");
                let word = words.0.on(pe).index(*word);
                if !fetches {
                    return token.add(word, *number);
                }
                token.fetch_add(word, *number).to_le_bytes().to_vec()
            }
        };
        if let Some(expected) = expected {
            compare(&found, expected, || format!("what PE {} reads by {op:?}", self.me));
        }
    }

    /// Compares all objects of this PE with the model.
    fn check(&self, world: &World<Multiple>) {
        for slot in OBJECTS.chain([SIGNALS]) {
            let Some(it) = self.model.thing(slot).filter(|object| !object.is_bulk()) else { continue };
            let Some(object) = self.object(slot) else { continue };
            let found =
                object.read(Transfer { token: world, pe: world.me(), at: 0..it.len, way: Way::Typed });
            compare(&found, self.model.contents(slot, self.me), || {
                format!("object {slot} of PE {}, {:?} in {:?}", self.me, it.element, it.home)
            });
        }
    }

    fn settle(&self, world: &World<Multiple>) {
        world.barrier_all();
        self.check(world);
        world.barrier_all();
    }

    fn address(&self, slot: SlotNumber) -> Option<usize> {
        self.model.addresses[slot].map(|offset| self.base + offset)
    }

    fn beside(&mut self, world: &World<Multiple>, strays: &[Stray], steps: &[ProgramStep]) {
        world.barrier_all();
        self.model.stray(strays);
        let over = AtomicBool::new(false);
        let mine = self.model.strays_of(self.me);
        let mine: Vec<_> = mine.into_iter().map(|stray| (stray, self.address(stray.address))).collect();
        let begun = Barrier::new(mine.len() + 1);
        std::thread::scope(|scope| {
            for (stray, address) in mine {
                let (over, begun) = (&over, &begun);
                scope.spawn(move || {
                    go_astray(world, stray, address, || true);
                    begun.wait();
                    go_astray(world, stray, address, || over.load(Ordering::Relaxed));
                });
            }
            let end = Over(&over);
            // The steps begin after all stray accesses have begun.
            begun.wait();
            self.inner(world, steps);
            drop(end);
        });
        world.quiet();
        // Stray accesses of all PEs end before objects are compared.
        world.barrier_all();
        self.model.stray(&[]);
        self.settle(world);
    }

    fn together(&self, world: &World<Multiple>, slot: Option<SlotNumber>, call: &Call) {
        let Some(team) = self.team(world, slot) else { return };
        let all = (0..self.model.pes).collect();
        let members = match slot.and_then(|slot| self.model.thing(slot)) {
            None => &all,
            Some(teams) => teams.team_of(self.me).expect("this PE has a team of them"),
        };
        assert_eq!(numbers_of(team), *members);
        // A bit of the seed, which `make` does not use, decides whether the call is started or blocking.
        let maker = Maker { world, team, members, room: &self.room, call: *call };
        let started = if call.seed >> 3 & 1 == 0 { maker.start() } else { None };
        match started {
            Some(started) => {
                while !started.is_complete() {}
                started.wait();
            }
            None => maker.make(),
        }
    }

    fn split(
        &mut self,
        world: &World<Multiple>,
        slot: SlotNumber,
        parent: Option<SlotNumber>,
        wishes: &[(Option<u64>, i64)],
    ) {
        let (groups, (colour, key)) = (self.model.groups_of(parent, wishes), wishes[self.me]);
        let Some(parent) = self.team(world, parent) else { return };
        let team = parent.split_by(world, colour, key, &TeamConfig::default()).expect("room for a team");
        let mine = groups.iter().find(|group| group.contains(&self.me));
        assert_eq!(team.as_ref().map(numbers_of).as_ref(), mine, "{wishes:?}");
        self.items[slot] = team.map(Item::Team);
    }

    fn phase(&self, world: &mut World<Multiple>, slot: SlotNumber, frozen: bool, seed: u64) {
        let of_teams = self.model.thing(slot).and_then(|object| object.home.team());
        let team = match of_teams.map(|split| &self.items[split]) {
            Some(Some(Item::Team(team))) => Some(team),
            _ => None,
        };
        if let Some(object) = self.object(slot).filter(|_| team.is_some() == of_teams.is_some()) {
            let mut visit = |opened: &mut Opened<'_>| self.visit(opened, slot, (!frozen).then_some(seed));
            return object.open(Phase { world, team, frozen, visit: &mut visit });
        }
        // PEs outside the team perform their stray accesses meanwhile.
        for stray in self.model.strays_of(self.me) {
            let mut rounds = 0..50;
            go_astray(world, stray, self.address(stray.address), || rounds.next().is_none());
        }
        world.quiet();
    }

    /// Compares an opened object with the model, overwrites it from a seed, and checks that no other PE writes to it meanwhile.
    fn visit(&self, opened: &mut Opened<'_>, slot: SlotNumber, news: Option<u64>) {
        let found = opened(None);
        compare(&found, self.model.contents(slot, self.me), || {
            format!("object {slot} of PE {} in a phase", self.me)
        });
        let now = news.map_or_else(|| found.clone(), |seed| bytes(of(seed, self.me), found.len()));
        opened(news.map(|_| &now[..]));
        for _ in 0..20 {
            std::thread::yield_now();
            let is_same = opened(None) == now;
            assert!(is_same, "somebody else has written to object {slot} in a phase of PE {}", self.me);
        }
    }
}

fn numbers_of(team: &Team) -> Vec<usize> {
    team.pes().iter().map(|pe| pe.number()).collect()
}

fn used(world: &World<Multiple>) -> (usize, usize) {
    let usage = world.heap::<shmem::partition::default>().expect("the heap is there").usage();
    (usage.used, usage.blocks)
}

/// Ends stray accesses when it is dropped, also by a panic.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Writes or reads at an address that may be invalid, until `over`, but at least once.
fn go_astray(world: &World<Multiple>, stray: Stray, address: Option<usize>, mut over: impl FnMut() -> bool) {
    let mut bytes = vec![0xEE; stray.bytes];
    let target = world.pe(stray.target).expect("a PE of the program");
    let address = address.expect("an address that the model knows");
    let pointer = address.wrapping_add_signed(stray.delta) as *const u8;
    for count in 1_u32.. {
        // An address outside of all segments is an error. Bytes that leave the segment of their address are a panic.
        if let Ok(address) = world.address(pointer) {
            panics(|| match stray.get {
                true => world.getmem(&mut bytes, address, target),
                false => world.putmem(address, &bytes, target),
            });
        }
        if over() {
            return;
        }
        // The loopback network queues operations, and would grow without a quiet.
        if count.is_multiple_of(16) {
            world.quiet_pe(target);
        }
        std::thread::yield_now();
    }
}

fn compare(found: &[u8], expected: &[Cell], what: impl FnOnce() -> String) {
    let differs = |(_, (found, expected)): &(usize, (&u8, &Cell))| {
        **expected != UNKNOWN && Cell::from(**found) != **expected
    };
    let both = || found.iter().zip(expected).enumerate();
    let count = both().filter(differs).count();
    assert_eq!(found.len(), expected.len(), "{} has another length", what());
    if let Some((at, (found, expected))) = both().find(differs) {
        panic!("{}: byte {at} is {found:#04x} and not {expected:#04x}; {count} bytes are wrong", what());
    }
}
