//! Carries a program out on one PE, and compares what the library does with the model.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use shmem::array::{Cyclic, Multi, Separate, Single};
use shmem::partition::NewPartition;
use shmem::prelude::*;
use shmem::thread::{InTurn, Multiple, Private, Serialized};
use shmem::{Initiator, Lock, Objects, On, Stores, SymAddr, Team, TeamBox, TeamConfig, zeroed};

use super::cells::Cells;
use super::model::{self, Cell, Model, Reads, UNKNOWN};
use super::opened::Opened;
use super::step::{
    Blocks, Element, Home, Op, Pes, Slot, Split, Step, Storage, Storm, Stream, Token, Update, Way, bytes,
    items, of,
};
use super::transfer::{self, Line, Page, panics};
use crate::together::{Call, Room, make};

#[symmetric]
pub(crate) static BYTES: [u8; 256];
#[symmetric]
pub(crate) static NUMBERS: [u64; 64];
#[symmetric(partition = "fast")]
pub(crate) static QUICK: [u64; 32];
#[symmetric]
pub(crate) static WORDS: [Atomic<u64>; 8];
#[symmetric]
static LOCK: Lock;
#[symmetric]
static COUNTER: u64;
#[symmetric]
static NEWS: [Signal; 8];

/// Aligned to more than any place is.
#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(8388608))]
struct Vast([u8; 8 << 20]);

/// A handle.
enum Item {
    Static,
    Bytes(SymBox<[u8]>),
    Numbers(SymBox<[u64]>),
    Threes(SymBox<[[u8; 3]]>),
    Lines(SymBox<[Line]>),
    Pages(SymBox<[Page]>),
    Words(SymBox<[Atomic<u64>]>),
    TeamBytes(TeamBox<[u8]>),
    TeamNumbers(TeamBox<[u64]>),
    TeamThrees(TeamBox<[[u8; 3]]>),
    TeamLines(TeamBox<[Line]>),
    TeamPages(TeamBox<[Page]>),
    Single(NumaArray<u64, 1, Single>),
    Separate(NumaArray<u64, 1, Separate>),
    Cyclic(NumaArray<u64, 1, Cyclic>),
    Multi(NumaArray<u64, 1, Multi>),
    /// Its address: as a number, which threads may share.
    Block(usize),
}

/// Evaluates an expression for whatever flat object an item is, and another one for the rest.
macro_rules! flat {
    ($item:expr, $slot:expr, $object:ident => $then:expr, _ => $else:expr) => {
        match ($item, $slot) {
            (Item::Static, 0) => {
                let $object = &BYTES;
                $then
            }
            (Item::Static, 1) => {
                let $object = &NUMBERS;
                $then
            }
            (Item::Static, 2) => {
                let $object = &QUICK;
                $then
            }
            (Item::Bytes($object), _) => $then,
            (Item::Numbers($object), _) => $then,
            (Item::Threes($object), _) => $then,
            (Item::Lines($object), _) => $then,
            (Item::Pages($object), _) => $then,
            (Item::TeamBytes($object), _) => $then,
            (Item::TeamNumbers($object), _) => $then,
            (Item::TeamThrees($object), _) => $then,
            (Item::TeamLines($object), _) => $then,
            (Item::TeamPages($object), _) => $then,
            (Item::Single($object), _) => $then,
            (Item::Separate($object), _) => $then,
            (Item::Cyclic($object), _) => $then,
            _ => $else,
        }
    };
}

/// The state of one PE.
pub(crate) struct Machine {
    me: usize,
    model: Model,
    items: Vec<Option<Item>>,
    teams: Vec<Option<Team>>,
    /// Of no bytes: who has an address of what was there before may still write to it.
    room: Room,
    halos: Vec<Option<Cells>>,
    partitions: Vec<Option<u32>>,
    addresses: Vec<Option<usize>>,
    /// The address of this PE's slot.
    base: usize,
    /// What is said of each step before it is carried out.
    trace: bool,
}

