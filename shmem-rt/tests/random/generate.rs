//! Generates programs from numbers.

use shmem::array::StorageKind;

use super::model::Model;
use super::step::{
    ADDRESSES, Act, Edge, Element, End, HALOS, Home, OBJECTS, Op, PARTITIONS, Pes, Program, ProgramStep,
    STATICS, SlotNumber, Stray, Stream, TEAMS, Token, Way,
};
use crate::dice::Dice;
use crate::together::{ALL, Call, MOST};

const STEPS: usize = 45;

pub(crate) fn program(seed: u64, pes: usize) -> Program {
    let dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ pes as u64);
    let mut draw = Draw { dice, model: Model::new(pes), pes };
    // Skips numbers, because the first ones of this generator are similar for similar seeds.
    for _ in 0..8 {
        draw.below(2);
    }
    let mut steps = Vec::new();
    while steps.len() < STEPS {
        let step = draw.step();
        steps.extend(draw.taken(step, false));
    }
    steps
}

struct Draw {
    dice: Dice,
    /// The model's state before the next step.
    model: Model,
    pes: usize,
}

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.dice.below(n)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn seed(&mut self) -> u64 {
        self.dice.below(1 << 30)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Draws a set of PEs, mostly all.
    fn some(&mut self) -> Pes {
        let all = Pes::all(self.pes);
        if self.one_in(2) { all } else { Pes(1 + self.below(all.0 as usize) as u32) }
    }

    fn team(&mut self) -> SlotNumber {
        self.below(TEAMS.len()) + TEAMS.start
    }

    fn halo_slot(&mut self) -> SlotNumber {
        self.below(HALOS.len()) + HALOS.start
    }

    /// Draws a slot of an object. The slot is seldom empty.
    fn object(&mut self) -> SlotNumber {
        let slot = self.below(OBJECTS.end);
        if self.model.thing(slot).is_some() || self.one_in(4) { slot } else { self.below(OBJECTS.end) }
    }

    /// Carries out a step on the model, if the model allows the step.
    fn taken(&mut self, step: ProgramStep, shared: bool) -> Option<ProgramStep> {
        self.model.allows(&step, shared).then(|| {
            self.model.apply(&step);
            step
        })
    }

    fn step(&mut self) -> ProgramStep {
        match self.below(30) {
            0..=4 => self.alloc(),
            5..=8 => ProgramStep::Epoch { streams: self.streams() },
            9..=10 => {
                let (strays, count) = (self.strays(), 3 + self.below(6));
                ProgramStep::Beside { strays, steps: self.inner(count, true) }
            }
            11..=14 => self.phase(),
            15..=16 => self.exchange(),
            17 => self.halo(),
            18 => self.split(),
            19 if self.one_in(2) => ProgramStep::DropPartition { slot: self.below(PARTITIONS) },
            19 => {
                ProgramStep::Partition { slot: self.below(PARTITIONS), bytes: 1 + self.below(1 << 18) as u64 }
            }
            20 => ProgramStep::Drop { slot: self.halo_slot(), pes: self.some(), forget: self.one_in(6) },
            21 => ProgramStep::Drop { slot: self.team(), pes: self.some(), forget: false },
            _ => self.inner_step(),
        }
    }

    fn inner_step(&mut self) -> ProgramStep {
        match self.below(12) {
            0..=1 => self.alloc(),
            2..=4 => ProgramStep::Drop { slot: self.object(), pes: self.some(), forget: self.one_in(12) },
            5 => ProgramStep::Free { slot: self.object() },
            6..=7 => ProgramStep::Reclaim,
            8..=9 => {
                let byte = if self.one_in(2) { 0 } else { self.below(64) };
                ProgramStep::Keep { slot: self.object(), address: self.below(ADDRESSES), byte }
            }
            10 => ProgramStep::Epoch { streams: self.streams() },
            _ => {
                let team = if self.one_in(2) { None } else { Some(self.team()) };
                let most = if self.one_in(8) { MOST } else { 200 };
                ProgramStep::Together { team, call: Call::draw(&mut self.dice, ALL, most) }
            }
        }
    }

    fn inner(&mut self, count: usize, exchanges: bool) -> Vec<ProgramStep> {
        let (before, mut steps) = (self.model.clone(), Vec::new());
        for _ in 0..count * 4 {
            let step = match self.below(8) {
                0 if exchanges => self.exchange(),
                1 if exchanges => self.halo(),
                _ => self.inner_step(),
            };
            if steps.len() < count {
                steps.extend(self.taken(step, true));
            }
        }
        self.model = before;
        steps
    }

    fn alloc(&mut self) -> ProgramStep {
        let free = (STATICS.len()..OBJECTS.end).find(|slot| self.model.thing(*slot).is_none());
        let slot = free.unwrap_or(STATICS.len() + self.below(OBJECTS.end - STATICS.len()));
        let home = match self.below(9) {
            0..=2 => Home::Heap(None),
            3 => Home::Heap(Some(self.below(PARTITIONS))),
            4..=5 => Home::Array(self.of(&StorageKind::ALL), 1 + self.below(4)),
            _ => Home::Team(self.team()),
        };
        let element = match self.below(7) {
            0 => Element::Byte,
            1..=2 => Element::Number,
            3 => Element::Three,
            4 => Element::Page,
            _ if matches!(home, Home::Array(..)) => Element::Number,
            _ => Element::Word,
        };
        let len = match (element, home) {
            (Element::Page, _) => self.below(6),
            // The contents of large arrays are not modelled, and copying them takes long.
            (_, Home::Array(..)) if self.one_in(4) => (1 << 14) << self.below(8),
            _ if self.one_in(10) => self.below(2),
            _ => self.below(200),
        };
        ProgramStep::Alloc { slot, home, element, len, seed: self.seed() }
    }

    fn streams(&mut self) -> Vec<Stream> {
        let mut streams = Vec::new();
        for pe in 0..self.pes {
            let threads = if self.one_in(3) { 1 + self.below(3) } else { 1 };
            for thread in 0..threads {
                let token = if thread == 0 && self.one_in(2) { Token::World } else { self.of(Token::ALL) };
                let count = self.below(7);
                streams.push(Stream { pe, token, ops: (0..count).map(|_| self.op(pe)).collect() });
            }
        }
        streams
    }

    fn op(&mut self, me: usize) -> Op {
        let (slot, pe) = (self.object(), if self.one_in(3) { me } else { self.below(self.pes) });
        let (element, len) = self.model.thing(slot).map_or((Element::Byte, 0), |it| (it.element, it.len));
        let (at, way) = (self.dice.range(len.min(4096)), self.of(Way::ALL));
        let act = match self.below(12) {
            0..=9 if element == Element::Word => {
                Act::Add(self.below(len.max(1)), self.seed(), self.one_in(3))
            }
            0..=4 => Act::Write(at, way, self.seed()),
            5..=7 => Act::Read(at, way),
            8 => Act::PutFrom(self.object(), self.below(20)),
            9 => Act::GetInto(self.object(), self.below(20)),
            10 => Act::Fence,
            _ => Act::Quiet,
        };
        Op { slot, pe, act }
    }

    fn strays(&mut self) -> Vec<Stray> {
        let kept: Vec<SlotNumber> =
            (0..ADDRESSES).filter(|slot| self.model.addresses[*slot].is_some()).collect();
        let count = if kept.is_empty() { 0 } else { 1 + self.below(4) };
        let strays = (0..count).map(|_| {
            let bytes = match self.below(6) {
                0 => 0,
                1 => 1 << 20,
                2 => 1 << 17,
                3 => 1 << 13,
                _ => 1 + self.below(600),
            };
            let delta = match self.below(5) {
                0 => self.below(1 << 22) as isize - (1 << 21),
                1 => self.below(1 << 14) as isize - (1 << 13),
                _ => 0,
            };
            let (pe, target, get) = (self.below(self.pes), self.below(self.pes), self.one_in(4));
            Stray { pe, address: self.of(&kept), delta, bytes, target, get }
        });
        strays.collect()
    }

    fn phase(&mut self) -> ProgramStep {
        let fits = OBJECTS.filter(|slot| self.model.may_open(*slot));
        let is_of_teams =
            |slot: &SlotNumber| self.model.thing(*slot).is_some_and(|thing| thing.home.team().is_some());
        let (of_teams, others): (Vec<SlotNumber>, Vec<SlotNumber>) = fits.partition(is_of_teams);
        // If there are objects of teams, half of the drawn objects are such.
        let (slot, strays) = match of_teams.is_empty() || self.one_in(2) {
            true => (self.of(&others), Vec::new()),
            false => (self.of(&of_teams), self.strays()),
        };
        let mut around = [0, 1].map(|_| if self.one_in(2) { self.streams() } else { Vec::new() });
        if of_teams.contains(&slot) {
            // Nothing orders the accesses of PEs outside the team after those of its members.
            around[1].clear();
        }
        ProgramStep::Phase { slot, frozen: self.one_in(3), seed: self.seed(), strays, around }
    }

    fn split(&mut self) -> ProgramStep {
        let (slot, parent) = (self.team(), if self.one_in(3) { Some(self.team()) } else { None });
        let colour = |colour: usize| colour.checked_sub(1).map(|colour| colour as u64);
        let wishes = (0..self.pes).map(|_| (colour(self.below(4)), self.below(5) as i64 - 2));
        ProgramStep::Split { slot, parent, wishes: wishes.collect() }
    }

    fn halo(&mut self) -> ProgramStep {
        let slot = HALOS.clone().find(|slot| self.model.thing(*slot).is_none()).unwrap_or(HALOS.start);
        let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); self.pes];
        for _ in 0..1 + self.below(2 * self.pes) {
            let (a, b) = (self.below(self.pes), self.below(self.pes));
            let (there, back) = (self.below(40), self.below(40));
            if self.one_in(6) {
                edges[a].push(None);
            }
            let first = edges[a].len();
            let second = if a == b { first + 1 } else { edges[b].len() };
            edges[a].push(Some((b, second, there)));
            edges[b].push(Some((a, first, back)));
        }
        let element = self.of(&[Element::Byte, Element::Number, Element::Three]);
        ProgramStep::Halo { slot, element, edges }
    }

    fn exchange(&mut self) -> ProgramStep {
        let count = self.below(4);
        let end = match self.below(16) {
            0 => End::Forgotten,
            1 => End::Unwound,
            _ => End::Finished(self.inner(count, false)),
        };
        ProgramStep::Exchange { slot: self.halo_slot(), seed: self.seed(), end }
    }
}