/// Runs a program.
pub(crate) fn run(world: &mut World<Multiple>, program: &[Step], trace: bool) {
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
        let pes = world.n_pes();
        let mut model = Model::new(pes);
        BYTES.here(world).index(..).fill(0);
        NUMBERS.here(world).index(..).fill(0);
        QUICK.here(world).index(..).fill(0);
        for word in 0..8 {
            world.set(WORDS.on(world.me()).index(word), 0);
        }
        world.barrier_all();
        let probe = world.alloc(zeroed::<u8>(1)).expect("there is room for a byte");
        let base = (probe.here(world).addr().as_ptr() as usize).wrapping_sub(probe.offset());
        world.free(probe).expect("the byte is free again");
        let at = |address: SymAddr| address.as_ptr() as usize - base;
        for (slot, (address, bytes)) in [
            (BYTES.here(world).addr(), 256),
            (NUMBERS.here(world).addr(), 512),
            (QUICK.here(world).addr(), 256),
            (WORDS.here(world).addr(), 64),
        ]
        .into_iter()
        .enumerate()
        {
            model.placed(slot, vec![(at(address), 0, bytes)]);
        }
        for (address, bytes) in [
            (LOCK.here(world).addr(), size_of::<Lock>()),
            (COUNTER.here(world).addr(), 8),
            (NEWS.here(world).addr(), 64),
        ] {
            model.vital.push(at(address)..at(address) + bytes);
        }
        let mut items: Vec<Option<Item>> = (0..model::STATICS.len()).map(|_| Some(Item::Static)).collect();
        items.resize_with(model::OBJECTS, || None);
        let none = |count: usize| -> Vec<Option<u32>> { vec![None; count] };
        let mut machine = Self {
            me: world.my_pe(),
            model,
            items,
            teams: Vec::new(),
            room: Room::new(world, 0),
            halos: Vec::new(),
            partitions: none(model::OTHERS),
            addresses: vec![None; model::ADDRESSES],
            base,
            trace,
        };
        machine.teams.resize_with(model::OTHERS, || None);
        machine.halos.resize_with(model::OTHERS, || None);
        machine
    }

    /// Gives everything back.
    fn end(self, world: &mut World<Multiple>) {
        let Self { items, teams, room, halos, partitions, .. } = self;
        world.barrier_all();
        for item in items.into_iter().flatten() {
            if let Item::Block(address) = item {
                world.free(self::address(world, address)).expect("a block that is in use");
            } else {
                drop(item);
            }
        }
        drop((teams, room, halos));
        world.reclaim();
        for id in partitions.into_iter().flatten() {
            // What was forgotten in it stays.
            let _ = world.drop_partition(id);
        }
        world.barrier_all();
    }

    fn step(&mut self, world: &mut World<Multiple>, step: &Step) {
        match step {
            Step::Window { storms, steps } => self.window(world, storms, steps),
            Step::Phase { objects, frozen, seed } => self.phase(world, objects, *frozen, *seed),
            Step::TeamPhase { slot, frozen, seed, storms } => {
                self.team_phase(world, *slot, *frozen, *seed, storms);
            }
            Step::DropPartition { slot } => {
                let id = self.partitions[*slot].expect("a partition of the model");
                // Something may be left in it that a PE has forgotten.
                let dropped = world.drop_partition(id);
                if dropped.is_ok() {
                    self.partitions[*slot] = None;
                    self.model.partitions[*slot] = None;
                }
            }
            _ => self.shared(world, step),
        }
    }

    /// A step that leaves the world shared.
    fn shared(&mut self, world: &World<Multiple>, step: &Step) {
        match step {
            Step::Alloc { slot, home, element, len, seed } => {
                self.alloc(world, *slot, *home, *element, *len, *seed);
            }
            Step::Vast { team } => self.vast(world, *team),
            Step::Drop { slot, pes, forget } => {
                self.model.drop_object(*slot, *pes);
                if pes.has(self.me) {
                    let item = self.items[*slot].take();
                    if *forget { std::mem::forget(item) } else { drop(item) }
                }
            }
            Step::Free { slot } => {
                let held = Pes(u32::MAX);
                let item = self.items[*slot].take().expect("the model says that it is held");
                self.model.drop_object(*slot, held);
                let freed = match item {
                    Item::Bytes(object) => world.free(object),
                    Item::Numbers(object) => world.free(object),
                    Item::Threes(object) => world.free(object),
                    Item::Lines(object) => world.free(object),
                    Item::Pages(object) => world.free(object),
                    Item::Words(object) => world.free(object),
                    Item::Single(array) => world.free(array),
                    Item::Separate(array) => world.free(array),
                    Item::Cyclic(array) => world.free(array),
                    Item::Multi(array) => world.free(array),
                    Item::Block(block) => world.free(address(world, block)),
                    _ => Ok(()),
                };
                freed.expect("what is held can be freed");
            }
            Step::Realloc { slot, len } => {
                let Some(Item::Block(block)) = self.items[*slot] else { return };
                let block = world.realloc(address(world, block), *len).expect("there is room");
                let block = block.as_ptr() as usize;
                self.items[*slot] = Some(Item::Block(block));
                self.model.realloc(*slot, *len);
                let offset = block - self.base;
                self.model.placed(*slot, vec![(offset, 0, *len)]);
            }
            Step::Reclaim => world.reclaim(),
            Step::Keep { slot, address, byte } => {
                let Some(offset) = self.model.offset_of(*slot, *byte) else { return };
                let kept = self.base + offset;
                // What goes with its handle has no address. The number that it would have is tried all the same.
                let goes = self.model.object(*slot).is_some_and(
                    |object| matches!(object.home, Home::Array(storage, _) if storage != Storage::Single),
                );
                assert_eq!(world.address(kept as *const u8).is_err(), goes, "an address of a live object");
                self.addresses[*address] = Some(kept);
                self.model.addresses[*address] = Some(offset);
            }
            Step::Epoch { streams } => self.epoch(world, streams),
            Step::Messages { slot, len, seed } => self.messages(world, *slot, *len, *seed),
            Step::Locked { threads, times } => self.locked(world, *threads, *times),
            Step::Together { team, call } => self.together(world, *team, call),
            Step::Split { slot, parent, split } => self.split(world, *slot, *parent, split),
            Step::DropTeam { slot, pes } => {
                if pes.has(self.me) {
                    self.teams[*slot] = None;
                }
                let teams = self.model.teams[*slot].as_mut().expect("the model says that it is there");
                teams.held.0 &= !pes.0;
                if teams.held.0 == 0 {
                    self.model.teams[*slot] = None;
                }
            }
            Step::Halo { slot, element, edges } => {
                let made = Cells::new(world, *element, &edges[self.me]);
                let pair = |pe: usize, edge: usize| match edges[pe][edge] {
                    Some((other, opposite, _)) => {
                        matches!(edges[other].get(opposite), Some(Some((back, number, _))) if (*back, *number) == (pe, edge))
                    }
                    None => true,
                };
                let fits = (0..edges.len()).all(|pe| (0..edges[pe].len()).all(|edge| pair(pe, edge)));
                assert_eq!(
                    made.is_ok(),
                    fits,
                    "edges that fit together make a halo, others do not: {:?}",
                    made.err()
                );
                if let Ok(made) = made {
                    let held = Pes((1 << self.model.pes) - 1);
                    let edges = edges.clone();
                    self.model.halos[*slot] =
                        Some(model::Halo { element: *element, edges, held, abandoned: false });
                    self.halos[*slot] = Some(made);
                }
            }
            Step::Exchange { slot, seed, iter, hold } => self.exchange(world, *slot, *seed, *iter, hold),
            Step::Abandon { slot, seed, forget } => self.abandon(world, *slot, *seed, *forget),
            Step::DropHalo { slot, pes, forget } => {
                if pes.has(self.me) {
                    let halo = self.halos[*slot].take();
                    if *forget { std::mem::forget(halo) } else { drop(halo) }
                }
                let halo = self.model.halos[*slot].as_mut().expect("the model says that it is there");
                halo.held.0 &= !pes.0;
                if halo.held.0 == 0 {
                    self.model.halos[*slot] = None;
                }
            }
            Step::Partition { slot, bytes } => {
                let made = world.create_partition(NewPartition::new(*bytes));
                self.partitions[*slot] = Some(made.expect("there is room for a partition").id());
                self.model.partitions[*slot] = Some(());
            }
            Step::Window { .. }
            | Step::Phase { .. }
            | Step::TeamPhase { .. }
            | Step::DropPartition { .. } => {}
        }
    }

    /// Steps beside which something is held.
    fn held(&mut self, world: &World<Multiple>, steps: &[Step]) {
        for step in steps {
            if self.model.allows(step, true) {
                if self.trace {
                    eprintln!("PE {}, inside: {step:?}", self.me);
                }
                self.shared(world, step);
            }
        }
    }

    fn alloc(
        &mut self,
        world: &World<Multiple>,
        slot: Slot,
        home: Home,
        element: Element,
        len: usize,
        seed: u64,
    ) {
        // The same on every PE. (Blocks hold what was there.)
        let first = bytes(seed, if len * element.bytes() > 1 << 20 { 0 } else { len * element.bytes() });
        let made = match home {
            Home::Static => return,
            Home::Heap(partition) => {
                let id = partition.map(|slot| self.partitions[slot].expect("a partition of the model"));
                let heap = match id {
                    Some(id) => world.partition(id),
                    None => world.heap::<shmem::partition::default>(),
                };
                let heap = heap.expect("the partition is there");
                match element {
                    Element::Byte => heap.alloc(items::<u8>(&first)).map(Item::Bytes),
                    Element::Number => heap.alloc(items::<u64>(&first)).map(Item::Numbers),
                    Element::Three => heap.alloc(items::<[u8; 3]>(&first)).map(Item::Threes),
                    Element::Line => heap.alloc(items::<Line>(&first)).map(Item::Lines),
                    Element::Page => heap.alloc(items::<Page>(&first)).map(Item::Pages),
                    Element::Word => heap.alloc(zeroed::<Atomic<u64>>(len)).map(Item::Words),
                }
            }
            Home::Block => world.malloc(len).map(|block| Item::Block(block.as_ptr() as usize)),
            Home::Array(storage, chunks) => {
                let numbers = items::<u64>(&first);
                let array = world.array([len]).chunks(chunks);
                macro_rules! made {
                    ($storage:ident, $value:expr) => {
                        match numbers.is_empty() {
                            true => array.storage($value).zeroed().map(Item::$storage),
                            false => array.storage($value).from_fn(|[i]| numbers[i]).map(Item::$storage),
                        }
                    };
                }
                match storage {
                    Storage::Single => made!(Single, Single),
                    Storage::Separate => made!(Separate, Separate),
                    Storage::Cyclic => made!(Cyclic, Cyclic::default()),
                    Storage::Multi => made!(Multi, Multi),
                }
            }
            Home::Team(team) => {
                self.model.alloc(slot, home, element, len, seed);
                let Some(team) = &self.teams[team] else { return };
                match element {
                    Element::Byte => team.alloc(world, items::<u8>(&first)).map(Item::TeamBytes),
                    Element::Number => team.alloc(world, items::<u64>(&first)).map(Item::TeamNumbers),
                    Element::Three => team.alloc(world, items::<[u8; 3]>(&first)).map(Item::TeamThrees),
                    Element::Line => team.alloc(world, items::<Line>(&first)).map(Item::TeamLines),
                    Element::Page => team.alloc(world, items::<Page>(&first)).map(Item::TeamPages),
                    Element::Word => return,
                }
            }
        };
        let full = matches!(home, Home::Heap(Some(_)));
        let item = match made {
            Ok(item) => item,
            // A partition of a program is small.
            Err(_) if full => return,
            Err(error) => panic!("no room for {len} of {element:?} in {home:?}: {error}"),
        };
        if !matches!(home, Home::Team(_)) {
            self.model.alloc(slot, home, element, len, seed);
        }
        let all = len * element.bytes();
        let parts = |list: &[shmem_core::array::Part]| {
            let mut start = 0;
            let spans = list.iter().map(|part| {
                let span = (part.offset, start, part.elements * 8);
                start += part.elements * 8;
                span
            });
            spans.collect()
        };
        let spans = match &item {
            Item::Bytes(object) => vec![(object.offset(), 0, all)],
            Item::Numbers(object) => vec![(object.offset(), 0, all)],
            Item::Threes(object) => vec![(object.offset(), 0, all)],
            Item::Lines(object) => vec![(object.offset(), 0, all)],
            Item::Pages(object) => vec![(object.offset(), 0, all)],
            Item::Words(object) => vec![(object.offset(), 0, all)],
            Item::Single(array) => parts(array.parts().list()),
            Item::Separate(array) => parts(array.parts().list()),
            Item::Cyclic(array) => parts(array.parts().list()),
            Item::Multi(array) => parts(array.parts().list()),
            Item::Block(address) => vec![(address - self.base, 0, all)],
            _ => Vec::new(),
        };
        self.items[slot] = Some(item);
        self.model.placed(slot, spans);
        self.check(world);
    }

    fn vast(&self, world: &World<Multiple>, team: Option<Slot>) {
        let made = match team {
            None => world.alloc(zeroed::<Vast>(1)).map(drop),
            Some(team) => {
                let Some(team) = &self.teams[team] else { return };
                team.alloc(world, zeroed::<Vast>(1)).map(|_| ())
            }
        };
        assert!(made.is_err(), "a type aligned to 8 MiB cannot be placed");
        if team.is_none() {
            let array = world.array([2]).storage(Separate).chunks(1).zeroed::<Vast>();
            assert!(array.is_err(), "an array of a type aligned to 8 MiB cannot be placed");
            let edges = [Edge::new(world.me(), 1, 1), Edge::new(world.me(), 0, 1)];
            assert!(world.halo::<Vast>(&edges).is_err(), "cells aligned to 8 MiB cannot be placed");
        }
    }

    fn epoch(&mut self, world: &World<Multiple>, streams: &[Stream]) {
        // Nobody writes to what another one is still comparing.
        world.barrier_all();
        let reads = self.model.clone().epoch(streams);
        let mine = || streams.iter().zip(&reads).filter(|(stream, _)| stream.pe == self.me);
        std::thread::scope(|scope| {
            for (stream, reads) in mine().skip(1) {
                let this = &*self;
                scope.spawn(move || this.stream(world, stream, reads));
            }
            if let Some((stream, reads)) = mine().next() {
                self.stream(world, stream, reads);
            }
        });
        if streams.iter().any(|stream| stream.token == Token::Leaked) {
            // Completes what nobody holds any more.
            world.reclaim();
        }
        world.barrier_all();
        self.model.epoch(streams);
        self.check(world);
        world.barrier_all();
    }

    /// What one thread does.
    fn stream(&self, world: &World<Multiple>, stream: &Stream, reads: &Reads) {
        let run = |token: &dyn Stores| {
            for (op, expected) in stream.ops.iter().zip(reads) {
                if self.model.allows_op(self.me, op) {
                    self.op(world, token, op, expected.as_deref());
                }
            }
            if stream.token != Token::Leaked {
                token.quiet();
            }
        };
        match stream.token {
            Token::World => run(world),
            // Where there is no unit left, the world will do.
            Token::Private => match world.create_ctx::<Private>() {
                Ok(context) => run(&context.bind(world)),
                Err(_) => run(world),
            },
            Token::Serialized => match world.create_ctx::<Serialized>() {
                Ok(context) => run(&context.bind(world)),
                Err(_) => run(world),
            },
            Token::Multiple => match world.create_ctx::<Multiple>() {
                Ok(context) => {
                    run(&context.bind(world));
                    context.destroy();
                }
                Err(_) => run(world),
            },
            Token::InTurn => match world.domains::<Serialized>(1) {
                Ok(mut domains) => match domains[0].create_ctx::<InTurn>() {
                    Ok(context) => run(&domains[0].turn(world).bind(&context)),
                    Err(_) => run(world),
                },
                Err(_) => run(world),
            },
            Token::Registered => match world.register_thread() {
                Ok(thread) => run(&thread.bind(world)),
                Err(_) => run(world),
            },
            Token::Leaked => match world.create_ctx::<Multiple>() {
                Ok(context) => {
                    run(&context.bind(world));
                    std::mem::forget(context);
                }
                Err(_) => {
                    run(world);
                    world.quiet();
                }
            },
        }
    }

    fn op(&self, world: &World<Multiple>, token: &dyn Stores, op: &Op, expected: Option<&[Cell]>) {
        let pe = |number: usize| world.pe(number).expect("a PE of the program");
        let found = match op {
            Op::Quiet => return token.quiet(),
            Op::Fence => return token.fence(),
            Op::Write { slot, pe: target, at, way, seed } => {
                let target = pe(if *way == Way::Here { self.me } else { *target });
                let unit = self.model.object(*slot).map_or(0, |object| object.element.bytes());
                let data = bytes(*seed, at.len() * unit);
                self.write(world, token, *slot, target, *at, *way, &data);
                return self.complete(token, *slot, *way);
            }
            Op::Read { slot, pe: target, at, way } => {
                let target = pe(if *way == Way::Here { self.me } else { *target });
                self.read(world, token, *slot, target, *at, *way)
            }
            Op::Copy { to, from, pe: target, elements, get } => {
                let numbers = |slot: Slot| match (self.items[slot].as_ref(), slot) {
                    (Some(Item::Numbers(object)), _) => Numbers::Boxed(object),
                    (_, 2) => Numbers::Quick,
                    _ => Numbers::Static,
                };
                let (far, near) =
                    if *get { (numbers(*from), numbers(*to)) } else { (numbers(*to), numbers(*from)) };
                let place = far.on(pe(*target)).index(..*elements);
                match *get {
                    true => near.own(token, *elements, |own| token.get_into(own, place)),
                    false => near.own(token, *elements, |own| token.put_from(place, own)),
                }
                return;
            }
            Op::Update { slot, pe: target, word, update } => {
                let word = match &self.items[*slot] {
                    Some(Item::Words(words)) => words.on(pe(*target)).index(*word),
                    _ => WORDS.on(pe(*target)).index(*word),
                };
                let before = match update {
                    Update::Add(n) => return token.add(word, *n),
                    Update::Xor(n) => return token.xor(word, *n),
                    Update::Set(n) => return token.set(word, *n),
                    Update::FetchAdd(n) => token.fetch_add(word, *n),
                    Update::Swap(n) => token.swap(word, *n),
                    Update::CompareSwap(expected, desired) => token.compare_swap(word, *expected, *desired),
                };
                before.to_le_bytes().to_vec()
            }
            Op::Beyond { slot, pe: target, past, get } => {
                let (target, len) = (pe(*target), self.model.object(*slot).map_or(0, |object| object.len));
                let at = Blocks { first: len, block: 1 + past, stride: 1 + past, count: 1 };
                let refused = panics(|| match get {
                    true => drop(self.read(world, token, *slot, target, at, Way::Typed)),
                    false => {
                        let unit = self.model.object(*slot).map_or(0, |object| object.element.bytes());
                        self.write(
                            world,
                            token,
                            *slot,
                            target,
                            at,
                            Way::Typed,
                            &vec![0xBB; (1 + past) * unit],
                        );
                    }
                });
                assert!(refused, "elements behind the end of an object are refused");
                return;
            }
        };
        if let Op::Read { slot, way, .. } = op {
            self.complete(token, *slot, *way);
        }
        if let Some(expected) = expected {
            compare(&found, expected, || format!("what PE {} reads by {op:?}", self.me));
        }
    }

    /// What has only one routine does not end in the quiet that the model expects of the way.
    fn complete(&self, token: &dyn Stores, slot: Slot, way: Way) {
        if matches!(self.items[slot], Some(Item::Multi(_) | Item::Block(_))) && model::quiets_itself(way) {
            token.quiet();
        }
    }

    #[expect(clippy::too_many_arguments, reason = "those of `read`, and what is written")]
    fn write(
        &self,
        world: &World<Multiple>,
        token: &dyn Stores,
        slot: Slot,
        pe: Pe,
        at: Blocks,
        way: Way,
        data: &[u8],
    ) {
        let Some(item) = &self.items[slot] else { return };
        flat!(item, slot, object => transfer::write(world, token, object, pe, at, way, data), _ => match item {
            Item::Multi(array) => {
                let numbers: Vec<u64> = items(data);
                for (block, numbers) in numbers.chunks(at.block.max(1)).enumerate() {
                    let first = at.first + block * at.stride;
                    token.put(array.on(pe).index(first..first + numbers.len()), numbers);
                }
            }
            Item::Block(block) if at.count <= 1 => token.putmem(address(world, *block).add(at.first), data, pe),
            Item::Block(block) => {
                let address = address(world, *block);
                token.iputmem(address.add(at.first), data, at.stride, at.block, at.block, at.count, pe);
            }
            _ => {}
        });
    }

    fn read(
        &self,
        world: &World<Multiple>,
        token: &dyn Stores,
        slot: Slot,
        pe: Pe,
        at: Blocks,
        way: Way,
    ) -> Vec<u8> {
        let Some(item) = &self.items[slot] else { return Vec::new() };
        flat!(item, slot, object => transfer::read(world, token, object, pe, at, way), _ => match item {
            Item::Multi(array) => {
                let mut numbers = vec![0_u64; at.len()];
                for (block, numbers) in numbers.chunks_mut(at.block.max(1)).enumerate() {
                    let first = at.first + block * at.stride;
                    token.get(numbers, array.on(pe).index(first..first + numbers.len()));
                }
                bytemuck::cast_slice(&numbers).to_vec()
            }
            Item::Block(block) => {
                let address = address(world, *block);
                let mut into = vec![0; at.len()];
                match at.count <= 1 {
                    true => token.getmem(&mut into, address.add(at.first), pe),
                    false => token.igetmem(&mut into, address.add(at.first), at.block, at.stride, at.block, at.count, pe),
                }
                into
            }
            _ => Vec::new(),
        })
    }

    /// Compares all of this PE that it holds.
    fn check(&self, world: &World<Multiple>) {
        let me = world.me();
        for slot in 0..model::OBJECTS {
            let Some(object) = self.model.object(slot).filter(|object| !object.is_bulk()) else { continue };
            if !object.held.has(self.me) || self.items[slot].is_none() {
                continue;
            }
            let what =
                || format!("object {slot} of PE {}, {:?} in {:?}", self.me, object.element, object.home);
            let found = match (&self.items[slot], object.element) {
                (Some(Item::Words(words)), _) => {
                    let words = (0..object.len).map(|word| world.fetch(words.on(me).index(word)));
                    words.flat_map(u64::to_le_bytes).collect()
                }
                (Some(Item::Static), Element::Word) => {
                    let words = (0..object.len).map(|word| world.fetch(WORDS.on(me).index(word)));
                    words.flat_map(u64::to_le_bytes).collect()
                }
                _ => {
                    let at = Blocks { first: 0, block: object.len, stride: object.len, count: 1 };
                    self.read(world, world, slot, me, at, Way::Typed)
                }
            };
            compare(&found, self.model.contents(slot, self.me), what);
        }
    }

    fn window(&mut self, world: &World<Multiple>, storms: &[Storm], steps: &[Step]) {
        world.barrier_all();
        self.model.storm(storms);
        let (mine, over) = (self.model.storms_of(self.me), AtomicBool::new(false));
        let blowing = Barrier::new(mine.len() + 1);
        let addresses = self.addresses.clone();
        std::thread::scope(|scope| {
            for storm in mine {
                let (over, blowing, address) = (&over, &blowing, addresses[storm.address]);
                scope.spawn(move || {
                    if let Some(address) = address {
                        blow(world, storm, address, || true);
                        blowing.wait();
                        blow(world, storm, address, || over.load(Ordering::Relaxed));
                    }
                });
            }
            let end = End(&over);
            // Whatever happens to the memory happens while they blow.
            blowing.wait();
            self.held(world, steps);
            // All storms of all PEs are over before anything is compared.
            drop(end);
        });
        world.quiet();
        world.barrier_all();
        self.model.calm();
        self.check(world);
        world.barrier_all();
    }

    fn messages(&mut self, world: &World<Multiple>, slot: Slot, len: usize, seed: u64) {
        world.barrier_all();
        let (pes, me) = (self.model.pes, self.me);
        let news: Vec<u64> =
            (0..pes).map(|from| world.signal_fetch(NEWS.on(world.me()).index(from))).collect();
        world.barrier_all();
        // Each PE has a part of each other one's object.
        let part = |from: usize| Blocks { first: from * len, block: len, stride: len, count: 1 };
        for to in 0..pes {
            let pe = world.pe(to).expect("a PE of the program");
            let data: Vec<u64> = items(&bytes(of(seed, me * 8 + to), len * 8));
            let signal = NEWS.on(pe).index(me);
            let range = part(me).first..part(me).end();
            match &self.items[slot] {
                Some(Item::Numbers(object)) => {
                    world.put_signal(object.on(pe).index(range), &data[..], signal, SignalOp::Add(1));
                }
                _ if slot == 2 => {
                    world.put_signal(QUICK.on(pe).index(range), &data[..], signal, SignalOp::Add(1));
                }
                _ => world.put_signal(NUMBERS.on(pe).index(range), &data[..], signal, SignalOp::Add(1)),
            }
        }
        for from in 0..pes {
            for to in 0..pes {
                self.model.overwrite(slot, to, from * len * 8, &bytes(of(seed, from * 8 + to), len * 8));
            }
        }
        for (from, before) in news.into_iter().enumerate() {
            NEWS.here(world).index(from).wait_until(ge(before + 1));
            let found = self.read(world, world, slot, world.me(), part(from), Way::Here);
            let cells = self.model.contents(slot, me);
            compare(&found, &cells[from * len * 8..(from + 1) * len * 8], || {
                format!("a message from PE {from}")
            });
        }
        world.barrier_all();
        self.check(world);
        world.barrier_all();
    }

    fn locked(&self, world: &World<Multiple>, threads: usize, times: u64) {
        let first = world.pe(0).expect("the first PE");
        let before = world.g(COUNTER.on(first));
        world.barrier_all();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..times {
                        let guard = world.lock(&LOCK);
                        world.p(COUNTER.on(first), world.g(COUNTER.on(first)) + 1);
                        drop(guard);
                    }
                });
            }
        });
        world.barrier_all();
        let all = before + (self.model.pes * threads) as u64 * times;
        assert_eq!(world.g(COUNTER.on(first)), all, "what a lock guards is changed by one at a time");
        world.barrier_all();
    }

    fn together(&self, world: &World<Multiple>, team: Option<Slot>, call: &Call) {
        let (team, members) = match team {
            None => (world.team(), (0..self.model.pes).collect::<Vec<_>>()),
            Some(slot) => {
                let members = self.model.teams[slot].as_ref().and_then(|teams| teams.of(self.me));
                match (&self.teams[slot], members) {
                    (Some(team), Some(members)) => (team, members.clone()),
                    _ => return,
                }
            }
        };
        assert_eq!(team.pes().iter().map(|pe| pe.number()).collect::<Vec<_>>(), members);
        make(world, team, &members, &self.room, call);
    }

    fn split(&mut self, world: &World<Multiple>, slot: Slot, parent: Option<Slot>, split: &Split) {
        let groups = self.model.groups_of(parent, split);
        let plain = TeamConfig::default();
        let made = match parent {
            Some(parent) if self.teams[parent].is_none() => Ok(None),
            _ => {
                let parent =
                    parent.map_or(world.team(), |parent| self.teams[parent].as_ref().unwrap_or(world.team()));
                match split {
                    Split::By(colours) => parent.split_by(world, colours[self.me], 0, &plain),
                    Split::Strided(start, stride, size) => {
                        parent.split_strided(world, *start, *stride, *size, &plain)
                    }
                }
            }
        };
        match made {
            Ok(team) => {
                let mine = groups.iter().find(|group| group.contains(&self.me));
                assert_eq!(team.is_some(), mine.is_some(), "{split:?}");
                if let (Some(team), Some(mine)) = (&team, mine) {
                    assert_eq!(team.pes().iter().map(|pe| pe.number()).collect::<Vec<_>>(), *mine);
                }
                self.teams[slot] = team;
            }
            Err(error) => assert!(groups.is_empty(), "{split:?}: {error}"),
        }
        // The groups of different parents may have come to different ends: none of them does here.
        if !groups.is_empty() {
            let held = Pes(groups.iter().flatten().fold(0, |held, pe| held | 1 << pe));
            self.model.teams[slot] = Some(model::Teams { groups, held });
        }
    }

    fn phase(&mut self, world: &mut World<Multiple>, objects: &[Slot], frozen: bool, seed: u64) {
        // An object of no bytes overlaps nothing, itself neither.
        let empty = |slot: Slot| self.model.object(slot).is_some_and(|object| object.bytes() == 0);
        let twice = objects.len() == 2 && objects[0] == objects[1] && !frozen && !empty(objects[0]);
        let (first, second) = (objects[0], objects.get(1).copied());
        let me = self.me;
        let slots: Vec<Slot> = objects.to_vec();
        let writes = |slot: Slot, i: usize| {
            let len = self.model.object(slot).map_or(0, model::Object::bytes);
            bytes(of(of(seed, i), me), len)
        };
        let news: Vec<Vec<u8>> = slots.iter().enumerate().map(|(i, slot)| writes(*slot, i)).collect();
        let model = &self.model;
        let body = |opened: &mut dyn Opened| {
            assert!(!twice, "an object was opened twice");
            visit(opened, model, me, &slots, (!frozen).then_some(&news[..]));
        };
        let items = &self.items;
        let mut run = || {
            let one = items[first].as_ref().expect("the model says that it is held");
            let two =
                second.map(|slot| (slot, items[slot].as_ref().expect("the model says that it is held")));
            open(world, (first, one), two, frozen, body);
        };
        if twice {
            assert!(panics(&mut run), "an object that is named twice is refused");
        } else {
            run();
            if !frozen {
                for pe in 0..self.model.pes {
                    for (i, slot) in slots.iter().enumerate() {
                        let len = self.model.object(*slot).map_or(0, model::Object::bytes);
                        self.model.overwrite(*slot, pe, 0, &bytes(of(of(seed, i), pe), len));
                    }
                }
            }
        }
        self.check(world);
        world.barrier_all();
    }

    fn team_phase(
        &mut self,
        world: &mut World<Multiple>,
        slot: Slot,
        frozen: bool,
        seed: u64,
        storms: &[Storm],
    ) {
        world.barrier_all();
        let Some(Home::Team(of_team)) = self.model.object(slot).map(|object| object.home) else { return };
        self.model.storm(storms);
        let len = self.model.object(slot).map_or(0, model::Object::bytes);
        let (me, model) = (self.me, &self.model);
        match (&self.teams[of_team], &self.items[slot]) {
            (Some(team), Some(item)) => {
                let news = [bytes(of(seed, me), len)];
                let slots = [slot];
                let body = |opened: &mut dyn Opened| {
                    visit(opened, model, me, &slots, (!frozen).then_some(&news[..]))
                };
                open_team(world, team, item, frozen, body);
            }
            _ => {
                // The others do what they can meanwhile.
                let world = &*world;
                for storm in model.storms_of(me) {
                    if let Some(address) = self.addresses[storm.address] {
                        let mut rounds = 0;
                        blow(world, storm, address, || {
                            rounds += 1;
                            rounds > 50
                        });
                    }
                }
                world.quiet();
            }
        }
        if !frozen {
            for pe in 0..self.model.pes {
                if self.model.object(slot).is_some_and(|object| object.held.has(pe)) {
                    self.model.overwrite(slot, pe, 0, &bytes(of(seed, pe), len));
                }
            }
        }
        world.barrier_all();
        self.model.calm();
        self.check(world);
        world.barrier_all();
    }

    fn exchange(&mut self, world: &World<Multiple>, slot: Slot, seed: u64, iter: bool, hold: &[Step]) {
        let mut halo = self.halos[slot].take().expect("the model says that it is held");
        let description = self.model.halos[slot].clone().expect("the model says that it is there");
        if description.abandoned {
            assert!(panics(|| halo.exchange(world, &[], iter, |_| ())), "an exchange was never finished");
        } else {
            let edges = &description.edges[self.me];
            let sent: Vec<Vec<u8>> =
                (0..edges.len()).map(|edge| self.model.cells(slot, seed, self.me, edge)).collect();
            let come: Vec<Vec<u8>> = edges
                .iter()
                .map(|edge| {
                    edge.map_or(Vec::new(), |(pe, opposite, _)| self.model.cells(slot, seed, pe, opposite))
                })
                .collect();
            halo.exchange(world, &sent, iter, |ghosts| {
                let check = |when: &str| {
                    for (edge, cells) in come.iter().enumerate() {
                        let cells: Vec<Cell> = cells.iter().map(|byte| (*byte).into()).collect();
                        compare(ghosts.cells(edge), &cells, || {
                            format!("the ghost cells of edge {edge} {when}")
                        });
                    }
                };
                check("when they have come");
                for edge in 0..come.len() {
                    let cells = ghosts.cells(edge);
                    // Nobody can name them.
                    if !cells.is_empty() {
                        assert!(world.address(cells.as_ptr()).is_err(), "ghost cells have an address");
                        assert!(world.address(&raw const cells[cells.len() - 1]).is_err());
                    }
                }
                self.held(world, hold);
                check("at the end");
            });
        }
        self.halos[slot] = Some(halo);
        world.barrier_all();
    }

    fn abandon(&mut self, world: &World<Multiple>, slot: Slot, seed: u64, forget: bool) {
        let mut halo = self.halos[slot].take().expect("the model says that it is held");
        let description = self.model.halos[slot].as_mut().expect("the model says that it is there");
        if !std::mem::replace(&mut description.abandoned, true) {
            let edges = description.edges[self.me].len();
            let sent: Vec<Vec<u8>> =
                (0..edges).map(|edge| self.model.cells(slot, seed, self.me, edge)).collect();
            halo.abandon(world, &sent, forget);
        }
        self.halos[slot] = Some(halo);
        // What was sent arrives somewhere; nobody looks at it.
        world.barrier_all();
    }
}

/// The address of a block, which is in use.
fn address(world: &World<Multiple>, block: usize) -> SymAddr {
    world.address(block as *const u8).expect("a block lies in a partition")
}

/// Ends storms, also where a step fails.
struct End<'o>(&'o AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Writes or reads at an address that may lead anywhere, until it is over, and once at least.
fn blow(world: &World<Multiple>, storm: Storm, address: usize, mut over: impl FnMut() -> bool) {
    let mut bytes = vec![0xEE; storm.bytes];
    let target = world.pe(storm.target).expect("a PE of the program");
    let pointer = address.wrapping_add_signed(storm.delta) as *const u8;
    for blown in 1_u32.. {
        // An address that is none any more is an error; one that leads out of its segment is a panic.
        if let Ok(address) = world.address(pointer) {
            panics(|| match storm.get {
                true => world.getmem(&mut bytes, address, target),
                false => world.putmem(address, &bytes, target),
            });
        }
        if over() {
            return;
        }
        // A network of a process keeps all that is under way, and a storm would fill it faster than it delivers.
        if blown.is_multiple_of(16) {
            world.quiet_pe(target);
        }
        std::thread::yield_now();
    }
}

/// Numbers in the own copy of a box or a static.
enum Numbers<'a> {
    Boxed(&'a SymBox<[u64]>),
    Static,
    Quick,
}

impl<'a> Numbers<'a> {
    fn on(&self, pe: Pe) -> On<'a, [u64]> {
        match self {
            Self::Boxed(object) => object.on(pe),
            Self::Static => NUMBERS.on(pe).index(..),
            Self::Quick => QUICK.on(pe).index(..),
        }
    }

    fn own(&self, token: &dyn Initiator, elements: usize, then: impl FnOnce(shmem::Here<'_, [u64]>)) {
        match self {
            Self::Boxed(object) => then(object.here(token).index(..elements)),
            Self::Static => then(NUMBERS.here(token).index(..elements)),
            Self::Quick => then(QUICK.here(token).index(..elements)),
        }
    }
}

/// Bytes that were found, and those that must be there.
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

/// Compares what a phase has opened with the model, writes to it, and sees whether anybody else does.
fn visit(opened: &mut dyn Opened, model: &Model, me: usize, slots: &[Slot], news: Option<&[Vec<u8>]>) {
    for (i, slot) in slots.iter().enumerate() {
        let object = model.object(*slot).expect("the model says that it is there");
        let what =
            || format!("object {slot} of PE {me} in a phase, {:?} in {:?}", object.element, object.home);
        compare(&opened.bytes(i), model.contents(*slot, me), what);
    }
    let before = match news {
        Some(news) => {
            news.iter().enumerate().for_each(|(i, news)| opened.set(i, news));
            news.to_vec()
        }
        None => (0..slots.len()).map(|i| opened.bytes(i)).collect(),
    };
    for _ in 0..20 {
        std::thread::yield_now();
        for (i, before) in before.iter().enumerate() {
            let now = opened.bytes(i);
            assert!(now == *before, "somebody else has written to object {} in a phase of PE {me}", slots[i]);
        }
    }
}

/// Opens one object or two.
fn open(
    world: &mut World<Multiple>,
    (slot, one): (Slot, &Item),
    two: Option<(Slot, &Item)>,
    frozen: bool,
    body: impl FnOnce(&mut dyn Opened),
) {
    fn alone<O: Objects>(
        world: &mut World<Multiple>,
        object: O,
        frozen: bool,
        body: impl FnOnce(&mut dyn Opened),
    ) where
        for<'x> O::Mut<'x>: Opened,
        for<'x> O::Ref<'x>: Opened,
    {
        match frozen {
            true => world.frozen(object, |mut opened| body(&mut opened)),
            false => world.local(object, |mut opened| body(&mut opened)),
        }
    }
    macro_rules! all {
        ($item:expr, $slot:expr, $object:ident => $then:expr) => {
            match ($item, $slot) {
                (Item::Static, 0) => {
                    let $object = &BYTES;
                    $then
                }
                (Item::Static, 1) => {
                    let $object = &NUMBERS;
                    $then
                }
                (Item::Static, _) => {
                    let $object = &QUICK;
                    $then
                }
                (Item::Bytes($object), _) => $then,
                (Item::Numbers($object), _) => $then,
                (Item::Threes($object), _) => $then,
                (Item::Lines($object), _) => $then,
                (Item::Pages($object), _) => $then,
                (Item::Single($object), _) => $then,
                (Item::Separate($object), _) => $then,
                (Item::Cyclic($object), _) => $then,
                (Item::Multi($object), _) => $then,
                _ => {}
            }
        };
    }
    macro_rules! beside {
        ($first:expr, $two:expr) => {
            match $two {
                (_, Item::Numbers(second)) => alone(world, ($first, second), frozen, body),
                (_, Item::Bytes(second)) => alone(world, ($first, second), frozen, body),
                (_, Item::Separate(second)) => alone(world, ($first, second), frozen, body),
                (1, Item::Static) => alone(world, ($first, &NUMBERS), frozen, body),
                _ => alone(world, ($first, &BYTES), frozen, body),
            }
        };
    }
    match two {
        None => all!(one, slot, first => alone(world, first, frozen, body)),
        Some(two) => all!(one, slot, first => beside!(first, two)),
    }
}

/// Opens an object of a team.
fn open_team(
    world: &mut World<Multiple>,
    team: &Team,
    item: &Item,
    frozen: bool,
    body: impl FnOnce(&mut dyn Opened),
) {
    macro_rules! opened {
        ($object:expr) => {
            match frozen {
                true => team.frozen(world, $object, |mut opened| body(&mut opened)),
                false => team.local(world, $object, |mut opened| body(&mut opened)),
            }
        };
    }
    match item {
        Item::TeamBytes(object) => opened!(object),
        Item::TeamNumbers(object) => opened!(object),
        Item::TeamThrees(object) => opened!(object),
        Item::TeamLines(object) => opened!(object),
        Item::TeamPages(object) => opened!(object),
        _ => {}
    }
}
